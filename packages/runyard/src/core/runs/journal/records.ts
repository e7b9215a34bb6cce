import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media } from '../../media/media.js';
import type { Usage } from '../../models/message.js';
import type { RunInput, RunKind, RunLineage, RunOptions, RunResult, StepRecord } from '../run.js';
import { type Codec, inputRecord, outputRecord } from './codec.js';
import type { RunUsage } from './ports.js';
import {
  either,
  json,
  jsonObject,
  list,
  nullable,
  number,
  object,
  optional,
  partly,
  record,
  type Shaped,
  text,
  variant,
  word,
  yes,
} from './shapes.js';

/** What every run holds beside its component's own records. Stored data. */

export const mediaList = partly<readonly Media[]>(list(jsonObject));

/** A model of the application may report anything here: readers count finite numbers only. */
const tokenCounts = partly<Usage>(jsonObject);

export const runInput = partly<RunInput>(object({ content: text, media: mediaList, options: jsonObject }));

export const runLineage = partly<RunLineage>(record(either(text, number)));

export const runResult = partly<RunResult>(
  object({
    content: json,
    contentType: text,
    media: optional(mediaList),
    metrics: optional(jsonObject),
    metadata: optional(jsonObject),
    sessionState: optional(jsonObject),
    error: optional(object({ type: text, message: text })),
    extra: optional(jsonObject),
  }),
);

/** Any record: only what is JSON. */
export const anyRecord: Codec<Json> = outputRecord('value', 1, json);

/** step `introduction`: what a component says when a session begins, before the first message. */
export const introductionRecord = outputRecord('introduction', 1, object({ content: text }));

/** steps `continue:<attempt>`: what came with the request to continue. */
export const continueRecord = outputRecord(
  'continuation',
  1,
  object({
    /** The turn that it stands before. */
    turn: number,
    /** What the user says then; null when there is nothing to add. */
    input: nullable(text),
    /** What the request changes for the rest of the run. */
    options: partly<JsonObject & Partial<RunOptions>>(jsonObject),
  }),
);

export type ContinueRecord = Shaped<typeof continueRecord.shape>;

/** Input of the same steps: what they remember of the executions before. */
export const continueInput = inputRecord(
  'executions before',
  1,
  object({
    /** The index of the first event after it. */
    first_event: optional(number),
    /** What was used for steps that were removed. */
    spent: optional(
      partly<RunUsage>(
        object({ runs: list(jsonObject), models: list(record(nullable(either(text, number)))) }),
      ),
    ),
    executed_ms: optional(number),
  }),
);

/** Input of a step that is the work of a run of its own: which component runs, and on what. */
export const childInput = inputRecord(
  'run inside',
  1,
  object({
    runId: text,
    kind: word<RunKind>('agent', 'team', 'workflow'),
    componentId: text,
    componentName: nullable(text),
    model: nullable(text),
    modelProvider: nullable(text),
    input: runInput,
    fields: jsonObject,
    prefix: optional(text),
    depth: number,
  }),
);

export type ChildInput = Shaped<typeof childInput.shape>;

/** The same, as far as accounts of what was used read it. */
export const childModel = inputRecord(
  'model of a run inside',
  1,
  object({ model: optional(nullable(text)), modelProvider: optional(nullable(text)) }),
);

/** Its output: how that run ended. */
export const childOutcome = outputRecord(
  'end of a run inside',
  1,
  object({ runId: text, status: word('completed', 'error'), result: runResult }),
);

export type ChildOutcome = Shaped<typeof childOutcome.shape>;

const calledModel = object({ id: text, provider: text });

/** What every model call costs, whatever it is for: a part of the records of the steps `model`, `auxiliary` and `try`. */
export const callFields = {
  usage: tokenCounts,
  model: optional(calledModel),
  /** The answer came from the response cache. */
  cached: optional(yes),
};

export const callRecord = outputRecord(
  'model call',
  1,
  object({
    ...callFields,
    role: optional(text),
    failure: optional(text),
    timeToFirstToken: optional(number),
  }),
);

/** Input of the steps of a call that failed and was made again. */
export const tryInput = inputRecord(
  'failed try',
  1,
  object({ delay_ms: number, model: optional(calledModel) }),
);

/** Output of a `wait` step that asked how an interrupted step ended. */
export const outcomeAnswer = outputRecord(
  'outcome',
  1,
  variant('outcome', { retry: {}, done: { output: json }, failed: { message: text } }),
);

/** How a step ended whose end was not observed. */
export type OutcomeAnswer = Shaped<typeof outcomeAnswer.shape>;

/** Input of a `wait` step as far as the engine reads it: when the question answers itself. */
export const anyQuestion = inputRecord('question', 1, jsonObject);

export const waitInput = inputRecord('question', 1, object({ due_at: optional(number) }));

/** What ended a step, in words; undefined for one that nothing ended, or that a failure did which the run handled. */
export function thrownBy({ error }: StepRecord): { message: string; name?: string } | undefined {
  if (!isJsonObject(error) || typeof error.message !== 'string') return undefined;
  return { message: error.message, ...(typeof error.name === 'string' && { name: error.name }) };
}
