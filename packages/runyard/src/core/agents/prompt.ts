import type { Json, JsonObject } from '../json.js';
import type { OutputFormat } from '../models/model.js';
import type { AgentExecution } from './execution.js';

/** What `{key}` in instructions and descriptions can name. */
export interface PromptValues {
  readonly state: JsonObject;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  readonly userId: string | null;
}

/** The system message, or null when the agent has nothing to say to its model. */
export async function systemPrompt(execution: AgentExecution): Promise<string | null> {
  const { agent, context, model, output } = execution;
  const { settings } = agent;
  const { options } = context.run.input;
  const values = valuesOf(execution);
  const prompted =
    output !== null && model.capabilities.structuredOutput === 'prompted' ? output.format : null;
  const parts: string[] = [];
  if (settings.description) parts.push(fill(settings.description, values));
  if (settings.role) parts.push(`Your role: ${fill(settings.role, values)}`);
  const instructions = await instructionText(execution, values);
  if (instructions) parts.push(fill(instructions, values));
  if (settings.markdown && output === null) parts.push('Format your answer as Markdown.');
  if (settings.expectedOutput)
    parts.push(`What the answer should look like: ${fill(settings.expectedOutput, values)}`);
  if (settings.additionalContext) parts.push(fill(settings.additionalContext, values));
  if (options.addSessionStateToContext ?? settings.addSessionStateToContext)
    parts.push(block('session_state', values.state));
  if (prompted !== null) parts.push(outputHint(prompted));
  return parts.length === 0 ? null : parts.join('\n\n');
}

/** The user message: what was said, with the dependencies behind it when asked for. */
export function userPrompt({ agent, context, dependencies, input }: AgentExecution): string {
  const asked = context.run.input.options.addDependenciesToContext ?? agent.settings.addDependenciesToContext;
  if (!asked || Object.keys(dependencies).length === 0) return input.content;
  return `${input.content}\n\n${block('additional_context', dependencies)}`;
}

function valuesOf({ context, dependencies, metadata }: AgentExecution): PromptValues {
  return { state: context.state.all(), dependencies, metadata, userId: context.run.userId };
}

/** Fills `{key}` from state, dependencies, metadata and the user; unknown keys stay as they are. */
export function fill(text: string, values: PromptValues): string {
  return text.replace(/\{([A-Za-z_][\w.-]*)\}/g, (whole, key: string) => {
    const value = lookUp(key, values);
    if (value === undefined) return whole;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

function lookUp(key: string, values: PromptValues): Json | undefined {
  for (const source of [values.state, values.dependencies, values.metadata]) {
    if (Object.hasOwn(source, key)) return source[key];
  }
  return key === 'user_id' ? (values.userId ?? undefined) : undefined;
}

async function instructionText({ agent, context }: AgentExecution, values: PromptValues): Promise<string> {
  const { instructions } = agent.settings;
  if (instructions === undefined) return '';
  const { runId, sessionId } = context.run;
  const given =
    typeof instructions === 'function' ? await instructions({ runId, sessionId, ...values }) : instructions;
  return typeof given === 'string' ? given : given.map((line) => `- ${line}`).join('\n');
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
