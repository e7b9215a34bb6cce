import type { CreateForm } from '../../../capabilities/runs/schema.js';
import { errors } from '../../../core/errors/errors.js';
import type { Json, JsonObject } from '../../../core/json.js';
import { classifyFile } from '../../../core/media/classify-file.js';
import type { ContentPart } from './request-body.js';

/** The fields of a run's form that hold media. */
type MediaField = 'images' | 'audio' | 'videos' | 'input_files';
export type MediaFields = Partial<Record<MediaField, Json[]>> & Partial<CreateForm>;

const fieldsOfKinds = { image: 'images', audio: 'audio', video: 'videos', file: 'input_files' } as const;

/** The text of a message: its parts, each on a line of its own. */
export function textOf(content: string | readonly { readonly type: string }[] | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : []))
    .join('\n');
}

/** Adds the media of a message to those of a form. `at`: the place of the content, for errors. */
export function addMedia(form: MediaFields, content: string | readonly ContentPart[], at: string): void {
  if (typeof content === 'string') return;
  for (const [position, part] of content.entries()) {
    const found = mediaOf(part, `${at}[${position}]`);
    if (found === undefined) continue;
    const [field, object] = found;
    const known: Json[] = form[field] ?? [];
    known.push(object);
    form[field] = known;
  }
}

function mediaOf(part: ContentPart, at: string): [MediaField, JsonObject] | undefined {
  switch (part.type) {
    case 'text':
      return undefined;
    case 'image_url': {
      const { url, detail } = part.image_url;
      return ['images', { ...sourceOf(url, `${at}.image_url.url`), ...(detail != null && { detail }) }];
    }
    case 'input_audio': {
      const { data, format } = part.input_audio;
      return [
        'audio',
        { content: data, format, mime_type: format === 'mp3' ? 'audio/mpeg' : `audio/${format}` },
      ];
    }
    case 'file':
      return fileOf(part.file, `${at}.file`);
  }
}

function fileOf(
  { file_data: data, filename, file_id: id }: Extract<ContentPart, { type: 'file' }>['file'],
  at: string,
): [MediaField, JsonObject] {
  if (id != null)
    throw errors.openaiRequest(
      'There are no stored files here. Send the file itself in file_data.',
      `${at}.file_id`,
      'unsupported_parameter',
    );
  if (data == null)
    throw errors.openaiRequest('A file needs file_data.', `${at}.file_data`, 'missing_required_parameter');
  const source = sourceOf(data, `${at}.file_data`);
  const type = typeof source.mime_type === 'string' ? source.mime_type : '';
  const found = classifyFile(type, filename ?? '');
  return [
    fieldsOfKinds[found?.kind ?? 'file'],
    {
      ...source,
      ...(type === '' && found !== undefined && { mime_type: found.mimeType }),
      ...(found?.format !== undefined && { format: found.format }),
      ...(filename != null && { filename }),
    },
  ];
}

/** An address, or the bytes of a data URL; what is neither is base64. */
function sourceOf(text: string, at: string): JsonObject {
  const data = /^data:([^;,]*)(?:;[^;,]+)*?;base64,/.exec(text);
  if (data !== null) {
    const [head, type = ''] = data;
    return { content: text.slice(head.length), ...(type !== '' && { mime_type: type }) };
  }
  if (/^https?:\/\//i.test(text)) return { url: text };
  if (/^[A-Za-z0-9+/_-]+={0,2}\s*$/.test(text)) return { content: text };
  throw errors.openaiRequest('Send an http(s) address, or a data URL with base64.', at);
}
