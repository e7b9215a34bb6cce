import type { JsonObject } from '../../json.js';
import type { ToolCall } from '../../models/message.js';
import { inputFieldsOf } from '../questions/input-fields.js';
import type { ToolRequirement } from '../questions/requirement.js';
import type { Tool } from '../tool.js';
import { closedGate, type GateKind, openGate } from './gate.js';
import { parseArguments } from './parse-arguments.js';
import { validateModelsPart } from './validate-arguments.js';

/** What a call waits for: the part of its requirement that the tool decides. */
export type WaitingCall = Pick<
  ToolRequirement,
  'args' | 'inputFields' | 'questions' | 'answerIsResult' | 'silent'
> & { readonly kind: GateKind };

/**
 * Says what a call waits for, or undefined when it needs no answer. A call that could not be executed with any
 * answer waits for none either: `executeTool` reports the fault to the model.
 */
export async function judgeCall(tool: Tool, call: ToolCall): Promise<WaitingCall | undefined> {
  if (tool.gate === openGate) return undefined;
  const parsed = parseArguments(call.arguments);
  if (!parsed.ok) return undefined;
  try {
    const valid = await validateModelsPart(tool, parsed.args);
    return valid.ok ? await waitingCall(tool, parsed.args, valid.value) : undefined;
  } catch {
    // the application's own check failed: the gate stays closed, and the call fails at it with that reason
    return undefined;
  }
}

async function waitingCall(tool: Tool, args: JsonObject, value: unknown): Promise<WaitingCall | undefined> {
  const { gate } = tool;
  const kind = await closedGate(gate, value);
  if (kind === null) return undefined;
  if (gate.askPerson !== undefined) {
    const form = gate.askPerson(value);
    if ('questions' in form) return { kind, args, questions: form.questions };
    return { kind, args, inputFields: form.fields, answerIsResult: true };
  }
  return {
    kind,
    args,
    ...(kind === 'user_input' && { inputFields: inputFieldsOf(tool) }),
    ...(kind === 'external_execution' && gate.externalExecutionSilent && { silent: true }),
  };
}
