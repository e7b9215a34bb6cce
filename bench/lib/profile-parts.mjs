/** Which part of a run the code of a file belongs to; the first pattern that fits counts. */
const partsOfFiles = [
  [/internal\/deps\/undici|^wasm:|core\/models\//, 'model call'],
  [/zod|ajv|platform\/http\/request\/validation|capabilities\/[\w-]+\/schema/, 'validation'],
  [/platform\/http\/response|capabilities\/runs\/bodies|platform\/http\/streams/, 'answer'],
  [
    /core\/runs\/(journal|events)\/|capabilities\/[\w-]+\/([\w-]+\/)*([\w-]*-)?store|capabilities\/runs\/storage|platform\/storage/,
    'journal and the way to storage',
  ],
  [/core\//, 'heart'],
  [/node_modules\/pg/, 'journal and the way to storage'],
  [
    /platform\/|capabilities\/|interfaces\/|fastify|find-my-way|node:_http_(server|incoming|common)/,
    'HTTP in',
  ],
];

/** The parts in the order of a run, as the table has them. */
export const parts = [
  'HTTP in',
  'validation',
  'heart',
  'journal and the way to storage',
  'model call',
  'answer',
  'sockets and events of Node',
  'garbage collection',
  'storage thread',
];

/**
 * Shares of the parts in a CPU profile, in samples. What has no part of its own, such as `JSON.parse` or a write to a
 * socket, counts for the code that called it. Waiting does not count.
 */
export function samplesByPart({ nodes, samples }) {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const known = new Map();
  const partOfNode = (id) => {
    if (id === undefined) return 'sockets and events of Node';
    if (!known.has(id)) {
      const { callFrame } = byId.get(id);
      const own = callFrame.functionName === '(garbage collector)' ? 'garbage collection' : partOf(callFrame);
      known.set(id, own ?? partOfNode(parents.get(id)));
    }
    return known.get(id);
  };
  const counts = Object.fromEntries(parts.map((part) => [part, 0]));
  for (const id of samples) {
    if (byId.get(id).callFrame.functionName !== '(idle)') counts[partOfNode(id)] += 1;
  }
  return counts;
}

/** Node's own files without a part of their own count for the code that called them. */
function partOf({ url }) {
  return partsOfFiles.find(([pattern]) => pattern.test(url))?.[1];
}

/** What a profile of another thread has besides waiting. */
export function busySamples({ nodes, samples }) {
  const idle = nodes.find(({ callFrame }) => callFrame.functionName === '(idle)')?.id;
  return samples.filter((id) => id !== idle).length;
}
