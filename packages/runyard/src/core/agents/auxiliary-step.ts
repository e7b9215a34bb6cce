import { newId } from '../ids.js';
import type { Message, Role } from '../models/message.js';
import type { Model, OutputFormat } from '../models/model.js';
import type { RunContext } from '../runs/context.js';
import type { AuxiliaryRecord, AuxiliaryRole } from './journal-records.js';
import { elapsedSeconds, modelRecordOf } from './model-step.js';

export interface AuxiliaryCall {
  /** The same when the run is executed again. */
  readonly key: string;
  readonly role: AuxiliaryRole;
  readonly model: Model;
  readonly messages: readonly Message[];
  readonly output?: OutputFormat;
}

/** A model call beside the conversation: journaled, counted in the metrics under its role, in no transcript. */
export function callAuxiliaryModel(context: RunContext, call: AuxiliaryCall): Promise<AuxiliaryRecord> {
  const { key, role, model, messages, output } = call;
  return context.step<AuxiliaryRecord>(key, { kind: 'auxiliary', name: role }, async ({ signal }) => {
    const started = performance.now();
    const request = { messages, tools: [], media: context.media, ...(output !== undefined && { output }) };
    const response = await model.generate(request, { signal });
    return {
      ...modelRecordOf(response, elapsedSeconds(started)),
      role,
      model: { id: model.id, provider: model.provider },
    };
  });
}

/** A message for an auxiliary call. */
export function plainMessage(role: Role, content: string): Message {
  return { id: newId(), role, content, createdAt: Math.floor(Date.now() / 1000) };
}
