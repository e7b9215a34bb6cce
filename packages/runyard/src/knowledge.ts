/** `runyard/knowledge`: where the contents of a knowledge base come from. */
export type { ContentSource } from './core/knowledge/sources/source.js';
export { type AzureBlobSourceOptions, azureBlobSource } from './platform/sources/azure-blob.js';
export type { Credential } from './platform/sources/credentials.js';
export { type GcsSourceOptions, gcsSource } from './platform/sources/gcs.js';
export { type GitHubSourceOptions, gitHubSource } from './platform/sources/github.js';
export { type S3SourceOptions, s3Source } from './platform/sources/s3.js';
export { type SharePointSourceOptions, sharePointSource } from './platform/sources/sharepoint.js';
