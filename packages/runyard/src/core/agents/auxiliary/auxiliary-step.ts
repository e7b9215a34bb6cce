import { reasonOf } from '../../errors/reason.js';
import { newId } from '../../ids.js';
import type { Json } from '../../json.js';
import { responseOf, withModel } from '../../models/called-model.js';
import type { Message, Role } from '../../models/message.js';
import type { Model, OutputFormat, ToolDefinition } from '../../models/model.js';
import { withPace } from '../../models/pace/paced-model.js';
import type { RunContext, StepSpec } from '../../runs/context.js';
import { type AuxiliaryRecord, type AuxiliaryRole, auxiliaryRecord } from '../journal-records.js';
import { elapsedSeconds, modelRecordOf } from '../turns/model-step.js';
import { withOutput } from './structured-request.js';

export interface AuxiliaryCall {
  /** The same when the run is executed again. */
  readonly key: string;
  readonly role: AuxiliaryRole;
  readonly model: Model;
  readonly messages: readonly Message[];
  readonly output?: OutputFormat;
  /** What the model may ask for; the caller finds it in the record. */
  readonly tools?: readonly ToolDefinition[];
  /** What the step has to remember beside the answer. */
  readonly input?: Json;
  /** The step that it is a part of. Left out: the run. */
  readonly parentKey?: string;
}

/** A model call beside the conversation: journaled, counted in the metrics under its role, in no transcript. */
export function callAuxiliaryModel(context: RunContext, call: AuxiliaryCall): Promise<AuxiliaryRecord> {
  return context.step(call.key, specOf(call), ({ signal }) => answered(context, call, signal));
}

/**
 * The same for what a run can do without. A failed call is recorded as such and returns undefined, so that the run
 * continues without it, also whenever it is executed again.
 */
export async function tryAuxiliaryModel(
  context: RunContext,
  call: AuxiliaryCall,
): Promise<AuxiliaryRecord | undefined> {
  // a limit that is met does not end a run for the sake of what it can do without
  if (context.recorded(call.key) === undefined && !context.affords()) return undefined;
  const record = await context.step(call.key, specOf(call), async ({ signal }) => {
    try {
      return await answered(context, call, signal);
    } catch (error) {
      signal.throwIfAborted();
      const facts = { err: error, runId: context.run.runId, model: call.model.id };
      context.log.warn(facts, `the ${call.role} failed; the run continues without it`);
      return failedRecord(call, error);
    }
  });
  return record.failure === undefined ? record : undefined;
}

function specOf({ role, input, parentKey }: AuxiliaryCall): StepSpec<AuxiliaryRecord> {
  return {
    kind: 'auxiliary',
    name: role,
    record: auxiliaryRecord,
    failed: ({ failure }) => failure !== undefined,
    ...(input !== undefined && { input }),
    ...(parentKey !== undefined && { parentKey }),
  };
}

async function answered(
  context: RunContext,
  { role, model, messages, output, tools = [] }: AuxiliaryCall,
  signal: AbortSignal,
): Promise<AuxiliaryRecord> {
  const started = performance.now();
  const asked = output === undefined ? { messages } : withOutput(model, messages, output);
  const called = withPace(context, model);
  const response = await withModel(context, called, () =>
    called.generate({ ...asked, tools, media: context.ports.media }, { signal }),
  );
  return {
    ...modelRecordOf(responseOf(model, response), elapsedSeconds(started)),
    role,
    model: { id: model.id, provider: model.provider },
  };
}

function failedRecord({ role, model }: AuxiliaryCall, error: unknown): AuxiliaryRecord {
  return {
    content: '',
    finishReason: 'other',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    timeToFirstToken: 0,
    role,
    model: { id: model.id, provider: model.provider },
    failure: reasonOf(error),
  };
}

/** A message for an auxiliary call. */
export function plainMessage(role: Role, content: string): Message {
  return { id: newId(), role, content, createdAt: Math.floor(Date.now() / 1000) };
}
