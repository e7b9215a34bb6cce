import type { CreateForm } from '../../capabilities/runs/schema.js';
import { errors } from '../../core/errors/errors.js';
import type { Json, JsonObject } from '../../core/json.js';
import { classifyFile } from '../../core/media/classify-file.js';
import type { MediaKind } from '../../core/media/media.js';
import { factoryInputField } from '../common/factory-input.js';
import type { ChatBody, UiMessage, UiPart } from './chat-body.js';
import { textOf } from './conversation.js';

/** The fields of a run's form that hold media. */
const mediaFields = { image: 'images', audio: 'audio', video: 'videos', file: 'input_files' } as const;

/** A client that leaves comes back for the stream: its run continues. */
export const following = { stream: true, on_disconnect: 'continue' } as const;

/** The form of the run that a message of the user starts. */
export function createFormOf(body: ChatBody, message: UiMessage, isAnonymous: boolean): CreateForm {
  const { id, userId, dependencies, metadata, factoryInput } = body;
  return {
    ...following,
    message: textOf(message),
    session_id: id,
    ...(isAnonymous && userId !== undefined && { user_id: userId }),
    ...(dependencies !== undefined && { dependencies }),
    ...(metadata !== undefined && { metadata }),
    ...factoryInputField(factoryInput),
    ...mediaIn(message),
  };
}

function mediaIn({ parts }: UiMessage): Partial<Record<(typeof mediaFields)[MediaKind], Json[]>> {
  const media: Partial<Record<(typeof mediaFields)[MediaKind], Json[]>> = {};
  for (const part of parts) {
    if (part.type !== 'file') continue;
    const { kind, object } = mediaOf(part);
    const field = mediaFields[kind];
    media[field] = [...(media[field] ?? []), object];
  }
  return media;
}

const dataUrl = /^data:([^;,]*)([^,]*),/i;

function mediaOf({ url = '', mediaType = '', filename }: UiPart): { kind: MediaKind; object: JsonObject } {
  const data = dataUrl.exec(url);
  if (data === null && !/^https?:/i.test(url))
    throw refusedFile('a file needs a data URL, or an address that begins with https://');
  const type = mediaType || (data?.[1] ?? '');
  const path = data === null && URL.canParse(url) ? new URL(url).pathname : '';
  const found = classifyFile(type, filename ?? path);
  const [family = ''] = type.split('/', 1);
  const kind = found?.kind ?? (isFamily(family) ? family : 'file');
  return {
    kind,
    object: {
      ...(data === null
        ? { url }
        : { content: base64Of(url.slice(data[0].length), /;base64$/i.test(data[2] ?? '')) }),
      ...(type !== '' && { mime_type: type }),
      ...(filename !== undefined && { filename }),
      ...(found?.format !== undefined && { format: found.format }),
    },
  };
}

function base64Of(text: string, isEncoded: boolean): string {
  if (isEncoded) return text;
  try {
    return Buffer.from(decodeURIComponent(text)).toString('base64');
  } catch {
    throw refusedFile('the data URL of a file without base64 must be percent-encoded UTF-8');
  }
}

function refusedFile(message: string): Error {
  const loc = ['body', 'messages', 'parts', 'url'];
  return errors.invalidRequest([{ type: 'value_error', loc, msg: `Value error, ${message}`, input: null }]);
}

function isFamily(family: string): family is 'image' | 'audio' | 'video' {
  return family === 'image' || family === 'audio' || family === 'video';
}
