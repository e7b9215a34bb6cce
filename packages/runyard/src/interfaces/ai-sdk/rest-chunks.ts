import { isJsonObject, type JsonObject } from '../../core/json.js';
import { fieldsOf } from '../../core/objects.js';
import type { Run } from '../../core/runs/run.js';
import { openRequirements, PausedRun } from '../common/answers/paused-run.js';
import { objectsIn } from '../common/answers/question.js';
import { formOf } from '../common/answers/question-form.js';
import { base64Of } from '../common/shown-media.js';
import type { Chunk, RestedRun } from './chunk.js';
import { contentText, type UiParts } from './ui-parts.js';

/** The last chunks of a message: what the run ended with, or what it waits for. */
export function restChunks(
  parts: UiParts,
  { view }: RestedRun,
  body: Readonly<Record<string, unknown>>,
): Chunk[] {
  const { run } = view;
  const metadata = metadataOf(run, body);
  if (run.status === 'paused') {
    const asked = questionsOf(parts, new PausedRun(run.kind, body), openRequirements(body));
    return [...asked, ...parts.endStep(), finish('tool-calls', metadata)];
  }
  if (run.status === 'error') {
    const errorText = run.result?.error?.message ?? contentText(body.content);
    return [
      ...parts.endStep(),
      { type: 'message-metadata', messageMetadata: metadata },
      { type: 'error', errorText },
      finish('error', metadata),
    ];
  }
  if (run.status === 'cancelled')
    return [
      ...parts.endStep(),
      { type: 'message-metadata', messageMetadata: metadata },
      { type: 'abort', reason: 'The run was cancelled.' },
    ];
  const content = contentText(body.content);
  const text = content === parts.lastText ? [] : parts.whole(content);
  return [
    ...parts.closePart(),
    ...text,
    ...sourcesOf(body),
    ...filesOf(body),
    ...parts.endStep(),
    finish(finishReasons.get(String(body.finish_reason)) ?? 'stop', metadata),
  ];
}

const finishReasons = new Map([
  ['length', 'length'],
  ['content_filter', 'content-filter'],
  ['refusal', 'content-filter'],
  ['other', 'other'],
]);

function finish(finishReason: string, messageMetadata: JsonObject): Chunk {
  return { type: 'finish', finishReason, messageMetadata };
}

/** What the message says of its run. */
export function metadataOf(
  { runId, sessionId, status }: Pick<Run, 'runId' | 'sessionId' | 'status'>,
  body: Readonly<Record<string, unknown>>,
): JsonObject {
  const metrics = fieldsOf(body.metrics ?? {});
  const { input_tokens: input = 0, output_tokens: output = 0, total_tokens: total = 0 } = metrics;
  return {
    runId,
    sessionId,
    status,
    usage: { inputTokens: Number(input), outputTokens: Number(output), totalTokens: Number(total) },
    // an empty list takes the place of the questions that were answered
    requirements: status === 'paused' ? openRequirements(body) : [],
  };
}

/** Questions that no other part can hold are data. */
function questionsOf(parts: UiParts, paused: PausedRun, open: readonly JsonObject[]): Chunk[] {
  const calls = open.flatMap((one) => [one, ...objectsIn(one.executor_requirements)]);
  const shown = calls.flatMap((one) => parts.calls.asked(one));
  const data = paused.questions.flatMap((question): Chunk[] => {
    const { id, asked, message, needsApproval } = question;
    const isCall = calls.some(
      (one) => isJsonObject(one.tool_execution) && one.tool_execution.tool_call_id === id,
    );
    const hasPart = isCall && (asked.kind === 'result' || (asked.kind === 'confirmation' && !needsApproval));
    if (hasPart) return [];
    const form = formOf(question, true);
    // the schema of a form is JSON
    const schema = form && { schema: form.schema as unknown as JsonObject };
    return [
      { type: 'data-requirement', id, data: { id, kind: asked.kind, message, needsApproval, ...schema } },
    ];
  });
  return [...parts.closePart(), ...shown, ...data];
}

/** What the model cites, and what was found in the knowledge: each document once. */
export function sourcesOf({ citations, references }: Readonly<Record<string, unknown>>): Chunk[] {
  const { urls, documents } = fieldsOf(citations ?? {});
  const pages = objectsIn(urls).map(
    ({ url, title }, at): Chunk => ({
      type: 'source-url',
      sourceId: `url-${at + 1}`,
      url: String(url),
      ...(typeof title === 'string' && { title }),
    }),
  );
  const texts = objectsIn(documents).map(
    ({ document_title: title, file_name: filename }, at): Chunk => ({
      type: 'source-document',
      sourceId: `document-${at + 1}`,
      mediaType: 'text/plain',
      title: String(title ?? filename ?? 'document'),
      ...(typeof filename === 'string' && { filename }),
    }),
  );
  const names = objectsIn(references).flatMap(({ references: found }) =>
    objectsIn(found).flatMap(({ name }) => (typeof name === 'string' && name !== '' ? [name] : [])),
  );
  const known = [...new Set(names)].map(
    (title, at): Chunk => ({
      type: 'source-document',
      sourceId: `reference-${at + 1}`,
      mediaType: 'text/plain',
      title,
    }),
  );
  return [...pages, ...texts, ...known];
}

/** What the run made beside its text. */
export function filesOf(body: Readonly<Record<string, unknown>>): Chunk[] {
  const { images: image, videos: video, audio, files: file } = body;
  return Object.entries({ image, video, audio, file }).flatMap(([kind, media]) =>
    objectsIn(media).flatMap(({ url, content, mime_type: type }): Chunk[] => {
      const mimeType = typeof type === 'string' ? type : 'application/octet-stream';
      const shown = typeof content === 'string' ? content : undefined;
      const data = shown && `data:${mimeType};base64,${base64Of({ kind, mimeType }, shown)}`;
      const found = typeof url === 'string' ? url : data;
      return found === undefined ? [] : [{ type: 'file', url: found, mediaType: mimeType }];
    }),
  );
}
