import type { Content, ContentDefinition, RunyardClient } from '@runyard/client';
import { inBase } from './bases.js';
import { type IndexOptions, sentFile } from './uploads.js';

/** Whether a content can be processed again without its file. The service keeps no bytes that a caller sent. */
export function canRepeat(content: Content): boolean {
  const from = content.definition?.from;
  return (from !== undefined && ('url' in from || 'source' in from)) || sentFile(content.id) !== undefined;
}

/**
 * Adds a content again as it was added: the id follows from name, description, metadata and origin, so that it takes
 * the place of the one that failed. `file` is what a person has chosen again.
 */
export async function addAgain(
  client: RunyardClient,
  baseId: string | undefined,
  content: Content,
  file?: File,
): Promise<void> {
  const query = inBase(baseId);
  const remembered = sentFile(content.id);
  const options = { ...describedBy(content), ...indexedBy(content.definition) };
  const from = content.definition?.from;
  const again = file ?? remembered?.file;
  if (again !== undefined)
    await client.knowledge.uploadContent({ ...(remembered?.options ?? options), file: [again] }, { query });
  else if (from !== undefined && 'url' in from)
    await client.knowledge.uploadContent({ ...options, url: urlOf(from.url) }, { query });
  else if (from !== undefined && 'source' in from)
    await client.knowledge.uploadRemoteContent(
      {
        ...options,
        config_id: from.source,
        path: from.path,
        ...(from.parameters && { source_params: from.parameters }),
      },
      { query },
    );
  else throw new Error('The service does not keep this text or file. Add it again.');
}

function urlOf(url: string | readonly string[]): string {
  return typeof url === 'string' ? url : JSON.stringify(url);
}

function describedBy({ name, description, metadata }: Content): IndexOptions {
  const own = ownMetadata(metadata);
  return {
    ...(name !== null && { name }),
    ...(description && { description }),
    ...(Object.keys(own).length > 0 && { metadata: own }),
  };
}

function indexedBy(definition: ContentDefinition | undefined): IndexOptions {
  const { reader_id, chunker, chunk_size, chunk_overlap } = definition ?? {};
  return {
    ...(reader_id !== undefined && { reader_id }),
    ...(chunker !== undefined && { chunker }),
    ...(chunk_size !== undefined && { chunk_size }),
    ...(chunk_overlap !== undefined && { chunk_overlap }),
  };
}

/** Without what belongs to the service. */
export function ownMetadata(metadata: Content['metadata']): Record<string, unknown> {
  const { _agno, linked_to, ...own } = metadata ?? {};
  return own;
}
