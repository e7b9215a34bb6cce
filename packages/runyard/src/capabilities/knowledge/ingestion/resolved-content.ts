import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { SourceFile } from '../../../core/knowledge/sources/source.js';
import type { BaseInDatabase } from '../base-in-database.js';
import type { RequestedFrom, StoredContent } from '../contents/content.js';
import { contentIdOf } from '../contents/content-id.js';
import type { ContentToStore } from '../contents/rows-store.js';
import type { FoundPart } from './parts.js';

/** What a request leads to: one content, or many of which each is a content of its own. */
export type ResolvedContent =
  | (ContentOrigin & {
      readonly kind: 'single';
      readonly provenance?: JsonObject;
      readonly size?: number | undefined;
    })
  | { readonly kind: 'folder'; readonly children: AsyncIterable<FoundChild> };

/** What a content is read from: parts that can be had again, or an address whose pages are fetched one by one. */
export type ContentOrigin = { parts(): AsyncIterable<FoundPart> } | { readonly url: string };

export type FoundChild = ContentOrigin & {
  readonly content: ContentToStore;
  readonly size?: number | undefined;
};

export async function resolvedContent(
  base: BaseInDatabase,
  content: StoredContent,
  signal: AbortSignal,
): Promise<ResolvedContent> {
  const { from } = content.request;
  switch (from.kind) {
    case 'upload':
      return { kind: 'single', parts: () => uploadedPart(base, from, content.size) };
    case 'url':
      return { kind: 'single', url: from.url };
    case 'urls':
      return { kind: 'folder', children: urlChildren(content, from.urls) };
    case 'source':
      return foundInSource(base, content, from, signal);
  }
}

async function* uploadedPart(
  { parts: { uploads } }: BaseInDatabase,
  { uploadId, filename, mediaType }: Extract<RequestedFrom, { kind: 'upload' }>,
  size: number,
): AsyncIterable<FoundPart> {
  yield { content: { name: filename, mediaType, size, open: () => uploads.open({ uploadId, size }) } };
}

async function* urlChildren(parent: StoredContent, urls: readonly string[]): AsyncIterable<FoundChild> {
  for (const url of urls) {
    const content = childOf(parent, {
      name: url,
      type: 'url',
      origin: url,
      from: { kind: 'url', url },
      provenance: { source_type: 'url', source_url: url },
    });
    yield { content, url };
  }
}

/** One file is the content itself; several are contents of their own, and so is the last one that is left of them. */
async function foundInSource(
  base: BaseInDatabase,
  content: StoredContent,
  { source: id, path, parameters }: Extract<RequestedFrom, { kind: 'source' }>,
  signal: AbortSignal,
): Promise<ResolvedContent> {
  const source = base.source(id);
  if (source === undefined) throw errors.unknownSource(id);
  const files = source.find(path, parameters, signal)[Symbol.asyncIterator]();
  const first = await files.next();
  if (first.done === true) throw new Error(`Nothing was found at ${path}`);
  const second = await files.next();
  if (second.done === true && content.parentId === null && !(await hasChildren(base, content)))
    return {
      kind: 'single',
      parts: () => filePart(first.value),
      provenance: { ...content.provenance, ...first.value.provenance },
      size: first.value.content.size,
    };
  return {
    kind: 'folder',
    children: fileChildren(content, path, { id, parameters }, [first, second], files),
  };
}

async function hasChildren({ id, parts }: BaseInDatabase, content: StoredContent): Promise<boolean> {
  for await (const _ of parts.contents.childIds(id, content.id)) return true;
  return false;
}

async function* fileChildren(
  parent: StoredContent,
  folder: string,
  source: { readonly id: string; readonly parameters: Readonly<Record<string, string>> },
  begun: readonly IteratorResult<SourceFile>[],
  rest: AsyncIterator<SourceFile>,
): AsyncIterable<FoundChild> {
  for (const next of begun) if (next.done !== true) yield fileChild(parent, folder, source, next.value);
  for (let next = await rest.next(); next.done !== true; next = await rest.next())
    yield fileChild(parent, folder, source, next.value);
}

function fileChild(
  parent: StoredContent,
  folder: string,
  source: { readonly id: string; readonly parameters: Readonly<Record<string, string>> },
  file: SourceFile,
): FoundChild {
  const relative = file.path.startsWith(folder) ? file.path.slice(folder.length) : file.path;
  const content = childOf(parent, {
    name: `${(parent.name ?? folder).replace(/\/+$/, '')}/${relative.replace(/^\/+/, '')}`,
    type: parent.type,
    origin: file.virtualPath,
    from: { kind: 'source', source: source.id, path: file.path, parameters: source.parameters },
    provenance: { ...parent.provenance, ...file.provenance },
  });
  return { content, parts: () => filePart(file), size: file.content.size };
}

async function* filePart(file: SourceFile): AsyncIterable<FoundPart> {
  yield { content: file.content };
}

interface Child {
  readonly name: string;
  readonly type: string | null;
  readonly origin: string;
  readonly from: RequestedFrom;
  readonly provenance: JsonObject;
}

function childOf(parent: StoredContent, { name, type, origin, from, provenance }: Child): ContentToStore {
  const { description, metadata } = parent;
  const now = Date.now();
  return {
    knowledgeId: parent.knowledgeId,
    id: contentIdOf({ name, description, metadata, origin }),
    name,
    description,
    type,
    size: 0,
    metadata,
    provenance: { ...provenance, parent_id: parent.id },
    status: 'processing',
    statusMessage: '',
    digest: null,
    request: { ...parent.request, from },
    parentId: parent.id,
    jobId: parent.jobId,
    createdAt: now,
    updatedAt: now,
  };
}
