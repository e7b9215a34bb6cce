import { classifyFile } from '../../media/classify-file.js';
import type { Media, MediaContents } from '../../media/media.js';
import { ModelError } from '../model-error.js';

/** A medium with its bytes, wherever they are, and with the type that is known by then. */
export async function loaded(
  media: Media,
  contents: MediaContents,
  provider: string,
): Promise<{ readonly media: Media; readonly bytes: Uint8Array }> {
  if (media.url === undefined || contents.fetch === undefined) {
    return { media, bytes: await bytesOf(media, contents, provider) };
  }
  try {
    const { bytes, mimeType } = await contents.fetch(media.url);
    return { media: { ...media, mimeType: media.mimeType ?? mimeType ?? sniffed(bytes) }, bytes };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ModelError(
      `${provider} takes the ${media.kind} ${nameOf(media)} only as bytes, which could not be fetched. ${reason}`,
      { provider, kind: 'configuration' },
    );
  }
}

/** How many bytes may be fetched for one request to a model. */
const mostFetchedBytes = 52_428_800;

/** The same contents for one request to a model: what is fetched for it comes one after the other, and is bounded. */
export function forOneRequest(contents: MediaContents): MediaContents {
  const fetchBytes = contents.fetch?.bind(contents);
  if (fetchBytes === undefined) return contents;
  let left = mostFetchedBytes;
  let turn: Promise<unknown> = Promise.resolve();
  const fetchNext = async (url: string) => {
    const fetched = await fetchBytes(url);
    left -= fetched.bytes.length;
    if (left < 0)
      throw new Error(`The files of a request have more than ${mostFetchedBytes} bytes together.`);
    return fetched;
  };
  return {
    put: (bytes) => contents.put(bytes),
    get: (hash) => contents.get(hash),
    fetch: (url) => {
      const fetched = turn.then(() => fetchNext(url));
      turn = fetched.catch(() => {});
      return fetched;
    },
  };
}

/** The bytes of a medium that is not at a URL. */
export async function bytesOf(media: Media, contents: MediaContents, provider: string): Promise<Uint8Array> {
  const bytes = media.hash === undefined ? undefined : await contents.get(media.hash);
  if (bytes) return bytes;
  throw new ModelError(`The ${media.kind} ${nameOf(media)} of a message has no stored content.`, {
    provider,
    kind: 'configuration',
  });
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

export function dataUrl(media: Media, bytes: Uint8Array): string {
  return `data:${mimeTypeOf(media, bytes)};base64,${base64(bytes)}`;
}

/** The MIME type as given, else as the first bytes or the end of its name say, else the usual one of its kind. */
export function mimeTypeOf(media: Media, bytes?: Uint8Array): string {
  return media.mimeType ?? (bytes && sniffed(bytes)) ?? typeByName(media) ?? usualTypes[media.kind];
}

function typeByName(media: Media): string | undefined {
  return (classifyFile('', documentName(media)) ?? classifyFile('', `.${media.format}`))?.mimeType;
}

const usualTypes = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  file: 'application/octet-stream',
} as const;

/** Providers refuse a picture whose type is not what its bytes say. */
function sniffed(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(12, bytes.byteLength)).toString(
    'latin1',
  );
  if (start.startsWith('\x89PNG')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('GIF8')) return 'image/gif';
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'image/webp';
  if (start.startsWith('%PDF-')) return 'application/pdf';
  return undefined;
}

/** Whether a file is better read as text than handed over as a document. */
export function isText(mimeType = ''): boolean {
  return /^text\/|[/+](json|xml|yaml|x-yaml|javascript|typescript|csv|toml)\b/.test(mimeType);
}

export function audioFormat(media: Media): string {
  const format = media.format ?? media.mimeType?.split('/')[1]?.replace(/^x-/, '') ?? 'wav';
  return format === 'mpeg' ? 'mp3' : format;
}

export function nameOf(media: Media): string {
  return media.filename ?? media.id;
}

/** A name for a document: that of its file, also when it is at a URL. */
export function documentName(media: Media): string {
  if (media.filename !== undefined || media.url === undefined) return nameOf(media);
  const [path = ''] = media.url.split(/[?#]/, 1);
  return path.slice(path.lastIndexOf('/') + 1) || media.id;
}

/** For a medium in a message of the user: the person who sent it must learn that the model cannot take it. */
export function notTaken(media: Media, provider: string, taken: string): ModelError {
  const what = `${media.kind} ${nameOf(media)}${media.mimeType ? ` (${media.mimeType})` : ''}`;
  return new ModelError(`${provider} does not take the ${what}. It takes ${taken}.`, {
    provider,
    kind: 'configuration',
  });
}

/** For a medium that a tool returned: it may be meant for the person, so the model only learns that it exists. */
export function describedInWords(media: Media): string {
  return `(The tool also returned the ${media.kind} ${nameOf(media)}, which this model cannot take in.)`;
}
