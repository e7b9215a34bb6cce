import type { JsonObject } from '../../json.js';
import type { RunContext } from '../../runs/context.js';
import { read } from '../../runs/journal/codec.js';
import type { Difference, ExpectedStep } from '../../runs/journal/journal-match.js';
import type { StepRecord } from '../../runs/run.js';
import { compileJsonSchema } from '../../schemas/json-schema.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { GateKind, ToolGate } from '../../tools/call/gate.js';
import { parseArguments } from '../../tools/call/parse-arguments.js';
import { inputFieldsOf } from '../../tools/questions/input-fields.js';
import type { InputField } from '../../tools/questions/person-form.js';
import type { ToolRequirement } from '../../tools/questions/requirement.js';
import type { Tool } from '../../tools/tool.js';
import { type RequestedCall, toolRequirement } from '../journal-records.js';

/** Whether a question was asked about exactly this call: its id, its tool and its arguments. */
function isAbout(call: RequestedCall, { callId, toolName, args }: ToolRequirement): boolean {
  const parsed = parseArguments(call.arguments);
  return (
    call.id === callId &&
    call.name === toolName &&
    parsed.ok &&
    canonicalJson(parsed.args) === canonicalJson(args)
  );
}

/** An answer is for the call that it was asked about. */
export function questionAbout(call: RequestedCall): ExpectedStep {
  const inWords = (name: string, id: string) => `a question about '${name}' (call ${id})`;
  const is = inWords(call.name, call.id);
  const was = (step: StepRecord) => {
    const asked = read(step, toolRequirement);
    if (isAbout(call, asked)) return is;
    const words = inWords(asked.toolName, asked.callId);
    return words === is ? `${words} with other arguments` : words;
  };
  return { kind: 'wait', name: call.name, identity: { is, was } };
}

/**
 * Whether what a person was asked about a call still holds for the tool that the code has: the tool is there, it asks
 * for nothing else, and it takes the arguments that were shown. A tool that no longer asks for anything is no difference:
 * the answer counts all the same. Nothing of the application is called for it.
 */
async function toolDifference(
  tool: Tool | undefined,
  requirement: ToolRequirement,
): Promise<Omit<Difference, 'key'> | undefined> {
  const { kind, toolName, args } = requirement;
  const was = `${questions[kind]} '${toolName}'`;
  if (tool === undefined) return { was, is: `without the tool '${toolName}'` };
  const asked = asksFor(tool.gate);
  const [first] = asked;
  if (kind !== 'unknown_outcome' && first !== undefined && !asked.includes(kind))
    return { was, is: `${questions[first]} '${toolName}'` };
  const before: ApprovalType = requirement.approval?.type ?? 'none';
  const now: ApprovalType = tool.gate.approval ?? 'none';
  // fewer eyes on a call than were asked for is for the code to say; more were never asked
  if (kind !== 'unknown_outcome' && strictness[now] > strictness[before])
    return { was: `${was} (${approvals[before]})`, is: `${was} (${approvals[now]})` };
  if (kind === 'user_input' && requirement.answerIsResult !== true) {
    // what a person fills in needs its place
    const [then, now] = [requirement.inputFields ?? [], asked.length > 0 ? inputFieldsOf(tool) : []].map(
      fieldNames,
    );
    if (then !== now) return { was: `${was} (${then})`, is: `${was} (${now || 'nothing'})` };
  }
  const fault = await misfit(tool, args);
  return fault === undefined
    ? undefined
    : { was, is: `the tool '${toolName}', which no longer takes the arguments of that call (${fault})` };
}

const questions: Readonly<Record<ToolRequirement['kind'], string>> = {
  confirmation: 'the confirmation of',
  user_input: 'the input for',
  user_feedback: 'the answers for',
  external_execution: 'the external result of',
  unknown_outcome: 'the outcome of',
};

type ApprovalType = NonNullable<ToolGate['approval']> | 'none';

const strictness: Readonly<Record<ApprovalType, number>> = { none: 0, audit: 1, required: 2 };

const approvals: Readonly<Record<ApprovalType, string>> = {
  none: 'without an approval',
  audit: 'with a record of who agreed',
  required: 'with an approval',
};

/** All that the gate can ask for, whatever the arguments are. */
function asksFor(gate: ToolGate): GateKind[] {
  if (gate.externalExecution) return ['external_execution'];
  if (gate.askPerson !== undefined) return ['user_feedback', 'user_input'];
  if (gate.requiresUserInput) return ['user_input'];
  return gate.requiresConfirmation === false ? [] : ['confirmation'];
}

function fieldNames(fields: readonly InputField[]): string {
  return fields.map(({ name }) => name).join(', ');
}

/** Against the schema as data: checks of the application's own are made when the call is executed. */
async function misfit(tool: Tool, args: JsonObject): Promise<string | undefined> {
  const check = await compileJsonSchema(tool.definition.inputSchema);
  // the tool itself drops or rejects what was not asked for
  const fault = check(structuredClone(args)).find(({ kind }) => kind !== 'unknown');
  return fault && `${fault.path.join('.') || 'arguments'} ${fault.message}`;
}

/** Ends a run whose question no longer fits its tool. A source may offer the tool: a replay cannot know. */
export async function assertToolFits(
  context: RunContext,
  tool: Tool | undefined,
  mayBeOffered: boolean,
  asked: { readonly key: string; readonly requirement: ToolRequirement },
): Promise<void> {
  if (tool === undefined && mayBeOffered) return;
  const difference = await toolDifference(tool, asked.requirement);
  if (difference !== undefined) throw context.definitionChanged({ key: asked.key, ...difference });
}
