import { errors } from '../../core/errors/errors.js';
import type { GivenFrom } from '../../core/knowledge/knowledge-space.js';
import { pageOf } from '../../platform/http/request/pagination.js';
import { eventStream, reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import type { UploadedFrom } from './addition.js';
import { contentBodyOf, definitionOf, foundBodyOf, sourceBodyOf, sourceFilesBodyOf } from './content-body.js';
import type { StoredContent } from './contents/content.js';
import { urlsOf } from './given-fields.js';
import {
  addressQuery,
  changeForm,
  contentBody,
  contentParams,
  contentStatusBody,
  contentsPage,
  deletedAllBody,
  deletedBody,
  eventsHeaders,
  foundPage,
  knowledgeConfigBody,
  listQuery,
  remoteForm,
  searchBody,
  sourceFilesBody,
  sourceFilesQuery,
  sourceParams,
  sourcesBody,
  sourcesParams,
  sourcesQuery,
  type UploadForm,
  uploadForm,
} from './schema.js';
import type { KnowledgeService } from './service.js';

export interface KnowledgeServices {
  readonly knowledge: KnowledgeService;
}

const tag = 'Knowledge';
const read = { tag, scope: 'knowledge:read' } as const;
const write = { tag, scope: 'knowledge:write' } as const;
const remove = { tag, scope: 'knowledge:delete' } as const;

const listContents = defineRoute({
  ...read,
  method: 'GET',
  path: '/knowledge/content',
  operationId: 'get_content',
  summary: 'List contents',
  description: 'The contents of a knowledge base, newest first. A content must match all filters.',
  query: listQuery,
  responses: { 200: contentsPage },
  handler: async ({ knowledge }: KnowledgeServices, { query, caller }) => {
    const { items, total } = await knowledge.list(caller, query);
    // page 0 means the first one
    const bodyOf = query.include_definition
      ? (content: StoredContent) => ({ ...contentBodyOf(content), definition: definitionOf(content.request) })
      : contentBodyOf;
    return pageOf(items.map(bodyOf), { ...query, page: Math.max(query.page, 1) }, total);
  },
});

const uploadContent = defineRoute({
  ...write,
  method: 'POST',
  path: '/knowledge/content',
  operationId: 'upload_content',
  summary: 'Add a file, a text or a URL',
  description:
    'Stores the content and indexes it in the background: poll its status, or follow its events. The same content ' +
    'under the same id is not indexed again; changed bytes replace the indexed version in one step.',
  accepts: 'form',
  query: addressQuery,
  body: uploadForm,
  uploads: ({ knowledge }: KnowledgeServices, { query }) => knowledge.uploads(query),
  responses: { 202: contentBody },
  handler: async ({ knowledge }: KnowledgeServices, { query, body, caller }) => {
    const { file, text_content: text, url, ...described } = body;
    const from = contentOf({ file, text_content: text, url });
    const content = await knowledge.add(caller, query, from, described);
    return reply(202, contentBodyOf(content));
  },
});

const uploadRemoteContent = defineRoute({
  ...write,
  method: 'POST',
  path: '/knowledge/remote-content',
  operationId: 'upload_remote_content',
  summary: 'Add content from a source',
  description:
    'Adds a file of a source, or all files of a folder. A folder is a content of its own whose status_message counts ' +
    'its files; each file becomes a content with the id of the folder under _agno.parent_id.',
  accepts: 'form',
  query: addressQuery,
  body: remoteForm,
  responses: { 202: contentBody },
  handler: async ({ knowledge }: KnowledgeServices, { query, body, caller }) =>
    reply(202, contentBodyOf(await knowledge.addRemote(caller, query, body))),
});

const getContent = defineRoute({
  ...read,
  method: 'GET',
  path: '/knowledge/content/:content_id',
  operationId: 'get_content_by_id',
  summary: 'Get a content',
  params: contentParams,
  query: addressQuery,
  responses: { 200: contentBody },
  handler: async ({ knowledge }: KnowledgeServices, { params, query, caller }) =>
    contentBodyOf(await knowledge.get(caller, query, params.content_id)),
});

const getContentStatus = defineRoute({
  ...read,
  method: 'GET',
  path: '/knowledge/content/:content_id/status',
  operationId: 'get_content_status',
  summary: 'Get the status of a content',
  description: 'An unknown id has the status failed and the message Content not found.',
  params: contentParams,
  query: addressQuery,
  responses: { 200: contentStatusBody },
  handler: async ({ knowledge }: KnowledgeServices, { params, query, caller }) => {
    const content = await knowledge.status(caller, query, params.content_id);
    const { status, statusMessage } = content ?? { status: 'failed', statusMessage: 'Content not found' };
    return { id: params.content_id, status, status_message: statusMessage };
  },
});

const followContent = defineRoute({
  ...read,
  method: 'GET',
  path: '/knowledge/content/:content_id/events',
  operationId: 'follow_content_events',
  summary: 'Follow the processing of a content',
  description:
    'For an EventSource: the stored and live events after Last-Event-ID. 204, which closes an EventSource, if the ' +
    'events are no longer stored.',
  addition: true,
  params: contentParams,
  query: addressQuery,
  headers: eventsHeaders,
  responses: {
    200: {
      description: 'The stream of events.',
      events:
        'Server-sent events, with their index as id: JobStarted, JobProgress (done, total, percent, message, and data ' +
        'with pages and chunks), and at the end JobCompleted, JobFailed or JobCancelled.',
    },
    204: { description: 'No events are stored.' },
  },
  handler: async ({ knowledge }: KnowledgeServices, { params, query, caller, headers }) => {
    const last = headers['last-event-id'];
    const after = last ? Number(last) : -1;
    const events = await knowledge.events(caller, query, params.content_id, after);
    return events === undefined ? reply(204) : eventStream(events);
  },
});

const updateContent = defineRoute({
  ...write,
  method: 'PATCH',
  path: '/knowledge/content/:content_id',
  operationId: 'update_content',
  summary: 'Change a content',
  description:
    'Changes name, description and metadata; what is omitted stays. Filters of searches see changed metadata at once.',
  accepts: 'form',
  params: contentParams,
  query: addressQuery,
  body: changeForm,
  responses: { 200: contentBody },
  handler: async ({ knowledge }: KnowledgeServices, { params, query, body, caller }) =>
    contentBodyOf(await knowledge.change(caller, query, params.content_id, body)),
});

const deleteContent = defineRoute({
  ...remove,
  method: 'DELETE',
  path: '/knowledge/content/:content_id',
  operationId: 'delete_content_by_id',
  summary: 'Delete a content',
  description:
    'Deletes a content with all its chunks, also while it is processed, and the contents of a folder. An unknown id is ' +
    'no error.',
  params: contentParams,
  query: addressQuery,
  responses: { 200: deletedBody },
  handler: async ({ knowledge }: KnowledgeServices, { params, query, caller }) => {
    await knowledge.remove(caller, query, params.content_id);
    return { id: params.content_id };
  },
});

const deleteContents = defineRoute({
  ...remove,
  method: 'DELETE',
  path: '/knowledge/content',
  operationId: 'delete_all_content',
  summary: 'Delete all contents',
  description: 'Deletes all contents of a knowledge base with their chunks.',
  query: addressQuery,
  responses: { 200: deletedAllBody },
  handler: async ({ knowledge }: KnowledgeServices, { query, caller }) => {
    await knowledge.removeAll(caller, query);
    return 'success';
  },
});

const searchKnowledge = defineRoute({
  ...read,
  method: 'POST',
  path: '/knowledge/search',
  operationId: 'search_knowledge',
  summary: 'Search a knowledge base',
  description: 'The chunks that fit the query best. total_count is the number of chunks that were fetched.',
  asksOthers: true,
  body: searchBody,
  responses: { 200: foundPage },
  handler: async ({ knowledge }: KnowledgeServices, { body, caller, signal }) => {
    const begun = performance.now();
    const { documents, page, limit } = await knowledge.search(caller, body, signal);
    const first = (page - 1) * limit;
    const shown = documents.slice(first, first + limit).map(foundBodyOf);
    const tookMs = Math.round((performance.now() - begun) * 100) / 100;
    return pageOf(shown, { page, limit }, documents.length, tookMs);
  },
});

const getKnowledgeConfig = defineRoute({
  ...read,
  method: 'GET',
  path: '/knowledge/config',
  operationId: 'get_knowledge_config',
  summary: 'Get readers, chunkers, filters and sources',
  query: addressQuery,
  responses: { 200: knowledgeConfigBody },
  handler: async ({ knowledge }: KnowledgeServices, { query, caller }) => {
    const { sources, embedder, ...config } = await knowledge.config(caller, query);
    const shown = sources.map((source) => sourceBodyOf(source, false));
    return { ...config, remote_content_sources: shown.length === 0 ? null : shown, embedder };
  },
});

const listSources = defineRoute({
  ...read,
  method: 'GET',
  path: '/knowledge/:knowledge_id/sources',
  operationId: 'list_content_sources',
  summary: 'List sources',
  params: sourcesParams,
  query: sourcesQuery,
  responses: { 200: sourcesBody },
  handler: async ({ knowledge }: KnowledgeServices, { params, caller }) =>
    (await knowledge.sources(caller, params.knowledge_id)).map((source) => sourceBodyOf(source, true)),
});

const listSourceFiles = defineRoute({
  ...read,
  method: 'GET',
  path: '/knowledge/:knowledge_id/sources/:source_id/files',
  operationId: 'list_source_files',
  summary: 'List files of a source',
  description: 'Folders are on the first page and are not counted.',
  asksOthers: true,
  params: sourceParams,
  query: sourceFilesQuery,
  responses: { 200: sourceFilesBody },
  handler: async ({ knowledge }: KnowledgeServices, { params, query, caller, signal }) => {
    const { knowledge_id: knowledgeId, source_id: sourceId } = params;
    const { prefix, delimiter, limit, page } = query;
    const request = { prefix, delimiter, limit, page, signal };
    const { source, listing } = await knowledge.sourceFiles(caller, knowledgeId, sourceId, request);
    return sourceFilesBodyOf(source, listing, query);
  },
});

/** The one content that a form brings. */
function contentOf({
  file = [],
  text_content: text,
  url,
}: Pick<UploadForm, 'file' | 'text_content' | 'url'>): GivenFrom | UploadedFrom {
  const [given] = file;
  const hasText = text !== undefined && text !== '';
  const hasUrl = url !== undefined && url.trim() !== '';
  const fields = [
    ...(given ? ['file'] : []),
    ...(hasText ? ['text_content'] : []),
    ...(hasUrl ? ['url'] : []),
  ];
  if (fields.length === 0) throw errors.contentRequired();
  if (fields.length > 1) throw errors.severalContents(fields);
  if (hasUrl) return { url: urlsOf(url) };
  if (hasText) return { text };
  if (given === undefined) throw errors.contentRequired();
  const { filename, mimeType } = given;
  return { upload: given.take(), filename, ...(mimeType !== '' && { mediaType: mimeType }) };
}

export const knowledgeRoutes: readonly Route<KnowledgeServices>[] = [
  uploadContent,
  uploadRemoteContent,
  listContents,
  deleteContents,
  getContent,
  updateContent,
  deleteContent,
  getContentStatus,
  followContent,
  searchKnowledge,
  getKnowledgeConfig,
  listSources,
  listSourceFiles,
];
