import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ModelRequest, ToolChoice, ToolDefinition } from '../model.js';
import { withoutSystem, withPairedToolCalls } from '../provider/conversation.js';
import type { BodyOptions } from '../provider/protocol.js';
import { schemaInWords } from '../provider/schema-in-words.js';
import { wireContents } from './contents.js';

export interface GeminiSettings {
  readonly id: string;
  readonly provider: string;
  readonly maxTokens: number | undefined;
  readonly thinking:
    | { readonly level?: string; readonly budgetTokens?: number; readonly includeThoughts?: boolean }
    | undefined;
  readonly parameters: JsonObject;
  readonly extraBody: JsonObject;
}

/** The body of generateContent and of streamGenerateContent, which are the same. */
export async function geminiBody(
  request: ModelRequest,
  settings: GeminiSettings,
  { stream, unsigned }: BodyOptions,
): Promise<string> {
  const { system, rest } = withoutSystem(request.messages);
  const generation = isThirdOrLater(settings.id);
  // Before Gemini 3 the API refuses a schema beside functions.
  const enforced = request.output !== undefined && (request.tools.length === 0 || generation);
  const words = request.output && !enforced ? schemaInWords(request.output) : '';
  const prompt = [system, words].filter((part) => part !== '').join('\n\n');
  const config = generationConfig(request, settings, enforced);
  const { tools: own, toolConfig: ownConfig, ...extra } = settings.extraBody;
  const choice = request.tools.length > 0 ? request.toolChoice : undefined;
  const toolConfig = toolConfigOf(isJsonObject(ownConfig) ? ownConfig : {}, choice, stream);
  const tools = [...(Array.isArray(own) ? own : []), ...functions(request.tools)];
  return JSON.stringify({
    contents: await wireContents(withPairedToolCalls(rest), request.media, {
      owner: unsigned ? undefined : { protocol: 'gemini', model: settings.id },
      provider: settings.provider,
      signatureRequired: generation,
    }),
    ...(prompt !== '' && { systemInstruction: { parts: [{ text: prompt }] } }),
    ...(tools.length > 0 && { tools }),
    ...(Object.keys(toolConfig).length > 0 && { toolConfig }),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...extra,
  });
}

function isThirdOrLater(id: string): boolean {
  return Number(/gemini-(\d+)/.exec(id)?.[1]) >= 3;
}

function functions(tools: readonly ToolDefinition[]): Json[] {
  return tools.length > 0 ? [{ functionDeclarations: tools.map(declaration) }] : [];
}

/** A function without parameters is declared without a schema: some models refuse an empty one. */
function declaration({ name, description, inputSchema }: ToolDefinition): Json {
  const { $schema: _, ...schema } = inputSchema;
  const hasParameters = Object.keys(schema.properties ?? {}).length > 0;
  return { name, description, ...(hasParameters && { parametersJsonSchema: schema }) };
}

function toolConfigOf(own: JsonObject, choice: ToolChoice | undefined, stream: boolean): JsonObject {
  const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;
  const { functionCallingConfig, ...rest } = own;
  const calling: JsonObject = isJsonObject(functionCallingConfig) ? { ...functionCallingConfig } : {};
  if (typeof choice === 'string') calling.mode = modes[choice];
  else if (choice) Object.assign(calling, { mode: 'ANY', allowedFunctionNames: [choice.name] });
  // Google refuses it in a request without streaming.
  if (!stream) delete calling.streamFunctionCallArguments;
  return { ...rest, ...(Object.keys(calling).length > 0 && { functionCallingConfig: calling }) };
}

function generationConfig(request: ModelRequest, settings: GeminiSettings, enforced: boolean): JsonObject {
  const { output, parameters: ofCall } = request;
  const { maxTokens, thinking, parameters } = settings;
  const config: JsonObject = { ...parameters };
  if (maxTokens !== undefined) config.maxOutputTokens = maxTokens;
  if (thinking) {
    config.thinkingConfig = {
      includeThoughts: thinking.includeThoughts ?? thinking.budgetTokens !== 0,
      ...(thinking.level && { thinkingLevel: thinking.level.toUpperCase() }),
      ...(thinking.budgetTokens !== undefined && { thinkingBudget: thinking.budgetTokens }),
    };
  }
  Object.assign(config, ofCall);
  if (output && enforced) {
    const { $schema: _, ...schema } = output.schema;
    config.responseMimeType = 'application/json';
    config.responseJsonSchema = schema;
  }
  return config;
}
