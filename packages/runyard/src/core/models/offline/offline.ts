import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import { native } from '../../native-code.js';
import type { Message, ToolCall, Usage } from '../message.js';
import type { Model, ModelCallOptions, ModelChunk, ModelRequest, ModelResponse } from '../model.js';
import {
  chooseSearch,
  foundDocuments,
  requiresSearch,
  withoutKnowledgeBlock,
} from './answer-from-knowledge.js';
import { chooseMembers } from './choose-member.js';
import { chooseToolCalls } from './choose-tool.js';
import { type Attachment, type Conversation, composeAnswer, isGreeting } from './compose-answer.js';
import { fillSchema } from './fill-schema.js';
import { judgeOutput } from './judge-output.js';
import { rememberFacts } from './remember-facts.js';

/** The rules look at no more than this of a message, so that no text keeps the process busy. */
const longestQuestion = 4_000;
const longestContext = 50_000;

/**
 * The built-in model: no key, no network, the same answer to the same conversation. It is a stand-in that shows
 * the product working, and says so.
 */
export function offlineModel(): Model {
  return native({
    id: 'offline',
    provider: 'Runyard',
    name: 'Offline',
    capabilities: { structuredOutput: 'native', tools: true },
    generate,
    stream,
  });
}

async function generate(request: ModelRequest, { signal }: ModelCallOptions): Promise<ModelResponse> {
  signal.throwIfAborted();
  return answer(request);
}

/** Word by word, as fast as it is read; the event loop gets its turn between words. */
async function* stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
  const response = await generate(request, options);
  for (const text of response.content.match(/\S+\s*|^\s+/g) ?? []) {
    yield { type: 'text', text };
    await nextTurn();
    options.signal.throwIfAborted();
  }
  yield { type: 'response', response };
}

async function answer(request: ModelRequest): Promise<ModelResponse> {
  const judgement = judgeOutput(request);
  if (judgement !== undefined) {
    const content = JSON.stringify(judgement);
    return { content, toolCalls: [], usage: usage(request, content), finishReason: 'stop' };
  }
  const conversation = await read(request);
  const toolCalls = conversation.results.length > 0 ? [] : chooseCalls(conversation, request);
  if (toolCalls.length > 0) {
    const written = toolCalls.map((call) => call.name + call.arguments).join('');
    return { content: '', toolCalls, usage: usage(request, written), finishReason: 'tool_calls' };
  }
  const content = request.output
    ? structured(request.output.schema, conversation)
    : composeAnswer(conversation);
  return { content, toolCalls: [], usage: usage(request, content), finishReason: 'stop' };
}

/** The leader of a team asks who fits; tools of its own are for what no member does. */
function chooseCalls({ question, system, mustSearch }: ReadRequest, request: ModelRequest): ToolCall[] {
  const { tools, toolChoice } = request;
  const remembered = rememberFacts(question, request);
  if (remembered !== undefined) return remembered;
  const members = chooseMembers(question, system, tools, toolChoice);
  if (members.length > 0) return members;
  const searches = mustSearch && !isGreeting(question) ? chooseSearch(question, tools, toolChoice) : [];
  if (searches.length === 0) return chooseToolCalls(question, tools, toolChoice);
  // what a message asks for by name comes before a search
  const others = tools.filter(({ name }) => !knowledgeTools.has(name));
  const asked = chooseToolCalls(question, others, 'auto');
  return asked.length > 0 ? asked : searches;
}

/** With knowledge, these are called for what a message is about, not for its words. */
const knowledgeTools = new Set(['search_knowledge_base', 'add_to_knowledge']);

function structured(schema: JsonObject, { question, results, attachments }: Conversation): string {
  const sources = [
    question,
    ...results.map(({ content }) => content),
    ...attachments.map(({ text }) => text),
  ];
  return JSON.stringify(fillSchema(schema, sources.join('\n').slice(0, longestQuestion)));
}

interface ReadRequest extends Conversation {
  /** The system message says that the model is to search its knowledge. */
  readonly mustSearch: boolean;
}

async function read(request: ModelRequest): Promise<ReadRequest> {
  const { messages } = request;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages[asked];
  const { spoken, context, references } = separate(question?.content.slice(0, longestContext) ?? '');
  const system = textOf(messages.filter(({ role }) => role === 'system'));
  const results = messages.slice(asked + 1).filter(({ role }) => role === 'tool');
  return {
    question: spoken.slice(0, longestQuestion),
    system: `${withoutKnowledgeBlock(system)}\n${context}`,
    mustSearch: requiresSearch(system),
    found: foundDocuments(results, references),
    earlier: messages
      .slice(0, Math.max(asked, 0))
      .filter(({ role }) => role !== 'system')
      .map(bounded),
    results,
    attachments: await Promise.all((question?.media ?? []).map((media) => attachment(media, request.media))),
  };
}

/** What the person wrote, apart from the `<blocks>` that were put beside it for the model to know. */
function separate(content: string): { spoken: string; context: string; references: string | undefined } {
  const blocks: string[] = [];
  let references: string | undefined;
  const spoken = content.replace(
    /^(?:[^\n]*:\n)?<(references)>\n([\s\S]*?)\n<\/\1>$|^<([a-z][a-z_ -]{0,40})>\n([\s\S]*?)\n<\/\3>$/gm,
    (_, isReferences: string | undefined, found: string, _name, block: string) => {
      if (isReferences === undefined) blocks.push(block);
      else references = found;
      return '';
    },
  );
  return { spoken: spoken.trim(), context: blocks.join('\n'), references };
}

function textOf(messages: readonly Message[]): string {
  return messages
    .map(({ content }) => content)
    .join('\n')
    .slice(0, longestContext);
}

function bounded(message: Message): Message {
  return message.content.length > longestQuestion
    ? { ...message, content: message.content.slice(0, longestQuestion) }
    : message;
}

async function attachment(media: Media, contents: MediaContents): Promise<Attachment> {
  const label = `the ${media.kind} ${media.filename ?? media.url ?? media.id}`;
  if (media.hash === undefined || !/^text\/|json|csv|xml|yaml/.test(media.mimeType ?? ''))
    return { label, text: '' };
  const bytes = await contents.get(media.hash);
  return { label, text: bytes ? new TextDecoder().decode(bytes.subarray(0, longestContext)) : '' };
}

/** An estimate: four characters make a token. */
function usage({ messages }: ModelRequest, written: string): Usage {
  let read = 0;
  for (const message of messages) read += message.content.length;
  const inputTokens = Math.ceil(read / 4);
  const outputTokens = Math.ceil(written.length / 4);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
