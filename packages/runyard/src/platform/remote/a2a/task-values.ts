import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { RemoteAnswers, RemoteMedia, RemoteRun } from '../../../core/remote/remote-service.js';
import type { RunStatus } from '../../../core/runs/run.js';
import type { A2aVersion } from './agent-card.js';

/** The values of A2A, of both versions, read as those of the run API. */

const statuses: ReadonlyMap<string, RunStatus> = new Map<string, RunStatus>([
  ['submitted', 'pending'],
  ['working', 'running'],
  ['input-required', 'paused'],
  ['completed', 'completed'],
  ['failed', 'error'],
  ['canceled', 'cancelled'],
  ['rejected', 'error'],
  ['auth-required', 'error'],
]);

/** The fields of a run's body that hold files, by the family of their type; others are in `files`. */
const mediaFields: ReadonlyMap<string, string> = new Map([
  ['image', 'images'],
  ['audio', 'audio'],
  ['video', 'videos'],
]);

/** `TASK_STATE_INPUT_REQUIRED` of 1.0 is `input-required` of 0.3. */
function statusOf(state: Json | undefined): RunStatus {
  const name = String(state)
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return statuses.get(name) ?? 'running';
}

/** What a stream or an answer holds. */
export type A2aUpdate =
  | { readonly type: 'task'; readonly task: JsonObject }
  | { readonly type: 'message'; readonly message: JsonObject }
  | { readonly type: 'status'; readonly taskId: string | undefined }
  | {
      readonly type: 'text';
      readonly taskId: string | undefined;
      readonly text: string;
      readonly source: string;
    };

export function updateIn(result: JsonObject): A2aUpdate | undefined {
  const { task, message, statusUpdate, artifactUpdate, kind } = result;
  if (isJsonObject(task)) return { type: 'task', task };
  if (isJsonObject(message)) return { type: 'message', message };
  if (isJsonObject(statusUpdate)) return { type: 'status', taskId: textOf(statusUpdate.taskId) };
  if (isJsonObject(artifactUpdate)) return artifactText(artifactUpdate);
  if (kind === 'task') return { type: 'task', task: result };
  if (kind === 'message') return { type: 'message', message: result };
  if (kind === 'status-update') return { type: 'status', taskId: textOf(result.taskId) };
  if (kind === 'artifact-update') return artifactText(result);
  return textOf(result.id) === undefined ? undefined : { type: 'task', task: result };
}

function artifactText(update: JsonObject): A2aUpdate {
  const artifact = isJsonObject(update.artifact) ? update.artifact : {};
  const source = textOf(artifact.artifactId) ?? '';
  return { type: 'text', taskId: textOf(update.taskId), text: textIn(partsOf(artifact)), source };
}

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function partsOf({ parts }: JsonObject): JsonObject[] {
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

export function textIn(parts: readonly JsonObject[]): string {
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('');
}

/** A task as the body of a run. */
export function runOf(task: JsonObject): RemoteRun {
  const status = isJsonObject(task.status) ? task.status : {};
  const said = isJsonObject(status.message) ? status.message : {};
  const runStatus = statusOf(status.state);
  const artifacts = objectsIn(task.artifacts);
  const spoken = objectsIn(task.history).filter(({ role }) => role === 'agent' || role === 'ROLE_AGENT');
  const answers = artifacts.length > 0 ? artifacts : spoken.slice(-1);
  const shown = runStatus === 'completed' && answers.length === 0 ? [said] : answers;
  const metrics = [...spoken, ...artifacts, task].map(metricsOf).findLast((found) => found !== undefined);
  const explained = textIn(partsOf(said));
  return {
    status: runStatus,
    body: {
      ...answerBody(shown.flatMap(partsOf)),
      ...(metrics !== undefined && { metrics }),
      ...(runStatus === 'error' && { error: { message: explained || String(status.state) } }),
      ...(runStatus === 'paused' && pauseBody(task, said, status)),
    },
  };
}

/** A message that is the whole answer: there is no task. */
export function runOfMessage(message: JsonObject): RemoteRun {
  return { status: 'completed', body: answerBody(partsOf(message)) };
}

function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function metricsOf({ metadata }: JsonObject): JsonObject | undefined {
  return isJsonObject(metadata) && isJsonObject(metadata.metrics) ? metadata.metrics : undefined;
}

/** Texts are the content, or else data; files are media of the run. */
function answerBody(parts: readonly JsonObject[]): JsonObject {
  const text = textIn(parts);
  const data = parts.find((part) => part.data !== undefined)?.data;
  const content = text === '' && data !== undefined ? data : text;
  const media: Record<string, JsonObject[]> = {};
  for (const part of parts) {
    const file = fileIn(part);
    if (file === undefined) continue;
    const [family = ''] = String(file.mime_type ?? '').split('/', 1);
    const field = mediaFields.get(family) ?? 'files';
    media[field] = [...(media[field] ?? []), file];
  }
  return { content, content_type: typeof content === 'string' ? 'str' : 'dict', ...media };
}

/** A part of 1.0 has `url` or `raw`, one of 0.3 a `file`. */
function fileIn(part: JsonObject): JsonObject | undefined {
  const old = isJsonObject(part.file) ? part.file : {};
  const url = textOf(part.url) ?? textOf(old.uri);
  const raw = textOf(part.raw) ?? textOf(old.bytes);
  if (url === undefined && raw === undefined) return undefined;
  const type = textOf(part.mediaType) ?? textOf(old.mimeType);
  const name = textOf(part.filename) ?? textOf(old.name);
  // the wire of runs has the text of a text file and the base64 of any other
  const content =
    raw !== undefined && type?.startsWith('text/') ? Buffer.from(raw, 'base64').toString('utf8') : raw;
  return {
    ...(content === undefined ? { url: url ?? '' } : { content }),
    ...(type !== undefined && { mime_type: type }),
    ...(name !== undefined && { filename: name }),
  };
}

/** The field of a question that an agent asks in words. */
const wordsField = 'answer';

/** What a Runyard waits for is data; any other agent asks in words, which a person answers in words. */
function pauseBody(task: JsonObject, said: JsonObject, status: JsonObject): JsonObject {
  const data = partsOf(said).find(
    (part) => isJsonObject(part.data) && Array.isArray(part.data.requirements),
  )?.data;
  if (isJsonObject(data)) {
    const requirements = objectsIn(data.requirements);
    return {
      requirements,
      tools: requirements.flatMap(({ tool_execution: call }) => (isJsonObject(call) ? [call] : [])),
    };
  }
  const id = textOf(said.messageId) ?? `${String(task.id)}-${String(status.timestamp)}`;
  const call = {
    tool_call_id: id,
    tool_name: 'input_required',
    tool_args: {},
    tool_call_error: null,
    result: null,
    requires_user_input: true,
    user_input_schema: [
      { name: wordsField, field_type: 'str', description: textIn(partsOf(said)) || null, value: null },
    ],
  };
  return { tools: [call], requirements: [{ id, tool_execution: call, asked_in_words: true }] };
}

/** The parts of a message that answers. */
export function answerParts({ requirements }: RemoteAnswers, version: A2aVersion): JsonObject[] {
  const words = requirements.filter((one) => one.asked_in_words === true);
  if (words.length > 0) return words.map((one) => textPart(wordsIn(one), version));
  const data = { requirements: [...requirements] };
  return [version === '1.0' ? { data } : { kind: 'data', data }];
}

function wordsIn({ tool_execution: call, confirmation_note: note }: JsonObject): string {
  const schema = isJsonObject(call) ? objectsIn(call.user_input_schema) : [];
  const value = schema.find(({ name }) => name === wordsField)?.value ?? null;
  return String(value ?? note ?? 'No.');
}

export function textPart(text: string, version: A2aVersion): JsonObject {
  return version === '1.0' ? { text } : { kind: 'text', text };
}

export function filePart({ media, bytes }: RemoteMedia, version: A2aVersion): JsonObject {
  const raw = bytes && Buffer.from(bytes).toString('base64');
  const { url, mimeType, filename } = media;
  if (version === '1.0')
    return {
      ...(raw === undefined ? { url: url ?? '' } : { raw }),
      ...(mimeType !== undefined && { mediaType: mimeType }),
      ...(filename !== undefined && { filename }),
    };
  const file = {
    ...(raw === undefined ? { uri: url ?? '' } : { bytes: raw }),
    ...(mimeType !== undefined && { mimeType }),
    ...(filename !== undefined && { name: filename }),
  };
  return { kind: 'file', file };
}
