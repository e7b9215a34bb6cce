import type { Json, JsonObject } from '../json.js';
import type { OutputFormat } from '../models/model.js';
import type { AgentSettings } from './definition.js';

/** What `{key}` in instructions and descriptions can name. */
export interface PromptValues {
  readonly state: JsonObject;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  readonly userId: string | null;
}

export interface SystemPromptInput {
  readonly settings: AgentSettings;
  readonly values: PromptValues;
  readonly showState: boolean;
  /** Set when the model cannot be held to a schema and has to be asked in words. */
  readonly promptedOutput: OutputFormat | null;
}

/** The system message, or null when the agent has nothing to say to its model. */
export function systemPrompt({
  settings,
  values,
  showState,
  promptedOutput,
}: SystemPromptInput): string | null {
  const parts: string[] = [];
  if (settings.description) parts.push(fill(settings.description, values));
  if (settings.role) parts.push(`Your role: ${fill(settings.role, values)}`);
  const instructions = instructionText(settings.instructions);
  if (instructions) parts.push(fill(instructions, values));
  if (settings.markdown && promptedOutput === null) parts.push('Format your answer as Markdown.');
  if (settings.expectedOutput)
    parts.push(`What the answer should look like: ${fill(settings.expectedOutput, values)}`);
  if (settings.additionalContext) parts.push(fill(settings.additionalContext, values));
  if (showState) parts.push(block('session_state', values.state));
  if (promptedOutput !== null) parts.push(outputHint(promptedOutput));
  return parts.length === 0 ? null : parts.join('\n\n');
}

/** The user message: what was said, with the dependencies behind it when asked for. */
export function userPrompt(content: string, dependencies: JsonObject | null): string {
  if (dependencies === null || Object.keys(dependencies).length === 0) return content;
  return `${content}\n\n${block('additional_context', dependencies)}`;
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

function instructionText(instructions: AgentSettings['instructions']): string {
  if (instructions === undefined) return '';
  if (typeof instructions === 'string') return instructions;
  return instructions.map((line) => `- ${line}`).join('\n');
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
