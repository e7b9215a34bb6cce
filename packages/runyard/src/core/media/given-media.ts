import { errors } from '../errors/errors.js';
import { newId } from '../ids.js';
import type { JsonObject } from '../json.js';
import { keysOf } from '../objects.js';
import type { Kind, Optional, Shape } from '../options/kind.js';
import { anyOf, instanceOf, json, listOf, objectOf, text } from '../options/kinds.js';
import { classifyFile } from './classify-file.js';
import { type Media, type MediaContents, type MediaKind, mostMedia } from './media.js';
import { fromBase64, mediaUrlRule, readMediaUrl } from './media-url.js';

interface MediaFacts {
  readonly mimeType?: string;
  readonly filename?: string;
  /** What only some providers know, such as `{ detail: 'high' }` of an image. */
  readonly details?: JsonObject;
}

/** Media for a run: where they are, or their bytes. */
export type GivenMedia =
  | URL
  | Uint8Array
  | Blob
  | (MediaFacts & { readonly url: string | URL })
  | (MediaFacts & { readonly bytes: Uint8Array | Blob });

/** What a run is given beside its message. */
export interface RunMediaOptions {
  readonly images?: readonly GivenMedia[];
  readonly audio?: readonly GivenMedia[];
  readonly videos?: readonly GivenMedia[];
  /** Documents. Bytes whose type or name is that of an image, audio or a video count as such, as an upload does. */
  readonly files?: readonly GivenMedia[];
}

type MediaObject = MediaFacts & { readonly url?: string | URL; readonly bytes?: Uint8Array | Blob };

const bytesOrBlob: Optional = {
  ...anyOf(instanceOf(Uint8Array, 'a Uint8Array'), instanceOf(Blob, 'a Blob')),
  allowed: 'a Uint8Array or a Blob',
};
const address = instanceOf(URL, 'a URL');

const mediaObject = objectOf<MediaObject>({
  url: anyOf(text, address),
  bytes: bytesOrBlob,
  mimeType: text,
  filename: text,
  details: json,
});

const oneOfTwo: Kind = {
  ...mediaObject,
  inside: (given: MediaObject, path, faults) => {
    mediaObject.inside?.(given, path, faults);
    const isOne = (given.url === undefined) !== (given.bytes === undefined);
    if (!isOne) faults.push(`${path} needs url or bytes${given.url === undefined ? '' : ', not both'}.`);
  },
};

const media = listOf({
  ...anyOf(address, bytesOrBlob, oneOfTwo),
  allowed: 'a URL, a Uint8Array, a Blob, or an object with url or bytes',
});

export const runMediaOptions: Shape<RunMediaOptions> = {
  images: media,
  audio: media,
  videos: media,
  files: media,
};

const kinds = { images: 'image', audio: 'audio', videos: 'video', files: 'file' } as const;
const options = keysOf(kinds);

/** As many bytes as a request over HTTP may bring when no setting says otherwise. */
const mostBytes = 52_428_800;

type ReadMedia = Omit<Media, 'hash' | 'size'> & { readonly bytes?: Uint8Array };

/**
 * Reads what a run is given. Bytes are copied before this returns: the application may change them while the run starts,
 * and what is stored must have the hash that it is stored under.
 */
export async function readRunMedia(method: string, given: RunMediaOptions): Promise<readonly ReadMedia[]> {
  const refusal = (what: string) => errors.invalidConfig(`${method}: ${what}`);
  const all = options.flatMap((option) => {
    const list = given[option] ?? [];
    if (list.length > mostMedia)
      throw refusal(`${option} has ${list.length} entries, the limit is ${mostMedia}.`);
    return list.map((one, position) => ({
      kind: kinds[option],
      object: mediaObjectOf(one),
      refuse: (what: string) => refusal(`${option}[${position}] ${what}`),
    }));
  });
  const checkSum = (sizes: readonly number[]) => {
    const size = sizes.reduce((sum, one) => sum + one, 0);
    if (size > mostBytes) throw refusal(`the media have ${size} bytes together, the limit is ${mostBytes}.`);
  };
  checkSum(all.map(({ object }) => sizeOf(object.bytes)));
  const read = await Promise.all(all.map(({ kind, object, refuse }) => readMedia(kind, object, refuse)));
  checkSum(read.map(({ bytes }) => sizeOf(bytes)));
  return read;
}

function sizeOf(content: Uint8Array | Blob | undefined): number {
  if (content === undefined) return 0;
  return content instanceof Blob ? content.size : content.length;
}

/** Stores the bytes of media by their hash. */
export function storeRunMedia(
  read: readonly ReadMedia[],
  contents: MediaContents,
): Promise<readonly Media[]> {
  return Promise.all(
    read.map(async ({ bytes, ...one }) =>
      bytes === undefined ? one : { ...one, hash: await contents.put(bytes), size: bytes.length },
    ),
  );
}

type Refuse = (what: string) => Error;

async function readMedia(kind: MediaKind, given: MediaObject, refuse: Refuse): Promise<ReadMedia> {
  const { url, bytes: content, ...facts } = given;
  if (url !== undefined) return fromUrl(kind, String(url), facts, refuse);
  const bytes = new Uint8Array(content instanceof Blob ? await content.arrayBuffer() : (content ?? []));
  return withBytes(kind, bytes, { ...factsOf(content), ...facts }, refuse);
}

function mediaObjectOf(given: GivenMedia): MediaObject {
  if (given instanceof URL) return { url: given };
  if (given instanceof Uint8Array || given instanceof Blob) return { bytes: given };
  // by name: an object of a class may have inherited them
  const { url, bytes, mimeType, filename, details }: MediaObject = given;
  return {
    ...(url !== undefined && { url }),
    ...(bytes !== undefined && { bytes }),
    ...(mimeType !== undefined && { mimeType }),
    ...(filename !== undefined && { filename }),
    ...(details !== undefined && { details }),
  };
}

/** What a `Blob` says about itself; a `File` has a name. */
function factsOf(content: Uint8Array | Blob | undefined): MediaFacts {
  if (!(content instanceof Blob)) return {};
  const { type, name }: Blob & { readonly name?: string } = content;
  return { ...(type !== '' && { mimeType: type }), ...(name !== undefined && { filename: name }) };
}

function fromUrl(kind: MediaKind, url: string, facts: MediaFacts, refuse: Refuse): ReadMedia {
  const read = readMediaUrl(url);
  if (read === undefined) throw refuse(`is at '${url.slice(0, 100)}': ${mediaUrlRule}.`);
  if ('url' in read) return { kind, id: newId(), url: read.url, ...facts };
  const bytes = fromBase64(read.base64);
  if (bytes === undefined) throw refuse('has a data URL whose content is not base64.');
  return withBytes(
    kind,
    bytes,
    { ...(read.mimeType !== '' && { mimeType: read.mimeType }), ...facts },
    refuse,
  );
}

function withBytes(kind: MediaKind, bytes: Uint8Array, facts: MediaFacts, refuse: Refuse): ReadMedia {
  if (bytes.length === 0) throw refuse('is empty.');
  const known = classifyFile(facts.mimeType ?? '', facts.filename ?? '');
  const { kind: found, format, ...type } = known ?? {};
  return {
    id: newId(),
    ...facts,
    ...type,
    ...(format !== undefined && { format }),
    kind: kind === 'file' ? (found ?? kind) : kind,
    bytes,
  };
}
