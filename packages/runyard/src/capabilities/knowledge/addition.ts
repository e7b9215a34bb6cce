import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { errors } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import { checkChunkerOptions } from '../../core/knowledge/chunkers/chunkers.js';
import { isWebAddress } from '../../core/knowledge/given-content.js';
import type { GivenContent, GivenFrom } from '../../core/knowledge/knowledge-space.js';
import { readerWithId } from '../../core/knowledge/readers/choose-reader.js';
import { classifyFile } from '../../core/media/classify-file.js';
import type { BaseInDatabase } from './base-in-database.js';
import type { ContentRequest, ContentScope, RequestedFrom, StoredContent } from './contents/content.js';
import { contentIdOf, sha256 } from './contents/content-id.js';
import { metadataFault, withoutReserved } from './contents/metadata-values.js';
import type { Upload } from './uploads/upload-store.js';

/** A file that a request has brought to the spool already. */
export interface UploadedFrom {
  readonly upload: Upload;
  readonly filename: string;
  readonly mediaType?: string | undefined;
}

export interface Addition extends Omit<GivenContent, 'from'> {
  readonly from: GivenFrom | UploadedFrom;
}

/** What a file is when neither the caller nor its name says it. */
const unknownType = 'application/octet-stream';
/** The first characters of a text without a name are its name. */
const nameLength = 10;
const mostUrls = 1_000;

interface ReadFrom {
  /** As the content id is made from it. */
  readonly origin: string;
  readonly name: string | null;
  /** A content without any name of its own gets this one. */
  readonly shownName?: string;
  readonly type: string | null;
  readonly size: number;
  readonly digest: string | null;
  readonly source?: string;
  readonly provenance: JsonObject | null;
  readonly file?: { readonly name: string | null; readonly mediaType: string | undefined };
  /** Where its bytes are in the spool already. */
  readonly upload?: Upload;
  request(): Promise<Requested>;
}

/** What the job reads once the bytes are in the spool, with their size and digest: a file may have changed since it was hashed. */
interface Requested extends Partial<Pick<Upload, 'size' | 'digest'>> {
  readonly from: RequestedFrom;
}

/** The content that is stored for what is given. Everything that is wrong with it is found before anything is stored. */
export async function additionOf(
  base: BaseInDatabase,
  given: Addition,
  scope: ContentScope,
  jobId: string,
): Promise<{ readonly content: StoredContent; readonly isUnchanged: boolean }> {
  if (scope.kind === 'none') throw errors.claimRequired(base.name);
  const own = given.metadata === undefined ? null : withoutReserved(given.metadata);
  const metadata = scope.kind === 'bound' ? { ...own, ...scope.values } : own;
  const fault = metadata === null ? undefined : metadataFault(metadata);
  if (fault !== undefined) throw invalidField('metadata', fault);
  const read = await readFrom(base, given);
  checkIndexing(base, given, read.file);
  const name = given.name ?? read.name;
  const { description = null } = given;
  // a text that nothing else identifies is identified by its bytes
  const isBare = read.file?.name === null && !name && !description && own === null;
  const { origin, source, digest } = read;
  const id = contentIdOf({
    name,
    description,
    metadata,
    source,
    origin,
    ...(isBare && digest !== null && { digest }),
  });
  const settings = indexingOf(given);
  const known = await knownContent(base, id, scope);
  if (known !== undefined && isSame(known, digest, settings)) {
    if (read.upload !== undefined) await base.parts.uploads.remove(read.upload);
    return { content: known, isUnchanged: true };
  }
  const now = Date.now();
  const { from, ...stored } = await read.request();
  // again: several processes that start at once add the same
  const existing = await knownContent(base, id, scope);
  if (existing !== undefined && isSame(existing, stored.digest ?? digest, settings)) {
    if (from.kind === 'upload') await base.parts.uploads.remove(from);
    return { content: existing, isUnchanged: true };
  }
  const content: StoredContent = {
    knowledgeId: base.id,
    id,
    name: name ?? read.shownName ?? null,
    description: description ?? '',
    type: given.type ?? read.type,
    size: read.size,
    metadata,
    provenance: read.provenance,
    status: 'processing',
    statusMessage: '',
    digest,
    ...stored,
    request: { from, ...settings },
    parentId: null,
    jobId,
    published: existing?.published === true,
    deletedAt: null,
    createdAt: existing?.createdAt ?? now,
    updatedAt: now,
  };
  return { content, isUnchanged: false };
}

/** The content that has the id now, unless it is being removed. Refuses an id that belongs to others. */
async function knownContent(
  base: BaseInDatabase,
  id: string,
  scope: ContentScope,
): Promise<StoredContent | undefined> {
  const content = await base.get(id);
  if (content !== undefined && scope.kind !== 'all' && (await base.get(id, scope)) === undefined)
    throw errors.contentIdTaken(id);
  return content;
}

/** Whether the content is indexed, or being indexed, as it is given now. */
function isSame(
  { status, digest: stored, request: { from: _, ...settings } }: StoredContent,
  digest: string | null,
  wanted: Omit<ContentRequest, 'from'>,
): boolean {
  if (status === 'failed' || digest === null || stored !== digest) return false;
  const keys = ['reader', 'chunker', 'chunkSize', 'chunkOverlap'] as const;
  return keys.every((key) => settings[key] === wanted[key]);
}

function indexingOf({ reader, chunker, chunkSize, chunkOverlap }: Addition): Omit<ContentRequest, 'from'> {
  return {
    ...(reader !== undefined && { reader }),
    ...(chunker !== undefined && { chunker }),
    ...(chunkSize !== undefined && { chunkSize }),
    ...(chunkOverlap !== undefined && { chunkOverlap }),
  };
}

/** Refuses readers, chunkers and sizes that do not exist. */
function checkIndexing(
  base: BaseInDatabase,
  { reader, chunker, chunkSize, chunkOverlap }: Addition,
  file: ReadFrom['file'],
): void {
  if (reader !== undefined && readerWithId(base.readers, reader) === undefined)
    throw errors.invalidReader(reader);
  if (chunker !== undefined && !base.chunkers.some(({ key }) => key === chunker))
    throw invalidField(
      'chunker',
      `unknown chunker. Known: ${base.chunkers.map(({ key }) => key).join(', ')}`,
      chunker,
    );
  const request = { reader, chunker, chunkSize, chunkOverlap };
  const { options, chunkerFor } = base.indexedWith(file ?? { name: null, mediaType: undefined }, request);
  const chosen = chunkerFor({ name: file?.name ?? null, content: '', metadata: {} });
  const fault = chosen && checkChunkerOptions(chosen, options);
  if (fault !== undefined)
    throw invalidField(fault.startsWith('chunk_size') ? 'chunk_size' : 'chunk_overlap', fault);
}

async function readFrom(base: BaseInDatabase, { from, type, name }: Addition): Promise<ReadFrom> {
  const { uploads } = base.parts;
  if ('text' in from) {
    const bytes = Buffer.from(from.text);
    const mediaType = 'text/plain';
    return {
      origin: type ?? 'manual',
      name: null,
      shownName: [...from.text.trim().slice(0, 2 * nameLength)].slice(0, nameLength).join(''),
      type: 'manual',
      size: bytes.byteLength,
      digest: sha256(bytes),
      provenance: null,
      file: { name: null, mediaType },
      request: async () => {
        const { uploadId } = await uploads.write([bytes]);
        return { from: { kind: 'upload', uploadId, filename: null, mediaType } };
      },
    };
  }
  if ('bytes' in from) {
    const { bytes, filename, mediaType } = from;
    const digest = sha256(bytes);
    return fileFrom({ filename, mediaType, size: bytes.byteLength, digest }, async () =>
      uploads.write([bytes]),
    );
  }
  if ('upload' in from) {
    const { upload, filename, mediaType } = from;
    return { ...fileFrom({ filename, mediaType, ...upload }, async () => upload), upload };
  }
  if ('url' in from) return addresses(from.url);
  // a source has a path too: it is never one of this machine
  return 'source' in from ? fromSource(base, from, name) : localFile(base, from.path);
}

interface GivenFile {
  readonly filename: string;
  readonly mediaType: string | undefined;
  readonly size: number;
  readonly digest: string;
  readonly origin?: string;
}

function fileFrom(
  { filename, mediaType, size, digest, origin = filename }: GivenFile,
  stored: () => Promise<Upload>,
): ReadFrom {
  return {
    origin,
    name: filename,
    type: mediaType ?? classifyFile('', filename)?.mimeType ?? unknownType,
    size,
    digest,
    provenance: null,
    file: { name: filename, mediaType },
    request: async () => {
      const { uploadId, ...bytes } = await stored();
      return { from: { kind: 'upload', uploadId, filename, mediaType }, ...bytes };
    },
  };
}

/** From code alone, at every start: the spool gets no file that has not changed since it was indexed. */
async function localFile({ parts: { uploads } }: BaseInDatabase, path: string): Promise<ReadFrom> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw errors.invalidConfig(`There is no file at ${path}.`);
  const digest = createHash('sha256');
  for await (const bytes of createReadStream(path)) digest.update(bytes);
  const { size } = found;
  const file = { filename: basename(path), mediaType: undefined, size, digest: digest.digest('hex') };
  return fileFrom({ ...file, origin: path }, () => uploads.write(createReadStream(path)));
}

function addresses(given: string | readonly string[]): ReadFrom {
  const urls = [...new Set(typeof given === 'string' ? [given] : given)];
  const [first] = urls;
  if (first === undefined) throw errors.contentRequired();
  if (urls.length > mostUrls)
    throw invalidField('url', `${urls.length} addresses are more than the limit of ${mostUrls}`);
  const wrong = urls.find((url) => !isWebAddress(url));
  if (wrong !== undefined)
    throw invalidField('url', 'must begin with http:// or https://', wrong.slice(0, 1_000));
  const isOne = urls.length === 1;
  const origin = urls.join('\n');
  return {
    origin,
    name: isOne ? first : `${first} and ${urls.length - 1} more`,
    type: 'url',
    size: 0,
    digest: null,
    provenance: { source_type: 'url', ...(isOne ? { source_url: first } : { source_urls: urls }) },
    request: async () => ({ from: isOne ? { kind: 'url', url: first } : { kind: 'urls', urls } }),
  };
}

function fromSource(
  base: BaseInDatabase,
  { source: id, path, parameters = {} }: Extract<GivenFrom, { source: string }>,
  name: string | undefined,
): ReadFrom {
  const source = base.source(id);
  if (source === undefined) throw errors.unknownSource(id);
  source.check(path, parameters);
  return {
    source: source.identity(path, parameters),
    // as the contract has it: the name is what is left to identify it by
    origin: name ?? path,
    name: path,
    type: source.contentType,
    size: 0,
    digest: null,
    provenance: {
      source_type: source.type,
      source_config_id: source.id,
      source_config_name: source.name,
    },
    request: async () => ({ from: { kind: 'source', source: id, path, parameters } }),
  };
}

export function invalidField(field: string, fault: string, input: unknown = null) {
  const msg = `Value error, ${fault}`;
  return errors.invalidRequest([{ type: 'value_error', loc: ['body', field], msg, input }]);
}
