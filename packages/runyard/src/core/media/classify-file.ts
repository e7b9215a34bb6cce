import { keysOf } from '../objects.js';
import type { MediaKind } from './media.js';

/** What a file is, by its content type or, when that says nothing, by the end of its name. */

const byType: Record<MediaKind, readonly string[]> = {
  image: types('image', 'png jpeg jpg gif webp bmp tiff tif avif heic heif'),
  audio: types('audio', 'wav wave x-wav mp3 mpeg ogg mp4 m4a x-m4a aac flac'),
  video: types('video', 'x-flv quicktime mpeg mpegs mpgs mpg mp4 webm wmv x-ms-wmv 3gpp'),
  file: [
    ...types(
      'application',
      'pdf json x-javascript javascript x-python msword vnd.ms-powerpoint vnd.ms-excel vnd.ms-outlook zip x-zip-compressed',
    ),
    ...types(
      'application/vnd.openxmlformats-officedocument',
      '.wordprocessingml.document .presentationml.presentation .spreadsheetml.sheet',
      '',
    ),
    ...types('text', 'javascript x-python plain html css markdown csv xml rtf'),
    'application/xml',
    'application/rtf',
    'message/rfc822',
  ],
};

const byExtension: Record<MediaKind, readonly string[]> = {
  image: words('png jpg jpeg gif webp bmp tiff tif avif heic heif'),
  audio: words('wav mp3 ogg m4a aac flac'),
  video: words('flv mov mpeg mpg mp4 webm wmv 3gp'),
  file: words(
    'pdf json js docx doc pptx ppt xlsx xls msg py txt html htm css md markdown csv xml rtf zip eml',
  ),
};

const kindOfType = invert(byType);
const kindOfExtension = invert(byExtension);

const typeOfExtension: Record<string, string> = {
  jpg: 'image/jpeg',
  txt: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  csv: 'text/csv',
  xml: 'text/xml',
  rtf: 'text/rtf',
  py: 'text/x-python',
  js: 'text/javascript',
  pdf: 'application/pdf',
  json: 'application/json',
  zip: 'application/zip',
  eml: 'message/rfc822',
  doc: 'application/msword',
  ppt: 'application/vnd.ms-powerpoint',
  xls: 'application/vnd.ms-excel',
  msg: 'application/vnd.ms-outlook',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  mp3: 'audio/mpeg',
  mov: 'video/quicktime',
  flv: 'video/x-flv',
  '3gp': 'video/3gpp',
};

export interface FileClass {
  readonly kind: MediaKind;
  readonly mimeType: string;
  readonly format: string | undefined;
}

/** Undefined when the file is of no type that a run takes. */
export function classifyFile(contentType: string, filename: string): FileClass | undefined {
  const [first = ''] = contentType.split(';', 1);
  const type = first.trim().toLowerCase();
  const extension = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase();
  if (type !== '' && type !== 'application/octet-stream') {
    const kind = kindOfType.get(type);
    return kind && { kind, mimeType: type, format: extension ?? type.split('/')[1] };
  }
  const kind = extension === undefined ? undefined : kindOfExtension.get(extension);
  if (kind === undefined || extension === undefined) return undefined;
  return { kind, mimeType: typeOfExtension[extension] ?? `${kind}/${extension}`, format: extension };
}

function types(prefix: string, names: string, separator = '/'): string[] {
  return words(names).map((name) => `${prefix}${separator}${name}`);
}

function words(text: string): string[] {
  return text.split(' ');
}

function invert(table: Record<MediaKind, readonly string[]>): ReadonlyMap<string, MediaKind> {
  return new Map(keysOf(table).flatMap((kind) => table[kind].map((name) => [name, kind] as const)));
}
