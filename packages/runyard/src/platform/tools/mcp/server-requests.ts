import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  SamplingMessageContentBlock,
} from '@modelcontextprotocol/client';
import { type SampledMessage, sampleInCall } from '../../../core/agents/auxiliary/sampling.js';
import type { JsonSchema } from '../../../core/json.js';
import { formFieldsOf } from '../../../core/tools/questions/input-fields.js';
import type { InputField } from '../../../core/tools/questions/person-form.js';
import type { NewMedia } from '../../../core/tools/tool-result.js';
import type { CallsUnderWay, CallUnderWay } from './calls-under-way.js';
import type { McpClient } from './library.js';

/** What a server may have its tools' callers do. */
export interface SamplingOptions {
  /** A call is refused further ones once its own have taken so many tokens. Default 20,000. */
  readonly maxTokens?: number;
  /** How many model calls one call of a tool may ask for. Default 10. */
  readonly maxCalls?: number;
}

export interface OfferedToServer {
  readonly roots?: readonly string[] | undefined;
  readonly sampling?: boolean | SamplingOptions | undefined;
}

export function capabilitiesOf({ roots, sampling }: OfferedToServer): ClientCapabilities {
  return {
    elicitation: { form: { applyDefaults: true }, url: {} },
    ...(roots !== undefined && { roots: {} }),
    ...(sampling && { sampling: {} }),
  };
}

/** Answers what the server asks for while one of its tools is called. */
export function serveRequests(client: McpClient, calls: CallsUnderWay, offered: OfferedToServer): void {
  const { roots, sampling } = offered;
  client.setRequestHandler('elicitation/create', ({ params }) => calls.serve((call) => elicit(call, params)));
  if (roots !== undefined)
    client.setRequestHandler('roots/list', () => ({ roots: roots.map((root) => ({ uri: rootUrl(root) })) }));
  if (sampling) {
    const spent = new WeakMap<CallUnderWay, Spent>();
    const limits = sampling === true ? {} : sampling;
    client.setRequestHandler('sampling/createMessage', ({ params }) =>
      calls.serve((call) => {
        const before = spent.get(call) ?? { calls: 0, tokens: 0 };
        spent.set(call, before);
        return sample(call, params, before, limits);
      }),
    );
  }
  client.fallbackRequestHandler = ({ method }) => Promise.reject(notOffered(method));
}

/** By the name of a method or a capability. */
export function notOffered(what: string): Error {
  const [option = ''] = what.split('/');
  return new Error(
    option === 'sampling' || option === 'roots'
      ? `The client does not offer '${option}' to the server. The option '${option}' of mcpTools() turns it on.`
      : `The client does not answer '${what}'.`,
  );
}

function rootUrl(root: string): string {
  return root.startsWith('file:') ? root : pathToFileURL(resolve(root)).href;
}

async function elicit(call: CallUnderWay, params: ElicitRequestParams): Promise<ElicitResult> {
  if (params.mode === 'url') return { action: (await call.ask({ message: urlMessage(params) })).action };
  const answer = await call.ask({ message: params.message, fields: fieldsOf(params.requestedSchema) });
  return answer.action === 'accept'
    ? // `ask` checks the values against the fields, which are those of the schema
      { action: 'accept', content: answer.values as NonNullable<ElicitResult['content']> }
    : { action: answer.action };
}

function urlMessage({ message, url }: { message: string; url: string }): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:')
    throw new Error('Only addresses that begin with http:// or https:// are shown to a person.');
  return `${message}\nOpen this address, and confirm when you have done so: ${address.href}`;
}

function fieldsOf(schema: JsonSchema): InputField[] {
  const properties = Object(schema.properties);
  return formFieldsOf(schema).map((field) => {
    const property: JsonSchema = properties[field.name];
    const description = field.description ?? (typeof property.title === 'string' ? property.title : null);
    return { ...field, description, schema: property };
  });
}

interface Spent {
  calls: number;
  tokens: number;
}

async function sample(
  { context }: CallUnderWay,
  params: CreateMessageRequestParams,
  spent: Spent,
  { maxCalls = 10, maxTokens = 20_000 }: SamplingOptions,
): Promise<CreateMessageResult> {
  if (params.tools?.length) throw new Error('The client offers no sampling with tools.');
  if (spent.calls >= maxCalls)
    throw new Error(`A call of a tool may ask for ${maxCalls} model calls (maxCalls of sampling).`);
  if (spent.tokens >= maxTokens)
    throw new Error(
      `The model calls of this call have taken ${spent.tokens} tokens (maxTokens of sampling).`,
    );
  spent.calls += 1;
  const { content, model, usage, finishReason } = await sampleInCall(context, {
    number: spent.calls,
    messages: messagesOf(params),
  });
  spent.tokens += usage.totalTokens;
  return {
    role: 'assistant',
    content: { type: 'text', text: content },
    model: model.id,
    stopReason: finishReason === 'length' ? 'maxTokens' : 'endTurn',
  };
}

function messagesOf({ systemPrompt, messages }: CreateMessageRequestParams): SampledMessage[] {
  const said = messages.map(({ role, content }): SampledMessage => {
    const blocks = Array.isArray(content) ? content : [content];
    const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    return { role, content: texts.join('\n'), media: blocks.flatMap(mediaOf) };
  });
  return systemPrompt ? [{ role: 'system', content: systemPrompt, media: [] }, ...said] : said;
}

function mediaOf(block: SamplingMessageContentBlock): NewMedia[] {
  if (block.type === 'text') return [];
  if (block.type !== 'image' && block.type !== 'audio')
    throw new Error(`The client offers no sampling with '${block.type}'.`);
  return [{ kind: block.type, mimeType: block.mimeType, bytes: Buffer.from(block.data, 'base64') }];
}
