import type { Content, RunyardClient, UploadContentBody } from '@runyard/client';
import { useSyncExternalStore } from 'react';
import { queryClient } from '../../data/query-client.js';
import { inBase } from './bases.js';

/** How contents are described and indexed. */
export type IndexOptions = Omit<UploadContentBody, 'file' | 'text_content' | 'url'>;

/** A file on its way to the service. */
export interface Upload {
  readonly id: number;
  readonly baseId: string | undefined;
  readonly file: File;
  readonly state: 'waiting' | 'sending' | 'failed';
  /** 0 to 100. */
  readonly percent: number;
  readonly error: unknown;
}

interface Queued extends Upload {
  readonly client: RunyardClient;
  readonly options: IndexOptions;
}

/** Few at a time: a browser has six connections to a host, and the pages need some of them. */
const mostAtOnce = 2;
let queue: readonly Queued[] = [];
let last = 0;
const stopping = new Map<number, AbortController>();
const listeners = new Set<() => void>();
/** What was sent in this tab, by the id of the content: a failed one can be sent again. */
const sent = new Map<string, { readonly file: File; readonly options: IndexOptions }>();

/** Sends files one after the other. They continue while other pages are open. */
export function uploadFiles(
  client: RunyardClient,
  baseId: string | undefined,
  files: readonly File[],
  options: IndexOptions = {},
): void {
  const added = files.map((file): Queued => {
    last += 1;
    return { id: last, baseId, file, client, options, state: 'waiting', percent: 0, error: undefined };
  });
  change([...queue, ...added]);
  next();
}

export function useUploads(baseId: string | undefined): readonly Upload[] {
  const all = useSyncExternalStore(subscribe, () => queue);
  return all.filter((upload) => upload.baseId === baseId);
}

export function retryUpload(id: number): void {
  update(id, { state: 'waiting', error: undefined, percent: 0 });
  next();
}

/** Stops an upload, or removes one that failed. */
export function dropUpload(id: number): void {
  stopping.get(id)?.abort();
  change(queue.filter((upload) => upload.id !== id));
  next();
}

/** The file that a content was made of, if this tab sent it. */
export function sentFile(
  contentId: string,
): { readonly file: File; readonly options: IndexOptions } | undefined {
  return sent.get(contentId);
}

function next(): void {
  const sending = queue.filter(({ state }) => state === 'sending').length;
  for (const upload of queue.filter(({ state }) => state === 'waiting').slice(0, mostAtOnce - sending))
    void send(upload);
}

async function send({ id, client, baseId, file, options }: Queued): Promise<void> {
  const controller = new AbortController();
  stopping.set(id, controller);
  update(id, { state: 'sending' });
  try {
    const content: Content = await client.knowledge.uploadContent(
      { ...options, file: [file] },
      {
        query: inBase(baseId),
        signal: controller.signal,
        onUploadProgress: ({ loaded, total }) =>
          update(id, { percent: total > 0 ? (100 * loaded) / total : 0 }),
      },
    );
    sent.set(content.id, { file, options });
    change(queue.filter((upload) => upload.id !== id));
    await queryClient.invalidateQueries({ queryKey: ['contents'] });
  } catch (error) {
    update(id, { state: 'failed', error });
  } finally {
    stopping.delete(id);
    next();
  }
}

function update(id: number, changed: Partial<Upload>): void {
  change(queue.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload)));
}

function change(to: readonly Queued[]): void {
  queue = to;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
