import { type CreateForm, createRunForm } from '../../capabilities/runs/schema.js';
import { errors } from '../../core/errors/errors.js';
import type { Json, JsonObject } from '../../core/json.js';
import { classifyFile } from '../../core/media/classify-file.js';
import type { MediaKind } from '../../core/media/media.js';
import { lazyObject } from '../../core/schemas/lazy-schema.js';
import { validatePart } from '../../platform/http/request/validation.js';
import { factoryInputField } from '../common/factory-input.js';
import type { GivenMessage } from './dialects/dialect.js';
import { wireObject } from './dialects/wire.js';
import type { Part } from './task.js';

/** How the client follows the run that its message starts. */
export type Following = Pick<CreateForm, 'stream' | 'background' | 'on_disconnect'>;

/** The fields of a run's form that hold media. */
const mediaFields = { image: 'images', audio: 'audio', video: 'videos', file: 'input_files' } as const;

const texts = lazyObject(() => {
  const { session_id, user_id } = createRunForm.shape;
  return { session_id, user_id };
});

/** The form of the run that a message starts. What is wrong with it is found with the rules of that form. */
export function createFormOf(
  message: GivenMessage,
  userId: string | undefined,
  following: Following,
): CreateForm {
  const { contextId, parts, metadata } = message;
  const { userId: _named, factoryInput, ...kept } = metadata ?? {};
  const given = {
    ...(contextId !== undefined && { session_id: contextId }),
    ...(userId !== undefined && { user_id: userId }),
  };
  const checked = validatePart('body', texts, given, true);
  if (!checked.ok) throw errors.invalidRequest(checked.items);
  return {
    ...checked.value,
    ...following,
    message: messageText(parts),
    ...(Object.keys(kept).length > 0 && { metadata: kept }),
    ...factoryInputField(factoryInput),
    ...mediaIn(parts),
  };
}

/** What the model reads: the texts, and data as JSON. */
function messageText(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => {
      if ('text' in part) return [part.text];
      return 'data' in part ? [JSON.stringify(part.data)] : [];
    })
    .join('\n');
}

/** What the run keeps of a message, to show it again. Its files are among the media of the run. */
export function keptMessageOf({ messageId, parts }: GivenMessage): JsonObject {
  const said = parts.filter((part) => 'text' in part || 'data' in part);
  const [only] = said;
  const isText = said.length === 1 && only !== undefined && 'text' in only && only.metadata === undefined;
  return isText || said.length === 0 ? { messageId } : { messageId, parts: said.map(keptPart) };
}

function keptPart(part: Part): JsonObject {
  return wireObject({ ...part });
}

function mediaIn(parts: readonly Part[]): Partial<Record<(typeof mediaFields)[MediaKind], Json[]>> {
  const media: Partial<Record<(typeof mediaFields)[MediaKind], Json[]>> = {};
  for (const part of parts) {
    if (!('url' in part) && !('raw' in part)) continue;
    const { kind, object } = mediaOf(part);
    const field = mediaFields[kind];
    media[field] = [...(media[field] ?? []), object];
  }
  return media;
}

function mediaOf(part: Extract<Part, { url: string } | { raw: string }>): {
  kind: MediaKind;
  object: JsonObject;
} {
  const { mediaType, filename } = part;
  const path = 'url' in part && URL.canParse(part.url) ? new URL(part.url).pathname : '';
  const found = classifyFile(mediaType ?? '', filename ?? path);
  const [family = ''] = (mediaType ?? '').split('/', 1);
  const kind = found?.kind ?? (isFamily(family) ? family : 'file');
  // a client that does not know the type says image/*
  const type = mediaType?.endsWith('/*') ? undefined : (mediaType ?? found?.mimeType);
  return {
    kind,
    object: {
      ...('url' in part ? { url: part.url } : { content: part.raw }),
      ...(type !== undefined && { mime_type: type }),
      ...(filename !== undefined && { filename }),
      ...(found?.format !== undefined && { format: found.format }),
    },
  };
}

function isFamily(family: string): family is 'image' | 'audio' | 'video' {
  return family === 'image' || family === 'audio' || family === 'video';
}
