import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { build, capture, compile, ensureInstalled, root, runTool } from '../lib/setup.mjs';

/** The checks keep the cores busy: each thread of a compiler works out again what the others know. */
const alone = ['--singleThreaded'];

/** Runs every check, also after one has failed, and says for each what to fix. */
export async function run() {
  await ensureInstalled();
  const checks = [
    // The examples are checked against the built package, as its users see it.
    ['build', () => build(alone), 'mend the types'],
    [
      'format and lint',
      () => runTool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']),
      'npm run format mends most of it',
    ],
    [
      'dead code',
      () => runTool('knip/bin/knip.js', ['--no-progress']),
      'remove it, or name it in knip.json if it is an entry',
    ],
    [
      'import directions',
      () => capture(process.execPath, ['scripts/check-imports.mjs']),
      'see docs/architecture.md',
    ],
    [
      'casts',
      () => capture(process.execPath, ['scripts/check-casts.mjs']),
      'remove the cast, or say in a comment why it is safe',
    ],
    [
      'types of the client are those of the service',
      async ([built]) => {
        await built;
        return capture(process.execPath, ['scripts/client-types.mjs', '--check']);
      },
      'npm run build, npm run client-types, and commit what it writes',
    ],
    ...projects().map((project) => [
      `types of ${project}`,
      async ([built]) => {
        await built;
        return compile(['-p', `${project}/tsconfig.json`, ...alone]);
      },
      'mend the types',
    ]),
  ];
  const outcomes = startAll(checks.map(([, work]) => work));
  for (const [at, [name, , hint]] of checks.entries()) report(name, await outcomes[at], hint);
}

/** As many at once as there are cores. Each receives what becomes of those before it. */
function startAll(works) {
  const outcomes = works.map(() => {
    let resolve;
    const outcome = new Promise((done) => {
      resolve = done;
    });
    return { outcome, resolve };
  });
  const all = outcomes.map(({ outcome }) => outcome);
  let next = 0;
  const workOff = async () => {
    while (next < works.length) {
      const at = next;
      next += 1;
      outcomes[at].resolve(await works[at](all));
    }
  };
  for (let core = 0; core < availableParallelism(); core += 1) void workOff();
  return all;
}

function report(name, { code, output }, hint) {
  if (code === 0) {
    console.log(`ok      ${name}`);
    return;
  }
  process.exitCode = 1;
  const lines = output.split('\n').filter((line) => !line.startsWith('TSFILE'));
  console.log(`FAILED  ${name} (${hint})\n${lines.join('\n').trimEnd()}`);
}

/** The largest first, so that no core is idle at the end. */
function projects() {
  const folders = ['packages', 'examples'].flatMap((parent) =>
    readdirSync(root + parent).map((name) => `${parent}/${name}`),
  );
  const all = new Set(['packages/runyard', ...folders, 'bench', '.']);
  return [...all].filter((folder) => existsSync(`${root}${folder}/tsconfig.json`));
}
