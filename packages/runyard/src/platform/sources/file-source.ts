import { errors, RunyardError } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import type {
  ContentSource,
  ListedFile,
  ListRequest,
  SourceFile,
  SourceListing,
  SourceParameters,
} from '../../core/knowledge/sources/source.js';
import { classifyFile } from '../../core/media/classify-file.js';
import type { Shape } from '../../core/options/kind.js';
import { count, json, listOf, name, required } from '../../core/options/kinds.js';
import { checkPath, folderOf, isPlainPath, lastPart } from './paths.js';

/** What every source has. */
export interface SourceOptions {
  /** As requests name it. */
  readonly id: string;
  /** Default: the id. */
  readonly name?: string;
  /** Shown with the source. */
  readonly metadata?: JsonObject;
  /** How many files of a folder are added at once. Default 10,000. */
  readonly maxFiles?: number;
  /** How large a file may be. Default 1 GiB. */
  readonly maxFileBytes?: number;
  /** Hosts of the service that may be reached although their addresses are not public: `host` or `host:port`. */
  readonly allowedHosts?: readonly string[];
}

export const sourceShape: Shape<SourceOptions> = {
  id: required(name),
  name,
  metadata: json,
  maxFiles: count(1, 1_000_000),
  maxFileBytes: count(1),
  allowedHosts: listOf(name),
};

const defaultMaxFileBytes = 1_073_741_824;
const defaultMaxFiles = 10_000;

/** A file, as a service lists it. */
export interface RemoteFile {
  /** Its full path. */
  readonly key: string;
  readonly size: number | null;
  readonly lastModified: string | null;
  readonly contentType: string | null;
  /** What the service fetches it by, where that is not its path. */
  readonly handle?: string;
}

/** A part of a listing, as large as the service makes it. */
export interface RemotePage {
  readonly folders: readonly string[];
  readonly files: readonly RemoteFile[];
}

export interface RemoteQuery {
  /** What the paths begin with. */
  readonly prefix: string;
  /** Empty: no folders. */
  readonly delimiter: string;
  readonly parameters: SourceParameters;
  readonly signal: AbortSignal;
}

/** What differs between the kinds of sources. It keeps its credentials to itself. */
export interface SourceService
  extends Pick<ContentSource, 'type' | 'contentType' | 'configName' | 'parameters'> {
  /** Throws when the parameters are incomplete. */
  checkParameters?(parameters: SourceParameters): void;
  identity(path: string, parameters: SourceParameters): string;
  virtualPath(path: string, parameters: SourceParameters): string;
  provenance(path: string, parameters: SourceParameters): JsonObject;
  /** Undefined when there is no file at the path. */
  fileAt(path: string, parameters: SourceParameters, signal: AbortSignal): Promise<RemoteFile | undefined>;
  pages(query: RemoteQuery): AsyncIterable<RemotePage>;
  open(file: RemoteFile, parameters: SourceParameters, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** So many pages of a service are read for a listing, so that folders and totals are complete for most. */
const leastPages = 5;
/** A listing that needs more is refused: each page is a request. */
const mostPages = 200;
/** A service whose listing of a folder does not end. */
const mostFolderPages = 20_000;

/** A source over one of the services. What it shows of itself holds no credentials. */
export class FileSource implements ContentSource {
  readonly id: string;
  readonly name: string;
  readonly type: ContentSource['type'];
  readonly contentType: ContentSource['contentType'];
  readonly configName: string;
  readonly metadata: JsonObject | null;
  readonly prefix: string | null;
  readonly parameters: readonly string[];
  readonly #service: SourceService;
  readonly #folder: string;
  readonly #maxFiles: number;

  constructor(options: SourceOptions, prefix: string | undefined, service: SourceService) {
    this.id = options.id;
    this.name = options.name ?? options.id;
    this.metadata = options.metadata ?? null;
    this.prefix = prefix ?? null;
    this.type = service.type;
    this.contentType = service.contentType;
    this.configName = service.configName;
    this.parameters = service.parameters;
    this.#service = service;
    this.#folder = folderOf(prefix);
    this.#maxFiles = options.maxFiles ?? defaultMaxFiles;
    if (!isPlainPath(this.#folder))
      throw errors.invalidConfig(`Source '${this.id}': '${prefix}' is not a path within the source.`);
  }

  check(path: string, parameters: SourceParameters): void {
    const names = Object.keys(parameters);
    if (names.length > 0 && this.parameters.length === 0)
      throw errors.sourceParametersRefused(`Source type '${this.configName}' does not accept source_params.`);
    const unknown = names.filter((one) => !this.parameters.includes(one));
    if (unknown.length > 0)
      throw errors.sourceParametersRefused(
        `Unknown source_params for ${this.configName}: ${quoted(unknown)}. Allowed: ${quoted(this.parameters)}.`,
      );
    this.#service.checkParameters?.(parameters);
    checkPath(path, this.#folder);
  }

  identity(path: string, parameters: SourceParameters): string {
    return this.#service.identity(path, parameters);
  }

  async list({ prefix = '', delimiter, limit, page, signal }: ListRequest): Promise<SourceListing> {
    this.#service.checkParameters?.({});
    if (prefix !== '') checkPath(prefix, this.#folder);
    // an empty prefix is the root of what the source shows
    const from = prefix.length < this.#folder.length ? this.#folder : prefix;
    const folders = new Set<string>();
    const files: RemoteFile[] = [];
    const [begin, end] = [(page - 1) * limit, page * limit];
    let seen = 0;
    let pages = 0;
    let more = false;
    for await (const part of this.#service.pages({ prefix: from, delimiter, parameters: {}, signal })) {
      if (pages >= leastPages && seen >= end) {
        more = true;
        break;
      }
      if (++pages > mostPages)
        throw errors.sourceListingRefused(
          `The listing has more than ${seen} files before page ${page}: name a prefix, or an earlier page.`,
        );
      for (const folder of part.folders) folders.add(folder);
      for (const file of part.files) {
        if (isFolderMarker(file.key)) continue;
        if (seen >= begin && seen < end) files.push(file);
        seen += 1;
      }
    }
    return {
      folders: page === 1 ? [...folders].map((folder) => ({ prefix: folder, name: lastPart(folder) })) : [],
      files: files.map(listed),
      totalCount: seen,
      more,
    };
  }

  async *find(path: string, parameters: SourceParameters, signal: AbortSignal): AsyncGenerator<SourceFile> {
    this.check(path, parameters);
    // what the prefix names is the folder, and never a file beside it
    const isFolder = path === '' || path.endsWith('/') || folderOf(path) === this.#folder;
    const file = isFolder ? undefined : await this.#service.fileAt(path, parameters, signal);
    const files = file === undefined ? await this.#filesBelow(folderOf(path), parameters, signal) : [file];
    if (files.length === 0) throw errors.sourceFileMissing(this.id, path);
    for (const one of files) yield this.#found(one, parameters, signal);
  }

  /** All of them before the first is read: a folder that is too large is refused whole. */
  async #filesBelow(
    prefix: string,
    parameters: SourceParameters,
    signal: AbortSignal,
  ): Promise<readonly RemoteFile[]> {
    const files: RemoteFile[] = [];
    let pages = 0;
    for await (const part of this.#service.pages({ prefix, delimiter: '', parameters, signal })) {
      files.push(...part.files.filter(({ key }) => !isFolderMarker(key)));
      if (files.length > this.#maxFiles || ++pages > mostFolderPages)
        throw errors.sourceFolderTooLarge(prefix, this.#maxFiles);
    }
    return files;
  }

  #found(file: RemoteFile, parameters: SourceParameters, signal: AbortSignal): SourceFile {
    const service = this.#service;
    const folder = this.#folder;
    return {
      path: file.key,
      virtualPath: service.virtualPath(file.key, parameters),
      provenance: service.provenance(file.key, parameters),
      content: {
        name: lastPart(file.key),
        mediaType: mediaTypeOf(file),
        size: file.size ?? undefined,
        async *open() {
          // the service chose the name: it must not lead out of the source either
          checkPath(file.key, folder);
          yield* service.open(file, parameters, signal);
        },
      },
    };
  }
}

/** An empty object that stands for a folder. */
function isFolderMarker(key: string): boolean {
  return key.endsWith('/');
}

function listed(file: RemoteFile): ListedFile {
  const { key, size, lastModified } = file;
  return { key, name: lastPart(key), size, lastModified, contentType: mediaTypeOf(file) ?? null };
}

/** What the name says is more reliable than what was said when the file was stored. */
function mediaTypeOf({ key, contentType }: RemoteFile): string | undefined {
  const given = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  const isGiven = given !== undefined && given !== '' && !/^(application|binary)\/octet-stream$/.test(given);
  return classifyFile('', key)?.mimeType ?? (isGiven ? given : undefined);
}

function quoted(names: readonly string[]): string {
  return `[${names.map((one) => `'${one}'`).join(', ')}]`;
}

/** ISO 8601 in UTC, to the second; null for what is no time. */
export function timeOf(text: string | undefined | null): string | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

export function sizeOf(text: string | number | undefined | null): number | null {
  const size = Number(text ?? Number.NaN);
  return Number.isSafeInteger(size) && size >= 0 ? size : null;
}

/** The address of a service, without a slash at its end. */
export function endpointOf(id: string, given: string): string {
  const isAddress = URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
  if (!isAddress || given.includes('@'))
    throw errors.invalidConfig(`Source '${id}': the endpoint is not an http address without a password.`);
  const { origin, pathname } = new URL(given);
  return origin + pathname.replace(/\/+$/, '');
}

/** What the client of a source needs of its options. Endpoints that the operator gave are allowed by their name. */
export function clientLimits(
  { id, allowedHosts = [], maxFileBytes = defaultMaxFileBytes }: SourceOptions,
  ...endpoints: readonly (string | undefined)[]
) {
  const given = endpoints.flatMap((one) => (one === undefined ? [] : [new URL(one).host]));
  return { id, maxFileBytes, allowedHosts: [...allowedHosts, ...given] };
}

/** What a look-up found; undefined when the service has no such file. */
export async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof RunyardError && error.code === 'source_file_missing') return undefined;
    throw error;
  }
}
