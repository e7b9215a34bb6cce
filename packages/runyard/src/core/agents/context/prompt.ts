import type { Json, JsonObject } from '../../json.js';
import type { OutputFormat } from '../../models/model.js';
import { RunFailed } from '../../runs/executable.js';
import type { FixedValues } from '../../runs/run.js';
import { kindOf } from '../../storable-json.js';
import { summaryForContext } from '../auxiliary/session-summary.js';
import type { AgentExecution } from '../execution.js';
import { knowledgeHint } from '../knowledge/knowledge-in-context.js';
import { learningsForContext } from '../learning/known-learnings.js';
import { memoriesForContext } from '../memory/memories-in-context.js';
import { memoryText } from '../working-memory/known-working-memory.js';
import { applicationFailure } from './dependencies.js';
import type { InstructionsFunction } from './run-values.js';
import { fixedValues } from './values-of-run.js';

/** What `{key}` in instructions and descriptions can name. */
export interface PromptValues {
  readonly state: JsonObject;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /** Facts of the run itself: nothing that a caller sends can stand in for them. */
  readonly current?: JsonObject;
  readonly fixed?: FixedValues | undefined;
}

/** What was read for the system message, and is recorded beside it. */
export interface KnownForPrompt {
  readonly workingMemory?: JsonObject | undefined;
  readonly recalled?: string | undefined;
}

/** The system message, or null when the agent has nothing to say to its model. */
export async function systemPrompt(
  execution: AgentExecution,
  known: KnownForPrompt = {},
): Promise<string | null> {
  const { agent, context, model, output } = execution;
  const { settings } = agent;
  const { options } = context;
  const values = valuesOf(execution);
  const prompted =
    output !== null && model.capabilities.structuredOutput === 'prompted' ? output.format : null;
  const parts: string[] = [];
  if (settings.description) parts.push(fill(settings.description, values));
  if (settings.role) parts.push(`Your role: ${fill(settings.role, values)}`);
  const given = instructionText(execution, values);
  const instructions = typeof given === 'string' ? given : await given;
  if (instructions) parts.push(fill(instructions, values));
  const { conversation } = execution.input;
  // they are the client's: a `{key}` in them must not show it values of the run
  if (conversation?.instructions) parts.push(conversation.instructions);
  if (settings.markdown && output === null) parts.push('Format your answer as Markdown.');
  if (settings.addNameToContext) parts.push(`Your name is ${agent.name}.`);
  if (settings.addDatetimeToContext) parts.push(dateHint(context.timers.now(), settings.timezone));
  if (execution.toolInstructions.length > 0) parts.push(execution.toolInstructions.join('\n'));
  if (settings.expectedOutput)
    parts.push(`What the answer should look like: ${fill(settings.expectedOutput, values)}`);
  if (settings.additionalContext) parts.push(fill(settings.additionalContext, values));
  const knowledge = knowledgeHint(execution);
  if (knowledge !== undefined) parts.push(await knowledge);
  const listing = memoriesForContext(execution);
  const memories = listing && (await listing);
  if (memories !== undefined) parts.push(memories);
  const learning = learningsForContext(execution);
  const learned = learning && (await learning);
  if (learned !== undefined) parts.push(learned);
  const { workingMemory } = settings;
  if (workingMemory && known.workingMemory) parts.push(memoryText(workingMemory, known.workingMemory));
  if (known.recalled !== undefined) parts.push(known.recalled);
  const reading = summaryForContext(execution);
  const summary = reading && (await reading);
  if (summary !== undefined) parts.push(summary);
  if (options.addSessionStateToContext ?? settings.addSessionStateToContext)
    parts.push(block('session_state', values.state));
  // it differs from run to run: what comes before it stays in the caches of models
  if (options.callerInput?.origin) parts.push(options.callerInput.origin);
  if (prompted !== null) parts.push(outputHint(prompted));
  return parts.length === 0 ? null : parts.join('\n\n');
}

/** The user message: what was said, with the dependencies behind it when asked for. */
export function userPrompt({ agent, context, dependencies, input }: AgentExecution): string {
  const asked = context.options.addDependenciesToContext ?? agent.settings.addDependenciesToContext;
  if (!asked || Object.keys(dependencies).length === 0) return input.content;
  return `${input.content}\n\n${block('additional_context', dependencies)}`;
}

function valuesOf({ context, dependencies, metadata }: AgentExecution): PromptValues {
  const { runId, sessionId, userId } = context.run;
  const current: JsonObject = {
    current_run_id: runId,
    current_session_id: sessionId,
    current_user_id: userId,
  };
  if (userId !== null) current.user_id = userId;
  return { state: context.state.all(), dependencies, metadata, current, fixed: context.options.fixed };
}

/** Fills `{key}`; keys that nothing has stay as they are. */
export function fill(text: string, values: PromptValues): string {
  // most texts have no keys
  if (!text.includes('{')) return text;
  return text.replace(/\{([A-Za-z_][\w.-]*)\}/g, (whole, key: string) => {
    const value = lookUp(key, values);
    if (value === undefined) return whole;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** Facts first, then what a token fixes, then state, dependencies and metadata. */
function lookUp(key: string, values: PromptValues): Json | undefined {
  const { current = {} } = values;
  // that a run has no user is a fact as well
  if (Object.hasOwn(current, key)) return current[key] ?? undefined;
  const source = sourcesOf(key, values).find((candidate) => Object.hasOwn(candidate, key));
  return source?.[key];
}

/** Where a key may come from, the first that has it first. A key that a token fixes comes from nowhere else. */
function sourcesOf(key: string, { state, dependencies, metadata, fixed }: PromptValues): JsonObject[] {
  if (fixed?.dependencies.includes(key)) return [dependencies];
  if (fixed?.stateKeys.includes(key)) return [state];
  return [state, dependencies, metadata];
}

function instructionText(execution: AgentExecution, values: PromptValues): string | Promise<string> {
  const { instructions = '' } = execution.agent.settings;
  if (typeof instructions === 'function') return called(instructions, execution, values).then(asText);
  return asText(instructions);
}

function asText(instructions: string | readonly string[]): string {
  return typeof instructions === 'string' ? instructions : instructions.map((line) => `- ${line}`).join('\n');
}

async function called(
  instructions: InstructionsFunction,
  { context, dependencies, metadata }: AgentExecution,
  { state }: PromptValues,
): Promise<string | readonly string[]> {
  const { signal } = context;
  const maker = 'The function that makes the instructions';
  const run = { ...fixedValues(context), state, dependencies, metadata, signal };
  let made: unknown;
  try {
    made = await context.callApplication('instructions', () => instructions(run));
  } catch (error) {
    throw applicationFailure('instructions_error', maker, error);
  }
  if (isTextOrTexts(made)) return made;
  const message = `${maker} returned ${kindOf(made)}, not a text or a list of texts`;
  throw new RunFailed({ type: 'instructions_error', message });
}

function isTextOrTexts(made: unknown): made is string | readonly string[] {
  return typeof made === 'string' || (Array.isArray(made) && made.every((line) => typeof line === 'string'));
}

function dateHint(now: number, timezone = 'UTC'): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'full',
    timeStyle: 'long',
    timeZone: timezone,
  });
  return `The current date and time is ${format.format(now)} (${timezone}).`;
}

function block(name: string, value: JsonObject): string {
  return `<${name}>\n${JSON.stringify(value, null, 2)}\n</${name}>`;
}

function outputHint(output: OutputFormat): string {
  return [
    'Answer with one JSON value and nothing else: no words around it, no code fence. It has to fit this JSON schema:',
    JSON.stringify(output.schema),
  ].join('\n');
}
