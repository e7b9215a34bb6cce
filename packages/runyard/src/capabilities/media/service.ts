import { errors, type ValidationItem } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { classifyFile } from '../../core/media/classify-file.js';
import {
  type FetchedMedia,
  type Media,
  type MediaContents,
  type MediaKind,
  mostMedia,
} from '../../core/media/media.js';
import { fromBase64, mediaUrlRule, readMediaUrl } from '../../core/media/media-url.js';
import type { UploadedFile } from '../../platform/http/request/uploaded-file.js';
import type { Database } from '../../platform/storage/database.js';
import { MediaStore } from './store.js';

export interface MediaOptions {
  /** Fetches for models that take bytes alone; left out, nothing is fetched. */
  readonly fetch?: ((url: string) => Promise<FetchedMedia>) | undefined;
}

/** Takes in media from requests and shows them again. The bytes are stored once, by their hash. */
export class MediaService {
  /** Where models find the bytes. */
  readonly contents: MediaContents;

  constructor(database: Database, { fetch }: MediaOptions = {}) {
    this.contents = new MediaStore(database, fetch);
  }

  /** The files hold their bytes no longer once they are stored. */
  async fromUploads(files: readonly UploadedFile[], owner?: string): Promise<Media[]> {
    const classes = files.map((file) => {
      const found = classifyFile(file.mimeType, file.filename);
      if (found === undefined) throw errors.unsupportedFileType();
      return { file, found };
    });
    if (files.some(({ size }) => size === 0)) throw errors.emptyFile();
    const media = await Promise.all(
      classes.map(async ({ file, found }) => ({
        ...found,
        id: newId(),
        hash: await this.contents.put(file.bytes, owner),
        filename: file.filename,
        size: file.size,
      })),
    );
    for (const file of files) file.release();
    return media;
  }

  /** Media objects of a JSON field. Everything wrong is found before anything is stored. */
  async fromJson(kind: MediaKind, field: string, values: readonly Json[], owner?: string): Promise<Media[]> {
    if (values.length > mostMedia)
      throw fault(['body', field], `${values.length} entries are more than the limit of ${mostMedia}`, null);
    const read = values.map((value, position) => readMedia(kind, value, ['body', field, position]));
    return Promise.all(
      read.map(async ({ bytes, ...media }) =>
        bytes === undefined
          ? media
          : { ...media, hash: await this.contents.put(bytes, owner), size: bytes.length },
      ),
    );
  }

  /** Stored bytes as the wire carries them: text as text, the rest as base64. */
  async show(media: Media): Promise<string | undefined> {
    const bytes = media.hash === undefined ? undefined : await this.contents.get(media.hash);
    if (bytes === undefined) return undefined;
    const isText = media.kind === 'file' && media.mimeType?.startsWith('text/');
    return Buffer.from(bytes).toString(isText ? 'utf8' : 'base64');
  }
}

type Location = ValidationItem['loc'];
type ReadMedia = Media & { readonly bytes?: Uint8Array };

function readMedia(kind: MediaKind, value: Json, loc: Location): ReadMedia {
  if (!isJsonObject(value)) throw invalid('dict_type', loc, 'Input should be a valid dictionary', value);
  const { url, content, filepath, id, mime_type, format, filename, ...details } = value;
  if (filepath !== undefined && filepath !== null) {
    throw fault(
      [...loc, 'filepath'],
      'filepath is not accepted: send the bytes as content or upload the file',
      filepath,
    );
  }
  if ((url ?? null) === null && (content ?? null) === null) throw fault(loc, 'give url or content', value);
  if ((url ?? null) !== null && (content ?? null) !== null)
    throw fault(loc, 'give url or content, not both', value);
  const media = {
    kind,
    id: text(id, [...loc, 'id']) ?? newId(),
    mimeType: text(mime_type, [...loc, 'mime_type']),
    format: text(format, [...loc, 'format']),
    filename: text(filename, [...loc, 'filename']),
    details: withoutNulls(details),
  };
  const address = text(url, [...loc, 'url']);
  if (address === undefined)
    return { ...media, bytes: decode(content ?? null, media.mimeType, [...loc, 'content']) };
  return fromUrl(media, address, [...loc, 'url']);
}

function fromUrl(media: ReadMedia, url: string, loc: Location): ReadMedia {
  const read = readMediaUrl(url);
  if (read === undefined) throw fault(loc, mediaUrlRule, url.slice(0, 1_000));
  if ('url' in read) return { ...media, url };
  const mimeType = media.mimeType ?? (read.mimeType || undefined);
  return { ...media, mimeType, bytes: decode(read.base64, undefined, loc) };
}

function decode(content: Json, mimeType: string | undefined, loc: Location): Uint8Array {
  if (typeof content !== 'string')
    throw invalid('string_type', loc, 'Input should be a valid string', content);
  const bytes = fromBase64(content);
  // clients send the text of a text document both ways; a text that happens to be base64 of text is not a text
  if (mimeType?.startsWith('text/') && (bytes === undefined || !isUtf8(bytes)))
    return Buffer.from(content, 'utf8');
  if (bytes === undefined) throw fault(loc, 'content must be base64', `${content.slice(0, 40)}…`);
  if (bytes.length === 0) throw fault(loc, 'content is empty', content);
  return bytes;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\u0000');
  } catch {
    return false;
  }
}

function text(value: Json | undefined, loc: Location): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid('string_type', loc, 'Input should be a valid string', value);
  return value;
}

function withoutNulls(fields: JsonObject): JsonObject | undefined {
  const entries = Object.entries(fields).filter(([, value]) => value !== null);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function fault(loc: Location, message: string, input: unknown): Error {
  return invalid('value_error', loc, `Value error, ${message}`, input);
}

function invalid(type: string, loc: Location, msg: string, input: unknown): Error {
  return errors.invalidRequest([{ type, loc, msg, input }]);
}
