import { newId } from '../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { Media, MediaContents, MediaKind } from '../media/media.js';
import { fromBase64 } from '../media/media-url.js';
import type { Usage } from '../models/message.js';
import type { RemoteRest } from './journal-records.js';
import type { RemoteRef, RemoteRun } from './remote-service.js';

/** Reads the body of a remote run. What does not have the form of the wire is left out: another version may have written it. */
export async function restOf(
  { body, status }: RemoteRun,
  lastIndex: number,
  ref: RemoteRef,
  contents: MediaContents,
): Promise<RemoteRest> {
  const media = await mediaIn(body, contents);
  const reasoning = textIn(body.reasoning_content);
  const model = textIn(body.model);
  const error = status === 'error' ? errorIn(body) : undefined;
  return {
    ...ref,
    status: status === 'paused' || status === 'error' || status === 'cancelled' ? status : 'completed',
    content: body.content ?? '',
    contentType: textIn(body.content_type) ?? 'str',
    lastIndex,
    tools: objectsIn(body.tools),
    requirements: [
      ...objectsIn(body.requirements),
      ...objectsIn(body.step_requirements),
      ...objectsIn(body.error_requirements),
    ],
    usage: usageIn(body),
    ...(reasoning !== undefined && { reasoning }),
    ...(model !== undefined && { model: { id: model, provider: textIn(body.model_provider) ?? '' } }),
    ...(media.length > 0 && { media }),
    ...(isJsonObject(body.metadata) && { metadata: body.metadata }),
    ...(error !== undefined && { error }),
    ...(textIn(body.workflow_id) !== undefined && { steps: stepsIn(body) }),
  };
}

/** What the wire shows of the steps of a workflow, and what they used. */
function stepsIn({ step_results: results, step_executor_runs: runs, metrics }: JsonObject): JsonObject {
  return {
    ...(results !== undefined && { step_results: results }),
    ...(runs !== undefined && { step_executor_runs: runs }),
    ...(isJsonObject(metrics) && { metrics }),
  };
}

export function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The message is the content; the last event says of which type the failure is. */
function errorIn({ content, error, events }: JsonObject): NonNullable<RemoteRest['error']> {
  const own = isJsonObject(error) ? error : {};
  const last = objectsIn(events).findLast(({ error_type }) => typeof error_type === 'string') ?? {};
  const type = textIn(own.type) ?? textIn(last.error_type);
  const message = textIn(own.message) ?? textIn(last.error) ?? textIn(content) ?? '';
  return { message, ...(type !== undefined && { type }) };
}

const counts = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  totalTokens: 'total_tokens',
  cacheReadTokens: 'cache_read_tokens',
  cacheWriteTokens: 'cache_write_tokens',
  reasoningTokens: 'reasoning_tokens',
  audioInputTokens: 'audio_input_tokens',
  audioOutputTokens: 'audio_output_tokens',
} as const satisfies Record<keyof Usage, string>;

export const nothingUsed: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** What the run, its members and its steps used. */
function usageIn(body: JsonObject): Usage {
  const { metrics, member_responses: members } = body;
  const own = isJsonObject(metrics) ? metricsIn(metrics) : nothingUsed;
  return objectsIn(members).reduce((sum, member) => combined(sum, usageIn(member), 1), own);
}

/** Those of a workflow are the sum of its steps. */
function metricsIn(metrics: JsonObject): Usage {
  const steps = isJsonObject(metrics.steps) ? Object.values(metrics.steps) : [];
  const inside = steps.flatMap((step) =>
    isJsonObject(step) && isJsonObject(step.metrics) ? [metricsIn(step.metrics)] : [],
  );
  const own = Object.fromEntries(
    Object.entries(counts).flatMap(([name, field]) => {
      const count = metrics[field];
      return typeof count === 'number' && Number.isFinite(count) && count > 0 ? [[name, count]] : [];
    }),
  );
  return inside.reduce((sum, one) => combined(sum, one, 1), { ...nothingUsed, ...own });
}

/** What a remote run has used since its last pause. */
export function usedSince(now: Usage, before: Usage | undefined): Usage {
  return before === undefined ? now : combined(now, before, -1);
}

function combined(left: Usage, right: Usage, sign: 1 | -1): Usage {
  const sum: Partial<Record<keyof Usage, number>> = { ...left };
  for (const [name, count] of Object.entries(right)) {
    // the entries of a Usage are its fields
    const field = name as keyof Usage;
    sum[field] = Math.max((sum[field] ?? 0) + sign * count, 0);
  }
  return { ...nothingUsed, ...sum };
}

const mediaFields: readonly (readonly [field: string, kind: MediaKind])[] = [
  ['images', 'image'],
  ['audio', 'audio'],
  ['videos', 'video'],
  ['files', 'file'],
];

/** What the run made beside its content: bytes are stored here, as those of a local run are. */
async function mediaIn(body: JsonObject, contents: MediaContents): Promise<Media[]> {
  const media: Media[] = [];
  for (const [field, kind] of mediaFields)
    for (const given of objectsIn(body[field])) {
      const made = await mediumIn(given, kind, contents);
      if (made !== undefined) media.push(made);
    }
  return media;
}

async function mediumIn(
  given: JsonObject,
  kind: MediaKind,
  contents: MediaContents,
): Promise<Media | undefined> {
  const url = textIn(given.url);
  const mimeType = textIn(given.mime_type);
  const content = textIn(given.content);
  const bytes = content === undefined ? undefined : bytesIn(content, mimeType);
  if (url === undefined && bytes === undefined) return undefined;
  const format = textIn(given.format);
  const filename = textIn(given.filename);
  return {
    kind,
    id: textIn(given.id) ?? newId(),
    ...(mimeType !== undefined && { mimeType }),
    ...(format !== undefined && { format }),
    ...(filename !== undefined && { filename }),
    ...(bytes === undefined ? { url: url ?? '' } : { hash: await contents.put(bytes), size: bytes.length }),
  };
}

/** The wire has documents of the type text/… as their text, and everything else in base64. */
function bytesIn(content: string, mimeType: string | undefined): Uint8Array | undefined {
  return mimeType?.startsWith('text/') ? new TextEncoder().encode(content) : fromBase64(content);
}
