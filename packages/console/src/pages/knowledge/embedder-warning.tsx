import type { KnowledgeConfig } from '@runyard/client';
import { formatCount } from '../../ui/format/numbers.js';

/** Vectors of another embedder cannot be compared: a person must know why documents are not found. */
export function EmbedderWarning({ config: { embedder } }: { readonly config: KnowledgeConfig }) {
  if (embedder.changed.length === 0) return null;
  const contents = embedder.changed.reduce((sum, { contents: count }) => sum + count, 0);
  const earlier = embedder.changed.map(({ embedder: name }) => name).join(', ');
  return (
    <p role="status" className="mb-4 rounded-lg bg-warning-soft px-4 py-2 text-warning">
      {formatCount(contents)} {contents === 1 ? 'document was' : 'documents were'} embedded with {earlier},
      and searches use {embedder.name}. Vectors cannot find them until <code>runyard knowledge reembed</code>{' '}
      has run.
    </p>
  );
}
