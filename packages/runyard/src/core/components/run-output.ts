import { endingOf } from '../agents/answer/ending.js';
import { RunyardError } from '../errors/runyard-error.js';
import type { Json, JsonObject } from '../json.js';
import { type MadeMedia, madeMedia } from '../media/made-media.js';
import type { MediaContents } from '../media/media.js';
import type { AnswerEnding } from '../models/model.js';
import type { Run, RunFailure } from '../runs/run.js';

/** What is known of a run in whichever way it ended. */
export interface RunFacts extends Partial<AnswerEnding> {
  readonly runId: string;
  readonly sessionId: string;
  /** `str` for a text, else the name of the schema that the content fits, or `dict`. */
  readonly contentType: string;
  /** What the run made beside its content. */
  readonly media: readonly MadeMedia[];
  readonly sessionState: JsonObject;
  readonly metrics: JsonObject;
}

export interface CompletedRun<Content = unknown> extends RunFacts {
  readonly status: 'completed';
  readonly content: Content;
}

/** A run that waits for answers: `continue()` takes them. */
export interface PausedRun<Requirement = unknown> extends RunFacts {
  readonly status: 'paused';
  /** What there was of an answer; an empty text for nothing. */
  readonly content: Json;
  readonly requirements: readonly Requirement[];
}

export interface FailedRun extends RunFacts {
  readonly status: 'error';
  /** What there was of an answer, else the message of the error. */
  readonly content: Json;
  readonly error: RunError;
}

export interface CancelledRun extends RunFacts {
  readonly status: 'cancelled';
  /** What there was of an answer, else the reason. */
  readonly content: Json;
}

/** The output of a run; `status` says which fields it has. */
export type RunOutput<Content = unknown, Requirement = unknown> =
  | CompletedRun<Content>
  | PausedRun<Requirement>
  | FailedRun
  | CancelledRun;

/** Why a run failed. */
export interface RunError extends Omit<RunFailure, 'type'> {
  /** As in the events of the run: `model_provider_error`, for one. */
  readonly code: string;
}

/** `runOrThrow()` rejects with it when a run does not complete with the content that was asked for. */
export class RunOutputError extends RunyardError {
  constructor(readonly output: RunOutput) {
    const [code, message] = faultOf(output);
    super(code, output.status === 'error' ? 500 : 409, message, { fields: { run_id: output.runId } });
    this.name = 'RunOutputError';
  }
}

function faultOf(output: RunOutput): [code: string, message: string] {
  const { status, runId } = output;
  switch (status) {
    case 'error':
      return [output.error.code, output.error.message];
    case 'paused':
      return ['run_paused', `Run ${runId} is paused: it waits for answers. Give them to continue().`];
    case 'cancelled':
      return ['run_cancelled', `Run ${runId} was cancelled.`];
    default:
      return ['output_schema_mismatch', `The content of run ${runId} does not fit its output schema.`];
  }
}

export function runOutputOf<Requirement>(
  { runId, sessionId, status, result }: Run,
  contents: MediaContents,
  requirements: () => readonly Requirement[],
): RunOutput<Json, Requirement> {
  const content = result?.content ?? '';
  const facts = {
    runId,
    sessionId,
    contentType: result?.contentType ?? 'str',
    ...endingOf(result ?? {}),
    media: madeMedia(result?.media, contents),
    sessionState: result?.sessionState ?? {},
    metrics: result?.metrics ?? {},
  };
  switch (status) {
    case 'completed':
      return { ...facts, status, content };
    case 'paused':
      return { ...facts, status, content, requirements: requirements() };
    case 'error': {
      const { type: code = 'run_failed', message = String(content), ...more } = result?.error ?? {};
      return { ...facts, status, content, error: { code, message, ...more } };
    }
    default:
      return { ...facts, status: 'cancelled', content };
  }
}
