import { z } from 'zod';
import { mostResults } from '../../core/knowledge/knowledge-options.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { formBoolean, formInteger, streamedFiles } from '../../platform/http/request/fields.js';
import { pageBody, pageQuery } from '../../platform/http/request/pagination.js';
import { contentSorts } from './contents/list-store.js';
import { mostMetadataKeys } from './contents/metadata-values.js';
import type { Upload } from './uploads/upload-store.js';

const databaseId = lazySchema(() => z.string().optional(), {
  description:
    'The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence.',
});

/** How a request names a knowledge base. */
const addressFields = () => ({
  db_id: databaseId,
  knowledge_id: z.string().optional().meta({
    description: 'The id of the knowledge base, as in GET /config; required if the service has several.',
  }),
});

export const addressQuery = lazyObject(addressFields);
export type KnowledgeAddress = z.output<typeof addressQuery>;

export const contentParams = lazyObject(() => ({
  content_id: z.string().meta({ description: 'The identifier of the content.' }),
}));

export const sourcesParams = lazyObject(() => ({
  knowledge_id: z.string().meta({ description: 'The identifier of the knowledge base.' }),
}));

export const sourceParams = lazyObject(() => ({
  ...sourcesParams.shape,
  source_id: z.string().meta({ description: 'The identifier of the source.' }),
}));

export const sourcesQuery = lazyObject(() => ({
  db_id: z.string().optional().meta({ description: 'Accepted for older clients; it has no effect.' }),
}));

export const sourceFilesQuery = lazyObject(() => ({
  ...sourcesQuery.shape,
  prefix: z.string().max(2_048).optional().meta({
    description: 'Only files whose path begins with it, in place of the prefix of the source and within it.',
  }),
  ...pageQuery({ default: 100, max: 1_000 }),
  delimiter: z
    .string()
    .max(16)
    .default('/')
    .meta({ description: 'What separates folders. Empty: all files, without folders.' }),
}));

const jsonText = (description: string, type: 'object' | 'array' = 'object') =>
  z.string().optional().meta({ description, contentMediaType: 'application/json', contentSchema: { type } });

/** What is said about a content, and how it is indexed. */
const describedFields = () => ({
  name: z
    .string()
    .max(1_024)
    .optional()
    .meta({
      description: 'Default: the file name, the address, or the beginning of the text.',
      examples: ['Handbook'],
    }),
  description: z.string().max(10_000).optional(),
  metadata: jsonText(
    `A JSON object of at most ${mostMetadataKeys} keys that filters can use. A text that is not JSON is stored as {"value": …}. The keys _agno and linked_to are ignored.`,
  ),
  reader_id: z.string().optional().meta({
    description:
      'The id of a reader in GET /knowledge/config. Default: the reader for the type of the content.',
  }),
  chunker: z.string().optional().meta({
    description:
      'The key of a chunker in GET /knowledge/config. Default: that of the knowledge base, or of the reader.',
  }),
  chunk_size: formInteger({ min: 1 }).optional().meta({ description: 'The most characters of a chunk.' }),
  chunk_overlap: formInteger({ min: 0 })
    .optional()
    .meta({ description: 'How many characters a chunk repeats of the one before. Less than chunk_size.' }),
});

export const uploadForm = lazyObject(
  () => ({
    ...describedFields(),
    file: streamedFiles<Upload>()
      .max(1)
      .optional()
      .meta({ description: 'A file: exactly one of file, text_content and url is required.' }),
    text_content: z
      .string()
      .optional()
      .meta({ description: 'A text.', examples: ['The office is open from 9 to 17.'] }),
    url: z.string().optional().meta({
      description: 'An http or https address, or a JSON array of addresses, each of which becomes a content.',
    }),
  }),
  { examples: [{ text_content: 'The office is open from 9 to 17.', name: 'Handbook' }] },
);
export type UploadForm = z.output<typeof uploadForm>;

export const remoteForm = lazyObject(
  () => ({
    config_id: z.string().min(1).meta({ description: 'The id of a source in GET /knowledge/config.' }),
    path: z
      .string()
      .min(1)
      .max(2_048)
      .meta({ description: 'The full path in the source. With a slash at its end: a folder.' }),
    source_params: jsonText(
      'A JSON object of parameters that the type of the source accepts, such as {"repo": "owner/repo"}.',
    ),
    ...describedFields(),
  }),
  { examples: [{ config_id: 'docs-s3', path: 'handbook/vacation.md' }] },
);
export type RemoteForm = z.output<typeof remoteForm>;

export const changeForm = lazyObject(
  () => ({
    name: z.string().min(1).max(255).optional(),
    description: z.string().max(1_000).optional(),
    metadata: jsonText('A JSON object that is merged into the stored one. null is stored as a value.'),
    remove_metadata: jsonText('A JSON array of metadata keys to remove.', 'array').meta({
      'x-addition': true,
    }),
    reader_id: z
      .string()
      .optional()
      .meta({ description: 'Accepted for older clients; it must exist and has no further effect.' }),
  }),
  { examples: [{ metadata: '{"lang": "en"}' }] },
);
export type ChangeForm = z.output<typeof changeForm>;

// a record has the keys of its type
const sorts = Object.keys(contentSorts) as [keyof typeof contentSorts];

export const listQuery = lazyObject(() => ({
  ...pageQuery({ default: 20, firstPage: 0 }),
  sort_by: z.enum(sorts).default('created_at').meta({ description: 'What the list is sorted by.' }),
  sort_order: z
    .enum(['asc', 'desc'])
    .default('desc')
    .meta({ description: 'asc: smallest or oldest first; desc: largest or newest first.' }),
  status: z
    .enum(['processing', 'completed', 'failed'])
    .optional()
    .meta({ description: 'Only contents with this status.', 'x-addition': true }),
  type: z.string().optional().meta({ description: 'Only contents of this type.', 'x-addition': true }),
  search: z
    .string()
    .max(1_024)
    .optional()
    .meta({ description: 'Only contents with this text in their name or description.', 'x-addition': true }),
  metadata: jsonText('Only contents with these metadata values, a JSON object.').meta({ 'x-addition': true }),
  include_definition: formBoolean()
    .optional()
    .meta({ description: 'true: with what each content was added from, and how.', 'x-addition': true }),
  ...addressFields(),
}));

export type ListQuery = z.output<typeof listQuery>;

const status = lazySchema(() => z.enum(['processing', 'completed', 'failed']));

const definition = lazyObject(
  () => ({
    from: z.union([
      z.object({ url: z.union([z.string(), z.array(z.string())]) }),
      z.object({
        source: z.string(),
        path: z.string(),
        parameters: z.record(z.string(), z.string()).optional(),
      }),
      z.object({ file: z.string() }),
      z.object({ text: z.literal(true) }),
    ]),
    reader_id: z.string().optional(),
    chunker: z.string().optional(),
    chunk_size: z.int().optional(),
    chunk_overlap: z.int().optional(),
  }),
  {
    id: 'ContentDefinition',
    description:
      'What a content was added from, and how it is indexed. Bytes that a caller sent are not kept.',
    examples: [{ from: { url: 'https://example.com/handbook.pdf' }, chunker: 'FixedSizeChunker' }],
  },
);

export const contentBody = lazyObject(
  () => ({
    id: z.string(),
    name: z.string().nullable(),
    description: z.string().nullable(),
    type: z
      .string()
      .nullable()
      .meta({ description: 'manual for a text, url, the type of the source, or a MIME type.' }),
    size: z.string().nullable().meta({ description: 'Bytes; 0 if unknown.' }),
    linked_to: z.string().nullable().meta({ description: 'Always null.' }),
    metadata: z
      .looseObject({})
      .nullable()
      .meta({ description: 'Under _agno: where the content comes from.' }),
    access_count: z.int().nullable().meta({ description: 'Always null.' }),
    status: status.nullable(),
    status_message: z.string().nullable(),
    created_at: z.string().nullable(),
    updated_at: z.string().nullable(),
    definition: definition.optional().meta({
      description: 'In lists with include_definition.',
      'x-addition': true,
    }),
  }),
  {
    id: 'Content',
    description: 'A content of a knowledge base.',
    examples: [
      {
        id: 'b2bbf545-78c2-5cc5-a712-3d1deada9bd7',
        name: 'note1',
        description: 'A note',
        type: 'manual',
        size: '25',
        linked_to: null,
        metadata: { lang: 'en' },
        access_count: null,
        status: 'completed',
        status_message: '',
        created_at: '2026-11-15T00:35:48Z',
        updated_at: '2026-11-15T00:35:48Z',
      },
    ],
  },
);

export const contentsPage = pageBody(contentBody, 'ContentPage');

export const contentStatusBody = lazyObject(
  () => ({
    id: z.string(),
    status,
    status_message: z.string(),
  }),
  { id: 'ContentStatus', description: 'How far the processing of a content is.' },
);

export const deletedBody = lazyObject(() => ({ ...contentBody.partial().shape, id: z.string() }), {
  id: 'DeletedContent',
  description: 'A deleted content: its id alone.',
});

export const searchBody = lazyObject(
  () => ({
    query: z
      .string()
      .max(100_000)
      .meta({ description: 'What to search for.', examples: ['vacation policy'] }),
    db_id: databaseId.nullable(),
    knowledge_id: addressFields().knowledge_id.nullable(),
    vector_db_ids: z.array(z.string()).max(100).nullish().meta({
      description: 'If not empty, it must contain the id of the vector store of the knowledge base.',
    }),
    search_type: z.enum(['vector', 'keyword', 'hybrid']).nullish().meta({
      description: 'Default: that of the knowledge base.',
    }),
    max_results: z.int().min(1).max(mostResults).nullish().meta({
      description: 'The most chunks. Default: that of the knowledge base, or as many as the page needs.',
    }),
    filters: z
      .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
      .nullish()
      .meta({
        description:
          'Metadata that chunks must have: an object, a filter expression, or an array of expressions.',
      }),
    meta: z
      .object({ limit: z.int().min(1).max(mostResults).default(20), page: z.int().min(1).default(1) })
      .nullish()
      .meta({ description: 'The page of the results.' }),
  }),
  { examples: [{ query: 'vacation policy', max_results: 5 }] },
);

export type SearchBody = z.output<typeof searchBody>;

const foundBody = lazyObject(
  () => ({
    id: z.string().meta({ description: 'The identifier of the chunk.' }),
    content: z.string(),
    name: z.string().nullable().meta({ description: 'The name of the content when it was added.' }),
    meta_data: z.looseObject({}).nullable().meta({
      description: 'The metadata of the chunk; similarity_score, from 0 to 1, if vectors were compared.',
    }),
    usage: z.unknown().meta({ description: 'What the embedder reported, or null.' }),
    reranking_score: z.number().nullable(),
    content_id: z.string().nullable(),
    content_origin: z.string().nullable().meta({ description: 'Always null.' }),
    size: z.int().nullable().meta({ description: 'Always null.' }),
  }),
  { id: 'FoundChunk', description: 'A chunk that a search found.' },
);

export const foundPage = pageBody(foundBody, 'FoundChunkPage');

const sourceBody = lazyObject(
  () => ({
    id: z.string(),
    name: z.string(),
    type: z.string(),
    metadata: z.looseObject({}).nullable(),
    prefix: z.string().nullable(),
  }),
  { id: 'ContentSource', description: 'A place that contents can be added from.' },
);

export const sourcesBody = lazySchema(() => z.array(sourceBody));

export const sourceFilesBody = lazyObject(
  () => ({
    source_id: z.string(),
    source_name: z.string(),
    prefix: z.string(),
    folders: z.array(z.object({ prefix: z.string(), name: z.string(), is_empty: z.boolean() })),
    files: z.array(
      z.object({
        key: z.string(),
        name: z.string(),
        size: z.int().nullable(),
        last_modified: z.string().nullable(),
        content_type: z.string().nullable(),
      }),
    ),
    meta: contentsPage.shape.meta,
  }),
  { id: 'SourceFiles', description: 'Files and folders of a source.' },
);

const embeddedWith = lazyObject(() => ({ embedder: z.string(), dimensions: z.int(), contents: z.int() }));

export const knowledgeConfigBody = lazyObject(
  () => ({
    readers: z.record(
      z.string(),
      z.object({ id: z.string(), name: z.string(), description: z.string(), chunkers: z.array(z.string()) }),
    ),
    readersForType: z
      .record(z.string(), z.array(z.string()))
      .meta({ description: 'The readers of each type, preferred ones first.' }),
    chunkers: z.record(
      z.string(),
      z.object({
        key: z.string(),
        name: z.string(),
        description: z.string(),
        metadata: z.object({ chunk_size: z.int().optional(), chunk_overlap: z.int().optional() }),
      }),
    ),
    filters: z.array(z.string()).meta({ description: 'The metadata keys of the contents.' }),
    vector_dbs: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        search_types: z.array(z.string()),
      }),
    ),
    remote_content_sources: z.array(sourceBody).nullable(),
    embedder: z
      .object({
        name: z.string(),
        changed: z.array(embeddedWith).meta({
          description:
            'Contents that were embedded with another embedder: vectors cannot find them until `runyard knowledge reembed` has run.',
        }),
      })
      .meta({ 'x-addition': true }),
  }),
  { id: 'KnowledgeConfig', description: 'What contents can be indexed and searched with.' },
);

export const eventsHeaders = lazyObject(() => ({
  'last-event-id': z
    .string()
    .regex(/^(-?\d{1,15})?$/)
    .optional()
    .meta({
      description: 'The id of the last event that you received. An EventSource sends it automatically.',
    }),
}));

export const deletedAllBody = lazySchema(() => z.literal('success'));
