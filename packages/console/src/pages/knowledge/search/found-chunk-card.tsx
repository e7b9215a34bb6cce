import type { FoundChunk } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { Badge } from '../../../ui/badge.js';
import { Button } from '../../../ui/button.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { Link } from '../../../ui/link.js';
import { ErrorLine, Skeleton } from '../../../ui/states.js';
import { marked } from './marked.js';
import { neighboursOf, placeOf, scoresOf } from './neighbours.js';

const linesShown = 'line-clamp-6';

export interface FoundChunkCardProps {
  readonly rank: number;
  readonly chunk: FoundChunk;
  readonly words: readonly string[];
  readonly baseId: string | undefined;
  /** Whether the name leads to the content. */
  readonly linked: boolean;
}

/** A chunk that a search found: how well it fits, and where it stands. */
export function FoundChunkCard({ rank, chunk, words, baseId, linked }: FoundChunkCardProps) {
  const [open, setOpen] = useState(false);
  const scores = scoresOf(chunk);
  const name = chunk.name ?? chunk.content_id ?? chunk.id;
  return (
    <article aria-label={`${rank}. ${name}`} className="rounded-lg border border-line bg-surface">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-2">
        <span className="text-xs text-muted">{rank}</span>
        <p className="min-w-0 truncate font-medium">
          {linked && chunk.content_id ? (
            <Link
              to="/knowledge/$contentId"
              params={{ contentId: chunk.content_id }}
              search={{ base: baseId }}
            >
              {name}
            </Link>
          ) : (
            name
          )}
        </p>
        <span className="text-xs text-muted">{placeOf(chunk)}</span>
        <span className="ml-auto flex flex-wrap gap-1">
          {scores.map(([label, score]) => (
            <Badge key={label} tone="accent">
              {label} {score.toFixed(3)}
            </Badge>
          ))}
        </span>
      </header>
      <div className="px-3 py-2">
        {open ? (
          <InPlace chunk={chunk} words={words} baseId={baseId} />
        ) : (
          <Text className={linesShown}>{marked(chunk.content, words)}</Text>
        )}
        <div className="flex flex-wrap gap-2 pt-2">
          <Button size="small" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Only the chunk' : 'In its place'}
          </Button>
        </div>
      </div>
    </article>
  );
}

function Text({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  return (
    <p className={`whitespace-pre-wrap leading-relaxed [overflow-wrap:anywhere] ${className ?? ''}`}>
      {children}
    </p>
  );
}

/** The chunk between those before and after it, with all of its metadata. */
function InPlace({ chunk, words, baseId }: Omit<FoundChunkCardProps, 'rank' | 'linked'>) {
  const { client, address } = useConnection();
  const around = useQuery({
    queryKey: ['knowledge-neighbours', address, baseId, chunk.id],
    queryFn: ({ signal }) => neighboursOf(client, baseId, chunk, signal),
  });
  return (
    <div className="flex flex-col gap-2">
      {around.isPending && <Skeleton className="h-10" />}
      {around.error && <ErrorLine error={around.error} />}
      {around.data?.before && <Neighbour label="Before">{around.data.before}</Neighbour>}
      <div className="border-l-2 border-accent-text pl-3">
        <Text>{marked(chunk.content, words)}</Text>
      </div>
      {around.data?.after && <Neighbour label="After">{around.data.after}</Neighbour>}
      {around.data && !around.data.before && !around.data.after && (
        <p className="text-xs text-muted">
          The document consists of this chunk, or its chunks have no numbers.
        </p>
      )}
      <details>
        <summary className="text-xs font-medium text-accent-text">Metadata</summary>
        <div className="pt-2">
          <JsonView value={chunk.meta_data} />
        </div>
      </details>
    </div>
  );
}

function Neighbour({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <section aria-label={`${label} the chunk`} className="border-l-2 border-line pl-3 text-muted">
      <Text>{children}</Text>
    </section>
  );
}
