import type { Message, Model, ModelChunk, ModelRequest, ModelResponse } from '../../../src/index.js';
import { type Word, words } from './words.js';

/** How long an answer takes that is to be cancelled or followed. */
const slowMs = 120;

/** A model that does what the first word of a message says, and repeats the message otherwise. */
export const obedientModel: Model = {
  id: 'obedient',
  provider: 'Fuzz',
  name: 'Obedient',
  capabilities: { structuredOutput: 'native', tools: true },
  async generate(request, { signal }) {
    if (wordOf(request.messages) === 'slowly') await aWhile(signal);
    return nextResponse(request);
  },
  async *stream(request, { signal }): AsyncGenerator<ModelChunk> {
    if (wordOf(request.messages) === 'slowly') await aWhile(signal);
    const response = nextResponse(request);
    for (const text of response.content.match(/[\s\S]{1,40}/g) ?? []) yield { type: 'text', text };
    yield { type: 'response', response };
  },
};

/** What each word makes the model call, where there is such a tool. */
const calls: Readonly<Record<Word, { readonly name: string; readonly args: object } | undefined>> = {
  pay: { name: 'pay', args: { amount: 5 } },
  ask: { name: 'ask', args: {} },
  choose: { name: 'choose', args: {} },
  outside: { name: 'outside', args: { job: 'print' } },
  approve: { name: 'approve', args: { amount: 7 } },
  audit: { name: 'audit', args: { amount: 9 } },
  delegate: { name: 'delegate_task_to_member', args: { member_id: 'plain', task: 'pay' } },
  remember: { name: 'update_user_memory', args: { task: 'Likes tea' } },
  fail: undefined,
  slowly: undefined,
};

function nextResponse({ messages, tools, output }: ModelRequest): ModelResponse {
  const word = wordOf(messages);
  if (word === 'fail') throw new Error('The model was asked to fail');
  const call = word && messages.at(-1)?.role !== 'tool' ? calls[word] : undefined;
  const isThere = call !== undefined && tools.some(({ name }) => name === call.name);
  const content = output ? '{"answer":"yes"}' : isThere ? '' : `You said: ${lastWords(messages)}`;
  return {
    content,
    toolCalls: isThere
      ? [{ id: `call_${messages.length}`, name: call.name, arguments: JSON.stringify(call.args) }]
      : [],
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    finishReason: isThere ? 'tool_calls' : 'stop',
  };
}

function lastWords(messages: readonly Message[]): string {
  const { content } = messages.findLast(({ role }) => role === 'user') ?? { content: '' };
  return content.slice(0, 500);
}

function wordOf(messages: readonly Message[]): Word | undefined {
  const said = lastWords(messages);
  return words.find((word) => said.startsWith(word));
}

function aWhile(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, slowMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
