/** `runyard/knowledge`: where the contents of a knowledge base come from, and how they are read and split. */
export type { Chunker, ChunkerOptions, ChunkerTools } from './core/knowledge/chunkers/chunker.js';
export type { Chunk, Document } from './core/knowledge/document.js';
export {
  ContentUnreadable,
  type ReadableContent,
  type Reader,
  type ReadOptions,
} from './core/knowledge/readers/reader.js';
export type { ContentSource } from './core/knowledge/sources/source.js';
export { type AzureBlobSourceOptions, azureBlobSource } from './platform/sources/azure-blob.js';
export type { Credential } from './platform/sources/credentials.js';
export { type GcsSourceOptions, gcsSource } from './platform/sources/gcs.js';
export { type GitHubSourceOptions, gitHubSource } from './platform/sources/github.js';
export { type S3SourceOptions, s3Source } from './platform/sources/s3.js';
export { type SharePointSourceOptions, sharePointSource } from './platform/sources/sharepoint.js';
