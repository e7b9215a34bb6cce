import type { FoundDocument } from '../../core/knowledge/knowledge-space.js';
import type { ContentSource, SourceListing } from '../../core/knowledge/sources/source.js';
import type { ContentRequest, RequestedFrom, StoredContent } from './contents/content.js';

/** A content in the form of the wire. */
export function contentBodyOf(content: StoredContent) {
  const { metadata, provenance } = content;
  return {
    id: content.id,
    name: content.name,
    description: content.description,
    type: content.type,
    size: String(content.size),
    linked_to: null,
    metadata: provenance === null ? metadata : { ...metadata, _agno: provenance },
    access_count: null,
    status: content.status,
    status_message: content.statusMessage,
    created_at: wholeSeconds(content.createdAt),
    updated_at: wholeSeconds(content.updatedAt),
  };
}

/** What a content was added from. */
export function definitionOf({ from, reader, chunker, chunkSize, chunkOverlap }: ContentRequest) {
  return {
    from: originOf(from),
    ...(reader !== undefined && { reader_id: reader }),
    ...(chunker !== undefined && { chunker }),
    ...(chunkSize !== undefined && { chunk_size: chunkSize }),
    ...(chunkOverlap !== undefined && { chunk_overlap: chunkOverlap }),
  };
}

function originOf(from: RequestedFrom) {
  switch (from.kind) {
    case 'url':
      return { url: from.url };
    case 'urls':
      return { url: [...from.urls] };
    case 'source': {
      const { source, path, parameters } = from;
      return { source, path, ...(Object.keys(parameters).length > 0 && { parameters }) };
    }
    case 'upload':
      return from.filename === null ? { text: true as const } : { file: from.filename };
  }
}

export function foundBodyOf(found: FoundDocument) {
  const { similarity } = found;
  return {
    id: found.id,
    content: found.content,
    name: found.name,
    meta_data: { ...found.metadata, ...(similarity !== undefined && { similarity_score: similarity }) },
    usage: found.usage,
    reranking_score: found.rerankingScore ?? null,
    content_id: found.contentId,
    content_origin: null,
    size: null,
  };
}

export function sourceBodyOf({ id, name, type, metadata, prefix }: ContentSource, showsPrefix: boolean) {
  return { id, name, type, metadata, prefix: showsPrefix ? prefix : null };
}

export function sourceFilesBodyOf(
  source: ContentSource,
  { folders, files, totalCount, more }: SourceListing,
  { prefix = '', page, limit }: { prefix?: string | undefined; page: number; limit: number },
) {
  const pages = Math.ceil(totalCount / limit);
  return {
    source_id: source.id,
    source_name: source.name,
    prefix,
    folders: folders.map((folder) => ({ ...folder, is_empty: false })),
    files: files.map(({ key, name, size, lastModified, contentType }) => ({
      key,
      name,
      size,
      last_modified: lastModified,
      content_type: contentType,
    })),
    meta: {
      page,
      limit,
      // more follow than were counted: a client that asks for the next page gets them
      total_pages: more ? Math.max(page + 1, pages) : pages,
      total_count: totalCount,
      search_time_ms: 0,
    },
  };
}

/** ISO 8601 in UTC, without fractions of a second. */
function wholeSeconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
