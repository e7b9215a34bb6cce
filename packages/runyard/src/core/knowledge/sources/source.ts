import type { JsonObject } from '../../json.js';
import type { ReadableContent } from '../readers/reader.js';

/** A place with files: a bucket, a repository, a document library. Credentials are its own and never leave it. */
export interface ContentSource {
  readonly id: string;
  readonly name: string;
  /** As `/knowledge/config` shows it. */
  readonly type: 's3' | 'gcs' | 'github' | 'sharepoint' | 'azureblob';
  /** The `type` of the contents that come from it. */
  readonly contentType: 's3' | 'gcs' | 'github' | 'sharepoint' | 'azure_blob';
  /** The name of its configuration in error texts: `S3Config`. */
  readonly configName: string;
  readonly metadata: JsonObject | null;
  /** Everything outside it is refused. Null where the source has no such boundary. */
  readonly prefix: string | null;
  /** The keys of `source_params` that it accepts. */
  readonly parameters: readonly string[];
  /** Throws an error for the caller when a path or parameter is refused, before anything is fetched. */
  check(path: string, parameters: SourceParameters): void;
  /** The part of the content id that identifies the source: `s3:<bucket>:<key>`. */
  identity(path: string, parameters: SourceParameters): string;
  list(request: ListRequest): Promise<SourceListing>;
  /** The file at the path, or all files below it. */
  find(path: string, parameters: SourceParameters, signal: AbortSignal): AsyncIterable<SourceFile>;
}

export type SourceParameters = Readonly<Record<string, string>>;

export interface ListRequest {
  /** Replaces the prefix of the source, within it. */
  readonly prefix?: string | undefined;
  /** Empty: no folders. */
  readonly delimiter: string;
  readonly limit: number;
  /** From 1. */
  readonly page: number;
  readonly signal: AbortSignal;
}

export interface SourceListing {
  readonly folders: readonly { readonly prefix: string; readonly name: string }[];
  readonly files: readonly ListedFile[];
  /** Of the files that were seen. */
  readonly totalCount: number;
  /** More follow than were counted. */
  readonly more: boolean;
}

export interface ListedFile {
  readonly key: string;
  readonly name: string;
  readonly size: number | null;
  /** ISO 8601, UTC. */
  readonly lastModified: string | null;
  readonly contentType: string | null;
}

/** A file that was found in a source. */
export interface SourceFile {
  /** Its full path in the source. */
  readonly path: string;
  /** `s3://bucket/key`: what its content id is made from. */
  readonly virtualPath: string;
  /** What `metadata._agno` says of it, beside the source: `s3_bucket`, `github_path`. */
  readonly provenance: JsonObject;
  /** Its bytes. Every call of `open` fetches them again, through the guarded fetch. */
  readonly content: ReadableContent;
}
