import type { Media, MediaContents } from '../../media.js';
import { ModelError } from '../model-error.js';

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

/** The MIME type as given, else as the first bytes tell, else the usual one of its kind. */
export function mimeTypeOf(media: Media, bytes?: Uint8Array): string {
  return media.mimeType ?? (bytes && sniffed(bytes)) ?? usualTypes[media.kind];
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

/** For a medium in a message of the user: the person who sent it must learn that the model cannot take it. */
export function notTaken(media: Media, provider: string, taken: string): ModelError {
  const what = `${media.kind} ${nameOf(media)}${media.mimeType ? ` (${media.mimeType})` : ''}`;
  return new ModelError(`${provider} does not take the ${what}. It takes ${taken}.`, {
    provider,
    kind: 'configuration',
  });
}

/** For a medium that a tool returned: it may be meant for the person, so the model is only told of it. */
export function toldInWords(media: Media): string {
  return `(The tool also returned the ${media.kind} ${nameOf(media)}, which this model cannot take in.)`;
}
