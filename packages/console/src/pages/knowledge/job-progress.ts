import type { JobEvent } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { formatCount } from '../../ui/format/numbers.js';
import { inBase } from './bases.js';

/** How far the processing of a content is. */
export interface JobState {
  /** 0 to 100; undefined while the job does not know how much there is. */
  readonly percent: number | undefined;
  readonly message: string;
}

/** Followed at once: each is a connection, of which a browser has six to a host. */
const mostFollowed = 3;

/** Follows the processing of contents, and loads what has ended again. The others are seen by loading the list. */
export function useJobProgress(
  baseId: string | undefined,
  processing: readonly string[],
): Readonly<Record<string, JobState>> {
  const { client } = useConnection();
  const queries = useQueryClient();
  const [states, setStates] = useState<Readonly<Record<string, JobState>>>({});
  const followed = processing.slice(0, mostFollowed).join('\n');
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const follow = async (id: string) => {
      for await (const event of client.knowledge.followContentEvents(id, inBase(baseId), { signal })) {
        const state = stateOf(event);
        if (state) setStates((before) => ({ ...before, [id]: state }));
      }
      await queries.invalidateQueries({ queryKey: ['contents'] });
      await queries.invalidateQueries({ queryKey: ['content'] });
    };
    // what cannot be followed is still seen when the list is loaded again
    for (const id of followed.split('\n').filter(Boolean)) follow(id).catch(() => undefined);
    return () => controller.abort();
  }, [client, queries, baseId, followed]);
  return states;
}

function stateOf(event: JobEvent): JobState | undefined {
  if (event.event !== 'JobProgress') return undefined;
  const { done, total, percent, message, data } = event;
  const chunks = data?.chunks;
  const parts = `${message}: ${formatCount(done)}${total === null ? '' : ` of ${formatCount(total)}`}`;
  return {
    percent: percent ?? undefined,
    message: typeof chunks === 'number' ? `${parts} · ${formatCount(chunks)} chunks` : parts,
  };
}
