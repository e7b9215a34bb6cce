import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { KnowledgeService } from '../../../../capabilities/knowledge/service.js';
import { errorCode } from '../../../../core/errors/error-code.js';
import { assertMay } from '../../../../platform/auth/authenticator.js';
import type { Caller } from '../../../../platform/auth/caller.js';
import type { McpSite } from '../site.js';
import { foundOf, readKnowledge } from './knowledge.js';

/** How many contents a page lists. */
const pageSize = 100;
const longestQuery = 10_000;
const notFound = -32_002;

type Content = Awaited<ReturnType<KnowledgeService['get']>>;

/** Where a list of resources continues: in which knowledge base, at which page. */
interface Cursor {
  readonly base: number;
  readonly page: number;
}

/** The contents of the knowledge bases, one base after the other. A caller who may not read them sees none. */
export async function listResources(
  { services }: McpSite,
  caller: Caller,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const { knowledge } = services;
  const place = cursor === undefined ? { base: 0, page: 1 } : readCursor(cursor);
  const base = knowledge.registered[place.base];
  if (base === undefined || !mayRead(caller)) return { resources: [] };
  const { items, total } = await knowledge.list(caller, {
    ...{ limit: pageSize, page: place.page, sort_by: 'created_at', sort_order: 'asc' },
    knowledge_id: base.id,
  });
  const isLast = place.page * pageSize >= total;
  const next = isLast ? { base: place.base + 1, page: 1 } : { base: place.base, page: place.page + 1 };
  return {
    resources: items.map((content) => ({
      uri: contentUri(base.id, content.id),
      name: content.name || content.id,
      ...(content.description && { description: content.description }),
      mimeType: 'application/json',
    })),
    ...(knowledge.registered[next.base] !== undefined && { nextCursor: writeCursor(next) }),
  };
}

/** A search of each knowledge base. */
export function listTemplates({ services }: McpSite, caller: Caller): ListResourceTemplatesResult {
  if (!mayRead(caller)) return { resourceTemplates: [] };
  return {
    resourceTemplates: services.knowledge.registered.map(({ id, name, description }) => ({
      uriTemplate: `knowledge://${encodeURIComponent(id)}/search{?query}`,
      name: `Search ${name}`,
      description: description ?? `The passages of the knowledge base ${name} that fit a query best.`,
      mimeType: 'application/json',
    })),
  };
}

export async function readResource(
  { services: { knowledge } }: McpSite,
  caller: Caller,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const { knowledgeId, contentId, query } = addressOf(uri);
  assertMay(caller, readKnowledge);
  try {
    if (contentId !== undefined)
      return jsonContents(
        uri,
        contentOf(await knowledge.get(caller, { knowledge_id: knowledgeId }, contentId)),
      );
    const { documents } = await knowledge.search(
      caller,
      { query: query ?? '', knowledge_id: knowledgeId },
      signal,
    );
    return jsonContents(uri, { query, data: documents.map(foundOf) });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'knowledge_not_found' || code === 'content_not_found') throw unknownResource(uri);
    throw error;
  }
}

function contentUri(knowledgeId: string, contentId: string): string {
  return `knowledge://${encodeURIComponent(knowledgeId)}/contents/${encodeURIComponent(contentId)}`;
}

interface Address {
  readonly knowledgeId: string;
  readonly contentId?: string;
  readonly query?: string;
}

function addressOf(uri: string): Address {
  const [, base, contentId, query] =
    /^knowledge:\/\/([^/?]+)\/(?:contents\/([^/?]+)|search\?query=([^&]*))$/.exec(uri) ?? [];
  if (base === undefined) throw unknownResource(uri);
  try {
    const knowledgeId = decodeURIComponent(base);
    if (contentId !== undefined) return { knowledgeId, contentId: decodeURIComponent(contentId) };
    const text = decodeURIComponent((query ?? '').replaceAll('+', ' '));
    if (text.length > longestQuery)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The query has ${text.length} characters, the limit is ${longestQuery}.`,
      );
    return { knowledgeId, query: text };
  } catch (error) {
    throw error instanceof URIError ? unknownResource(uri) : error;
  }
}

/** What is known of a content: its text is found by searches. */
function contentOf({ id, name, description, type, size, metadata, status, statusMessage }: Content) {
  return { id, name, description, type, size, metadata, status, status_message: statusMessage };
}

function jsonContents(uri: string, value: object): ReadResourceResult {
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(value) }] };
}

function mayRead(caller: Caller): boolean {
  return caller.rights.may(readKnowledge.scope);
}

function unknownResource(uri: string): ProtocolError {
  return new ProtocolError(notFound, `Resource ${uri.slice(0, 200)} not found`);
}

function writeCursor({ base, page }: Cursor): string {
  return `${base}.${page}`;
}

function readCursor(cursor: string): Cursor {
  const [, base, page] = /^(\d{1,6})\.([1-9]\d{0,8})$/.exec(cursor) ?? [];
  if (base === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor');
  return { base: Number(base), page: Number(page) };
}
