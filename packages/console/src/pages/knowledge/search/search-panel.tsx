import type { FoundChunk } from '@runyard/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { useSearchState } from '../../../data/search-state.js';
import { Button } from '../../../ui/button.js';
import { formatCount, formatDuration } from '../../../ui/format/numbers.js';
import { Field } from '../../../ui/forms/field.js';
import { Input, Select } from '../../../ui/forms/inputs.js';
import { jsonFault, parseJson } from '../../../ui/forms/json-text.js';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/states.js';
import { inBase } from '../bases.js';
import { FilterField } from './filter-field.js';
import { FoundChunkCard } from './found-chunk-card.js';

type SearchType = 'vector' | 'keyword' | 'hybrid';

/** The most that the service returns. A search in one document looks among them, since documents are no filter. */
const mostResults = 1_000;

const types = [
  { value: '', label: 'As agents do' },
  { value: 'hybrid', label: 'Hybrid' },
  { value: 'vector', label: 'Vectors' },
  { value: 'keyword', label: 'Keywords' },
];

export interface SearchPanelProps {
  readonly baseId: string | undefined;
  /** Only chunks of this content. */
  readonly contentId?: string | undefined;
}

/** A search with its results. Query, type and filters are in the address, so that a search can be sent to others. */
export function SearchPanel({ baseId, contentId }: SearchPanelProps) {
  const { client, address } = useConnection();
  const [given, change] = useSearchState();
  const [query, setQuery] = useState(given.q ?? '');
  const [filters, setFilters] = useState(given.filters ?? '');
  const limit = Math.min(mostResults, Math.max(1, Number(given.max) || 10));
  const asked = { q: given.q ?? '', type: given.type ?? '', filters: given.filters ?? '', limit };
  const found = useQuery({
    queryKey: ['knowledge-search', address, baseId, contentId, asked],
    enabled: asked.q.trim() !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const most = contentId === undefined ? limit : mostResults;
      // the field refuses other JSON, and so does the service
      const parsed = parseJson(asked.filters) as Record<string, unknown> | unknown[] | undefined;
      const { data, meta } = await client.knowledge.search(
        {
          query: asked.q,
          ...inBase(baseId),
          // as above
          ...(asked.type && { search_type: asked.type as SearchType }),
          ...(parsed !== undefined && { filters: parsed }),
          max_results: most,
          meta: { page: 1, limit: most },
        },
        { signal },
      );
      const chunks =
        contentId === undefined ? data : data.filter(({ content_id }) => content_id === contentId);
      return { chunks: chunks.slice(0, limit), ms: meta.search_time_ms, words: wordsIn(asked.q) };
    },
  });
  const fault = jsonFault(filters);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change({ q: query, filters: filters.trim() || undefined });
    if (query === asked.q && filters === asked.filters) void found.refetch();
  };
  return (
    <div className="flex flex-col gap-4">
      <form aria-label="Search" className="flex flex-col gap-3" onSubmit={submit}>
        <div className="flex flex-wrap items-end gap-2">
          <div className="min-w-48 flex-1">
            <Field label="Query">
              <Input
                type="search"
                placeholder="What would an agent ask?"
                value={query}
                onChange={(event) => setQuery(event.target.value)}
              />
            </Field>
          </div>
          <div className="w-44">
            <Field label="Search by">
              <Select
                value={asked.type}
                options={types}
                onChange={(event) => change({ type: event.target.value || undefined })}
              />
            </Field>
          </div>
          <div className="w-20">
            <Field label="Results">
              <Input
                type="number"
                min={1}
                max={mostResults}
                value={limit}
                onChange={(event) => change({ max: event.target.value })}
              />
            </Field>
          </div>
          <Button
            type="submit"
            variant="primary"
            busy={found.isFetching}
            disabled={query.trim() === '' || fault !== undefined}
          >
            Search
          </Button>
        </div>
        <FilterField baseId={baseId} value={filters} fault={fault} onChange={setFilters} />
      </form>
      <Results found={found} asked={asked.q} baseId={baseId} linked={contentId === undefined} />
    </div>
  );
}

interface Found {
  readonly data?:
    | { readonly chunks: readonly FoundChunk[]; readonly ms: number; readonly words: readonly string[] }
    | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  refetch(): unknown;
}

function Results({
  found: { data, error, isPending, refetch },
  asked,
  baseId,
  linked,
}: {
  readonly found: Found;
  readonly asked: string;
  readonly baseId: string | undefined;
  readonly linked: boolean;
}) {
  if (asked.trim() === '') return null;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isPending || data === undefined) return <Skeleton className="h-32" />;
  if (data.chunks.length === 0)
    return (
      <EmptyState title="Nothing found">
        Try other words, another way of searching, or fewer filters.
      </EmptyState>
    );
  return (
    <section aria-label="Results" className="flex flex-col gap-3">
      <p className="text-xs text-muted">
        {formatCount(data.chunks.length)} {data.chunks.length === 1 ? 'chunk' : 'chunks'} in{' '}
        {formatDuration(data.ms)}
      </p>
      <ol className="flex flex-col gap-3">
        {data.chunks.map((chunk, at) => (
          <li key={chunk.id}>
            <FoundChunkCard rank={at + 1} chunk={chunk} words={data.words} baseId={baseId} linked={linked} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function wordsIn(query: string): readonly string[] {
  return query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2);
}
