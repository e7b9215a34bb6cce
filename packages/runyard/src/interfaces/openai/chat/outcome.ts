import type { Services } from '../../../capabilities/capability.js';
import { messagesOf } from '../../../core/agents/transcript.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { Media } from '../../../core/media/media.js';
import type { Citation } from '../../../core/models/citations.js';
import type { Run, StepRecord } from '../../../core/runs/run.js';
import { usageOf } from '../../../core/runs/run-usage.js';
import { openRequirements, PausedRun } from '../../common/answers/paused-run.js';
import { objectsIn } from '../../common/answers/question.js';
import { base64Of } from '../../common/shown-media.js';
import type { OpenaiError } from '../protocol-errors.js';
import { shownCallId } from './call-ids.js';

/** A run with its journal. */
export interface RunJournal {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** How a run ended or paused, in the words of chat completions. */
export interface Outcome {
  /** Null for an answer that is a refusal, and for calls without a text. */
  readonly content: string | null;
  readonly refusal: string | null;
  readonly reasoning: string | undefined;
  readonly toolCalls: readonly JsonObject[];
  readonly annotations: readonly JsonObject[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly usage: TokenCounts;
  /** What chat completions have no words for. */
  readonly runyard: JsonObject;
  /** Set for a run that gave no answer. */
  readonly failure?: Failure;
}

export interface Failure {
  readonly status: number;
  readonly error: OpenaiError;
}

/** The outcome of a run that has ended or paused. `spent`: what an earlier answer of the same run has counted. */
export async function outcomeOf(
  { runs }: Services,
  view: RunJournal,
  spent: TokenCounts = noTokens,
): Promise<Outcome> {
  const { run, steps } = view;
  const { result } = run;
  const usage = countsWithout(tokensOf(view), spent);
  const known = { usage, reasoning: result?.reasoningContent, refusal: null, annotations: [], toolCalls: [] };
  const about = { run_id: run.runId, session_id: run.sessionId, status: run.status };
  if (run.status === 'paused') {
    const body = await runs.body(view, 'runyard');
    const waiting = waitingOf(run, body);
    const isCall = waiting.calls.length > 0;
    return {
      ...known,
      content: [lastWords(run, steps), waiting.questions].filter((one) => one !== '').join('\n\n') || null,
      toolCalls: waiting.calls,
      finishReason: isCall ? 'tool_calls' : 'stop',
      runyard: { ...about, ...(waiting.others.length > 0 && { requirements: waiting.others }) },
    };
  }
  const failure = failureOf(run);
  const files = failure === undefined ? await filesOf(run, (media) => runs.showMedia(run, media)) : [];
  const text = textOf(result?.content ?? '');
  const isRefusal = result?.finishReason === 'refusal';
  return {
    ...known,
    content: isRefusal ? null : text,
    refusal: isRefusal ? text : null,
    annotations: (result?.citations?.sources ?? []).flatMap((source) => annotationOf(source, text)),
    finishReason: reasonOf(result?.finishReason),
    runyard: { ...about, ...(files.length > 0 && { files }) },
    ...(failure && { failure }),
  };
}

function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  return content === null ? '' : JSON.stringify(content);
}

function reasonOf(reason: string | undefined): Outcome['finishReason'] {
  return reason === 'length' || reason === 'content_filter' ? reason : 'stop';
}

/** What the model said with the calls that a run waits for. A workflow says nothing itself. */
function lastWords(run: Run, steps: readonly StepRecord[]): string {
  if (run.kind === 'workflow') return '';
  const last = messagesOf(run, steps).findLast(({ role }) => role === 'assistant');
  return last?.toolCalls === undefined ? '' : last.content;
}

/** What a paused run waits for: calls that the client executes, and everything else. */
function waitingOf(run: Run, body: Readonly<Record<string, unknown>>) {
  const { questions } = new PausedRun(run.kind, body);
  const results = new Set(questions.filter(({ asked }) => asked.kind === 'result').map(({ id }) => id));
  const calls: JsonObject[] = [];
  const others: JsonObject[] = [];
  for (const requirement of openRequirements(body)) {
    const inside = objectsIn(requirement.executor_requirements);
    const executed = (inside.length > 0 ? inside : [requirement]).flatMap((one) => {
      const [call] = objectsIn([one.tool_execution]);
      return call !== undefined && results.has(String(call.tool_call_id)) ? [call] : [];
    });
    if (executed.length === 0) others.push(requirement);
    for (const call of executed) calls.push(callBody(run.runId, call));
  }
  const asked = questions.filter(({ id }) => !results.has(id)).map(({ message }) => message);
  return { calls, others, questions: asked.join('\n') };
}

function callBody(
  runId: string,
  { tool_call_id: id, tool_name: name, tool_args: given }: JsonObject,
): JsonObject {
  return {
    id: shownCallId({ runId, callId: String(id) }),
    type: 'function',
    function: { name: String(name), arguments: JSON.stringify(given ?? {}) },
  };
}

/** Faults of the request itself: to repeat it changes nothing. */
const faultsOfRequest = new Set(['input_check_error', 'output_check_error', 'tool_name_taken']);

function failureOf({ status, result }: Run): Failure | undefined {
  if (status === 'cancelled')
    return {
      status: 409,
      error: {
        message: 'The run was cancelled.',
        type: 'invalid_request_error',
        param: null,
        code: 'run_cancelled',
      },
    };
  if (status !== 'error') return undefined;
  const { type, message } = result?.error ?? { type: 'run_failed', message: textOf(result?.content ?? '') };
  const isOfRequest = faultsOfRequest.has(type);
  return {
    status: isOfRequest ? 400 : 500,
    error: { message, type: isOfRequest ? 'invalid_request_error' : 'server_error', param: null, code: type },
  };
}

/** A source without a place supports the whole text. */
function annotationOf({ url, title, start, end }: Citation, text: string): JsonObject[] {
  if (url === undefined) return [];
  const place = { start_index: start ?? 0, end_index: end ?? text.length };
  return [{ type: 'url_citation', url_citation: { url, title: title ?? url, ...place } }];
}

/** The files that a run made, each as an address: a data URL if it is stored here. */
async function filesOf(
  { result }: Run,
  show: (media: Media) => Promise<string | undefined>,
): Promise<JsonObject[]> {
  const files: JsonObject[] = [];
  for (const media of result?.media ?? []) {
    const { kind, mimeType, filename } = media;
    const url = media.url ?? dataUrl(media, await show(media));
    if (url === undefined) continue;
    files.push({
      kind,
      url,
      ...(mimeType !== undefined && { mime_type: mimeType }),
      ...(filename !== undefined && { filename }),
    });
  }
  return files;
}

function dataUrl(media: Media, shown: string | undefined): string | undefined {
  if (shown === undefined) return undefined;
  return `data:${media.mimeType ?? 'application/octet-stream'};base64,${base64Of(media, shown)}`;
}

/** Tokens of all model calls, those of members and steps included. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
  readonly audioInput: number;
  readonly audioOutput: number;
}

export const noTokens: TokenCounts = {
  input: 0,
  output: 0,
  cached: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
};

export function tokensOf({ run, steps }: RunJournal): TokenCounts {
  const { models } = usageOf(run, steps);
  const sum = (name: string) =>
    models.reduce(
      (total, model) => total + Number(Object.entries(model).find(([key]) => key === name)?.[1] ?? 0),
      0,
    );
  return {
    input: sum('inputTokens'),
    output: sum('outputTokens'),
    cached: sum('cacheReadTokens'),
    reasoning: sum('reasoningTokens'),
    audioInput: sum('audioInputTokens'),
    audioOutput: sum('audioOutputTokens'),
  };
}

function countsWithout(all: TokenCounts, spent: TokenCounts): TokenCounts {
  const rest = (name: keyof TokenCounts) => Math.max(0, all[name] - spent[name]);
  return {
    input: rest('input'),
    output: rest('output'),
    cached: rest('cached'),
    reasoning: rest('reasoning'),
    audioInput: rest('audioInput'),
    audioOutput: rest('audioOutput'),
  };
}
