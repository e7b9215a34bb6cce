import type { Json, JsonObject } from '../../json.js';
import type { ModelRequest, ToolDefinition } from '../model.js';
import { withoutSystem, withPairedToolCalls } from '../provider/conversation.js';
import type { BodyOptions } from '../provider/protocol.js';
import { schemaInWords } from '../provider/schema-in-words.js';
import { wireMessages } from './messages.js';
import { enforceableSchema } from './schema.js';

export interface AnthropicSettings {
  readonly id: string;
  readonly provider: string;
  readonly maxTokens: number;
  readonly thinking: 'adaptive' | 'disabled' | { readonly budgetTokens: number } | undefined;
  readonly effort: string | undefined;
  readonly cache: JsonObject | undefined;
  readonly structuredOutput: 'native' | 'tool';
  readonly parameters: JsonObject;
}

/** The body of a request to the Messages API. */
export async function anthropicBody(
  request: ModelRequest,
  settings: AnthropicSettings,
  { stream, unsigned }: BodyOptions,
): Promise<string> {
  const { system, rest } = withoutSystem(request.messages);
  const owner = unsigned ? undefined : { protocol: 'anthropic', model: settings.id };
  const conversation = await wireMessages(withPairedToolCalls(rest), request.media, {
    owner,
    provider: settings.provider,
  });
  const output = outputOf(request, settings);
  const tools = toolsOf(request, settings, output.tool);
  const prompt = [system, output.words].filter((part) => part !== '').join('\n\n');
  const body: Record<string, unknown> = {
    model: settings.id,
    max_tokens: settings.maxTokens,
    ...settings.parameters,
    ...(prompt !== '' && { system: [{ type: 'text', text: prompt }] }),
    messages: conversation.messages,
    ...(tools.length > 0 && { tools, ...toolChoice(request, output.tool) }),
    ...thinkingOf(settings, conversation.unsignedToolTurn),
    ...outputConfig(settings, output.format),
    ...(stream && { stream: true }),
  };
  if (settings.cache) markForCache(body, settings.cache);
  return JSON.stringify(body);
}

interface Output {
  readonly format?: JsonObject;
  readonly tool?: ToolDefinition;
  readonly words: string;
}

/** How the shape of the answer is asked for: by the API, by a tool to answer with, or in words. */
function outputOf(request: ModelRequest, settings: AnthropicSettings): Output {
  const { output } = request;
  if (output === undefined) return { words: '' };
  if (settings.structuredOutput === 'native') {
    const schema = enforceableSchema(output.schema);
    return schema === undefined
      ? { words: schemaInWords(output) }
      : { format: { type: 'json_schema', schema: schema as JsonObject }, words: '' };
  }
  const name = answerToolName(request, settings);
  if (name === undefined) return { words: schemaInWords(output) };
  const description = `Gives the final answer: the ${output.name}. Call it once, when the answer is complete.`;
  return { tool: { name, description, parameters: output.schema }, words: '' };
}

/**
 * The tool that a model without structured output has to answer with. A model that thinks cannot be forced to
 * call one, and an answer that is not an object cannot be the input of one: they are asked in words.
 */
export function answerToolName(request: ModelRequest, settings: AnthropicSettings): string | undefined {
  const { output, tools } = request;
  if (output === undefined || settings.structuredOutput === 'native') return undefined;
  if (settings.thinking !== undefined && settings.thinking !== 'disabled') return undefined;
  if (output.schema.type !== 'object') return undefined;
  let name = 'final_answer';
  while (tools.some((tool) => tool.name === name)) name += '_';
  return name;
}

function toolsOf(request: ModelRequest, settings: AnthropicSettings, answerTool?: ToolDefinition): Json[] {
  const own = Array.isArray(settings.parameters.tools) ? settings.parameters.tools : [];
  return [...own, ...request.tools.map(wireTool), ...(answerTool ? [wireTool(answerTool)] : [])];
}

function wireTool({ name, description, parameters, strict }: ToolDefinition): Json {
  const { $schema: _, ...schema } = parameters;
  const input_schema = { type: 'object', ...(schema as JsonObject) };
  return { name, description, input_schema, ...(strict && { strict }) };
}

function toolChoice({ toolChoice: choice, tools }: ModelRequest, answerTool?: ToolDefinition): JsonObject {
  if (answerTool) {
    return { tool_choice: tools.length > 0 ? { type: 'any' } : { type: 'tool', name: answerTool.name } };
  }
  if (choice === undefined) return {};
  if (typeof choice === 'object') return { tool_choice: { type: 'tool', name: choice.name } };
  return { tool_choice: { type: choice === 'required' ? 'any' : choice } };
}

/**
 * With a thinking budget the API refuses a turn of tool calls that does not begin with the thinking that led to
 * it, as when another model made those calls: that turn is then finished without thinking.
 */
function thinkingOf({ thinking }: AnthropicSettings, unsignedToolTurn: boolean): JsonObject {
  if (thinking === undefined) return {};
  if (typeof thinking === 'string') return { thinking: { type: thinking } };
  if (unsignedToolTurn) return {};
  return { thinking: { type: 'enabled', budget_tokens: thinking.budgetTokens } };
}

function outputConfig({ effort, parameters }: AnthropicSettings, format?: JsonObject): JsonObject {
  if (effort === undefined && format === undefined) return {};
  const given = parameters.output_config as JsonObject | undefined;
  return { output_config: { ...given, ...(effort && { effort }), ...(format && { format }) } };
}

/** Two marks: after what never changes (tools, system prompt) and after what was said so far. */
function markForCache(body: Record<string, unknown>, mark: JsonObject): void {
  const { system, tools, messages } = body as Record<string, JsonObject[] | undefined>;
  const fixed = system?.at(-1) ?? tools?.at(-1);
  if (fixed) fixed.cache_control = mark;
  const content = messages?.at(-1)?.content as JsonObject[] | undefined;
  const last = content?.findLast((block) => !/thinking/.test(String(block.type)));
  if (last) last.cache_control = mark;
}
