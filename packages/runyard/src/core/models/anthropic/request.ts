import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Message } from '../message.js';
import type { ModelRequest, ToolDefinition } from '../model.js';
import { forCall } from '../provider/call-parameters.js';
import { withoutSystem, withPairedToolCalls } from '../provider/conversation.js';
import type { BodyOptions } from '../provider/protocol.js';
import { schemaInWords } from '../provider/schema-in-words.js';
import { markForCache } from './cache.js';
import { wireMessages } from './messages.js';
import { enforceableSchema } from './schema.js';
import { budgetOf, thinks } from './thinking.js';

export interface AnthropicSettings {
  readonly id: string;
  readonly provider: string;
  readonly maxTokens: number;
  readonly thinking: JsonObject | undefined;
  readonly effort: string | undefined;
  readonly cache: JsonObject | undefined;
  /** How many marks for the cache a request has room for. */
  readonly cacheMarks: number;
  readonly structuredOutput: 'native' | 'tool';
  /** Without what the other settings say. */
  readonly parameters: JsonObject;
}

/** The body of a request to the Messages API. */
export async function anthropicBody(
  request: ModelRequest,
  given: AnthropicSettings,
  { stream, unsigned, paused }: BodyOptions,
): Promise<string> {
  const settings = ofCall(given, request);
  const { system, rest } = withoutSystem(request.messages);
  const owner = { protocol: 'anthropic', model: settings.id };
  const messages = [...withPairedToolCalls(rest, /^[a-zA-Z0-9_-]+$/), ...(paused ? [paused] : [])];
  const conversation = await wireMessages(messages, request.media, {
    owner: (message) => (unsigned && message !== paused ? undefined : owner),
    provider: settings.provider,
  });
  const output = outputOf(request, settings);
  const choice = choiceOf(request, settings, output.tool);
  const tools = toolsOf(request, settings, output.tool);
  const prompt = [system, output.words, choice.words].filter((part) => part !== '').join('\n\n');
  const body: JsonObject = {
    model: settings.id,
    max_tokens: settings.maxTokens,
    ...settings.parameters,
    ...containerOf(messages, settings),
    ...(prompt !== '' && { system: [{ type: 'text', text: prompt }] }),
    messages: conversation.messages,
    ...(tools.length > 0 && { tools, ...choice.field }),
    ...thinkingField(settings, conversation.unsignedToolTurn),
    ...outputConfig(settings, output.format),
    ...(stream && { stream: true }),
  };
  if (settings.cache) markForCache(body, settings.cache, settings.cacheMarks);
  return JSON.stringify(body);
}

/** What a call says in the words of the provider counts more than what the model was made with in ours. */
function ofCall(given: AnthropicSettings, request: ModelRequest): AnthropicSettings {
  const { parameters = {} } = request;
  const { output_config: output, thinking } = parameters;
  const hasEffort = isJsonObject(output) && output.effort !== undefined;
  return {
    ...forCall(given, request),
    ...(hasEffort && { effort: undefined }),
    ...(thinking !== undefined && { thinking: undefined }),
  };
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
      : { format: { type: 'json_schema', schema }, words: '' };
  }
  const name = answerToolName(request, settings);
  if (name === undefined) return { words: schemaInWords(output) };
  const description = `Gives the final answer: the ${output.name}. Call it once, when the answer is complete.`;
  return { tool: { name, description, inputSchema: output.schema }, words: '' };
}

/**
 * The tool that a model without structured output has to answer with. A model that thinks cannot be forced to
 * call one, and an answer that is not an object cannot be the input of one: they are asked in words.
 */
export function answerToolName(request: ModelRequest, settings: AnthropicSettings): string | undefined {
  const { output, tools } = request;
  if (output === undefined || settings.structuredOutput === 'native') return undefined;
  if (thinks(settings.thinking)) return undefined;
  if (output.schema.type !== 'object') return undefined;
  let name = 'final_answer';
  while (tools.some((tool) => tool.name === name)) name += '_';
  return name;
}

function toolsOf(request: ModelRequest, settings: AnthropicSettings, answerTool?: ToolDefinition): Json[] {
  const own = Array.isArray(settings.parameters.tools) ? settings.parameters.tools : [];
  return [...own, ...request.tools.map(wireTool), ...(answerTool ? [wireTool(answerTool)] : [])];
}

function wireTool({ name, description, inputSchema, strict }: ToolDefinition): Json {
  const { $schema: _, ...schema } = inputSchema;
  const input_schema = { type: 'object', ...schema };
  return { name, description, input_schema, ...(strict && { strict }) };
}

interface Choice {
  readonly field?: JsonObject;
  readonly words: string;
}

/** With a thinking budget the API refuses to force a call: the model is asked for it in words instead. */
function choiceOf(
  { toolChoice, tools }: ModelRequest,
  { thinking }: AnthropicSettings,
  answerTool?: ToolDefinition,
): Choice {
  const forced = tools.length > 0 ? 'required' : answerTool;
  const choice = answerTool ? forced : toolChoice;
  if (choice === undefined) return { words: '' };
  if (choice === 'auto' || choice === 'none') return { field: { tool_choice: { type: choice } }, words: '' };
  const name = choice === 'required' ? undefined : choice.name;
  if (budgetOf(thinking) !== undefined) {
    return {
      words: `Call ${name === undefined ? 'one of the tools' : `the tool ${name}`} before you answer.`,
    };
  }
  const field: JsonObject = { tool_choice: name === undefined ? { type: 'any' } : { type: 'tool', name } };
  return { field, words: '' };
}

/**
 * A turn thinks from its beginning to its end, or not at all. With a budget the API refuses a turn of tool calls that
 * began without thinking, as when another model made those calls: that turn is then finished without.
 */
function thinkingField({ thinking }: AnthropicSettings, unsignedToolTurn: boolean): JsonObject {
  if (thinking === undefined || (unsignedToolTurn && thinking.type === 'enabled')) return {};
  return { thinking };
}

/** The container in which the provider executes code for this turn: it continues where its files are. */
function containerOf(messages: readonly Message[], { parameters }: AnthropicSettings): JsonObject {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const id = turn.findLast(({ providerData }) => providerData?.container)?.providerData?.container;
  if (typeof id !== 'string') return {};
  return { container: isJsonObject(parameters.container) ? { ...parameters.container, id } : id };
}

function outputConfig({ effort, parameters }: AnthropicSettings, format?: JsonObject): JsonObject {
  if (effort === undefined && format === undefined) return {};
  const given = parameters.output_config;
  return {
    output_config: {
      ...(isJsonObject(given) && given),
      ...(effort && { effort }),
      ...(format && { format }),
    },
  };
}
