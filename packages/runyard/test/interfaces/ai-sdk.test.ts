import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, tool } from '../../src/index.js';
import { aiSdk } from '../../src/interfaces.js';
import { scriptedModel } from '../../src/testing.js';
import { call } from '../support/clients/call.js';
import { knowledgeDouble } from '../support/components/knowledge-double.js';
import { type Body, TestService } from '../support/service.js';
import { gate, until } from '../support/until.js';

/** The chat of `useChat` with a state that no page shows. */
class Chat extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>) {
    const messages = init.messages ?? [];
    const state: ChatState<UIMessage> = {
      status: 'ready',
      error: undefined,
      messages,
      pushMessage: (message) => {
        state.messages = [...state.messages, message];
      },
      popMessage: () => {
        state.messages = state.messages.slice(0, -1);
      },
      replaceMessage: (index, message) => {
        state.messages = state.messages.map((one, at) => (at === index ? structuredClone(message) : one));
      },
      snapshot: (value) => structuredClone(value),
    };
    super({ ...init, state });
  }
  get answer() {
    return this.messages.at(-1)!;
  }
}

const door = { now: gate() };
const { knowledge } = knowledgeDouble([{ name: 'rings', content: 'Saturn has rings.' }]);
const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({ cents: z.number() }),
  requiresConfirmation: true,
  execute: ({ cents }) => ({ paid: cents }),
});
const linger = tool({
  name: 'linger',
  description: 'Takes its time',
  execute: async () => {
    await door.now.opened;
    return 'at last';
  },
});

const grow = tool({
  name: 'grow',
  description: 'Grows',
  async *execute(_input, { emit }) {
    await emit({ phase: 'begun' });
    yield { done: 1 };
    yield { done: 2 };
    await door.now.opened;
    return { done: 3 };
  },
});

let count = 0;
const model = scriptedModel(async ({ messages }) => {
  const last = messages.at(-1)!;
  count += 1;
  const call = (name: string, given = {}) => ({
    toolCalls: [{ id: `call-${count}`, name, arguments: given }],
  });
  if (last.role === 'tool') return { chunks: ['It is ', `${last.content}.`] };
  const said = last.content;
  if (said.startsWith('Pay')) return call('pay', { cents: 5 });
  if (said === 'Where?') return call('place', { exact: true });
  if (said === 'Linger') return call('linger');
  if (said === 'Grow') return call('grow');
  if (said === 'Look up') return call('search_knowledge_base', { query: 'rings' });
  if (said === 'Break') return { error: 'The model is broken' };
  if (said === 'Draw')
    return {
      text: 'Look.',
      media: [
        { mimeType: 'image/png', bytes: new Uint8Array([1, 2]) },
        { mimeType: 'text/plain', bytes: new TextEncoder().encode('hi') },
      ],
    };
  if (said === 'Think') return { text: 'Done.', reasoning: 'Hm.' };
  if (said === 'Cite')
    return { text: 'See there.', citations: { sources: [{ url: 'https://example.com/a', title: 'A' }] } };
  return `You said ${said} (${count}).`;
});

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    agents: [agent({ id: 'clerk', model, tools: [pay, linger, grow], knowledge })],
    interfaces: [aiSdk({ agent: 'clerk' })],
  });
});
afterAll(() => service.stop());

let chats = 0;
function chat(init: ChatInit<UIMessage> & { body?: object } = {}): Chat {
  chats += 1;
  const { body = {}, ...rest } = init;
  // the path is the one that the transport has by default
  const transport = new DefaultChatTransport({ api: `${service.url}/api/chat`, body });
  return new Chat({ id: `chat-${chats}`, transport, ...rest });
}

async function ask(below: string, method = 'GET') {
  const { status, text } = await call(`${service.url}/api/chat/${below}`, { method });
  return { status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
}

const texts = ({ parts }: UIMessage) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
const toolIn = ({ parts }: UIMessage) => parts.find(({ type }) => type.startsWith('tool-')) as Body;
const metadata = (message: UIMessage) => message.metadata as Body;
const shownToModel = () =>
  model.requests
    .at(-1)!
    .messages.filter(({ role }) => role !== 'system')
    .map(({ content }) => content);

test('a generator shows its partial results until its result takes their place', async () => {
  door.now = gate();
  const events: unknown[] = [];
  const page = chat({ onData: ({ data }) => events.push(data) });
  const sent = page.sendMessage({ text: 'Grow' });
  const part = () => page.messages.at(-1)?.parts.find(({ type }) => type === 'tool-grow') as Body;
  await until('the second value is shown', () => part()?.output?.done === 2);
  expect(part()).toMatchObject({ state: 'output-available', preliminary: true });
  door.now.open();
  await sent;
  expect(part()).toMatchObject({ state: 'output-available', output: { done: 3 } });
  expect(part().preliminary ?? false).toBe(false);
  expect(events).toEqual([expect.objectContaining({ phase: 'begun' })]);
});

describe('a chat', () => {
  test('is a session: the model sees what was said before, and the message has its usage', async () => {
    const page = chat();
    await page.sendMessage({ text: 'one' });
    await page.sendMessage({ text: 'two' });
    expect(page).toMatchObject({ status: 'ready', error: undefined });
    expect(shownToModel()).toEqual(['one', texts(page.messages[1]!)[0], 'two']);
    const { runId, status, sessionId, usage } = metadata(page.answer);
    expect({ runId, status, sessionId }).toEqual({
      runId: page.answer.id,
      status: 'completed',
      sessionId: page.id,
    });
    expect(usage.totalTokens).toBeGreaterThan(0);
  });

  test('answers again in the place of the last answer', async () => {
    const page = chat();
    await page.sendMessage({ text: 'one' });
    const first = page.answer.id;
    await page.regenerate();
    expect(page.messages).toHaveLength(2);
    expect(page.answer.id).not.toBe(first);
    await page.sendMessage({ text: 'two' });
    expect(shownToModel()).toEqual(['one', texts(page.messages[1]!)[0], 'two']);
  });

  test('continues with what the page shows when an earlier message was edited', async () => {
    const page = chat();
    await page.sendMessage({ text: 'one' });
    await page.sendMessage({ text: 'two' });
    await page.sendMessage({ text: 'three', messageId: page.messages[2]!.id });
    const kept = ['one', texts(page.messages[1]!)[0], 'three'];
    expect(shownToModel()).toEqual(kept);
    await page.sendMessage({ text: 'four' });
    expect(shownToModel()).toEqual([...kept, texts(page.messages[3]!)[0], 'four']);
  });

  test('shows reasoning, sources and files, and takes files', async () => {
    const page = chat();
    await page.sendMessage({ text: 'Think' });
    expect(page.answer.parts).toContainEqual(expect.objectContaining({ type: 'reasoning', text: 'Hm.' }));
    await page.sendMessage({ text: 'Cite' });
    expect(page.answer.parts).toContainEqual(expect.objectContaining({ type: 'source-url', title: 'A' }));
    await page.sendMessage({ text: 'Look up' });
    const source = {
      type: 'source-document',
      sourceId: 'reference-1',
      mediaType: 'text/plain',
      title: 'rings',
    };
    expect(page.answer.parts).toContainEqual(expect.objectContaining(source));
    // a page that is opened again has them, too
    const { body } = await ask(`${page.id}/messages`);
    expect(body.messages.at(-1).parts).toContainEqual(source);
    await page.sendMessage({ text: 'Draw' });
    expect(page.answer.parts).toContainEqual(
      expect.objectContaining({ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQI=' }),
    );
    expect(page.answer.parts).toContainEqual(
      expect.objectContaining({ type: 'file', url: 'data:text/plain;base64,aGk=' }),
    );
    const files = [
      { type: 'file' as const, mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=' },
    ];
    await page.sendMessage({ text: 'Look', files });
    // the bytes, decoded once
    expect(model.requests.at(-1)!.messages.at(-1)!.media).toMatchObject([{ kind: 'image', size: 8 }]);
  });

  test.each([
    [{ id: 'a\u0000b' }, 'U+0000'],
    [{ userId: 'a\u0000b' }, 'U+0000'],
    [{ parts: [{ type: 'file', mediaType: 'text/plain', url: 'data:,%E0%A4%A' }] }, 'percent-encoded'],
    [{ parts: [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,!' }] }, 'base64'],
  ])('refuses %j', async ({ parts = [], ...more }: Body, reason) => {
    const body = JSON.stringify({ id: 'hostile', messages: [{ id: 'm', role: 'user', parts }], ...more });
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await call(`${service.url}/api/chat`, { method: 'POST', headers, body });
    expect(status).toBe(422);
    expect(text).toContain(reason);
  });

  test('that fails says so', async () => {
    const page = chat();
    await page.sendMessage({ text: 'Break' });
    expect(page.status).toBe('error');
    expect(page.error?.message).toContain('The model is broken');
    expect(metadata(page.answer).status).toBe('error');
  });
});

describe('a pause', () => {
  test.each([true, false])('for a confirmation is answered with %s', async (approved) => {
    const page = chat({ sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
    await page.sendMessage({ text: 'Pay' });
    const asked = toolIn(page.answer);
    expect(asked).toMatchObject({ type: 'tool-pay', state: 'approval-requested', input: { cents: 5 } });
    expect(metadata(page.answer).status).toBe('paused');
    await page.addToolApprovalResponse({ id: asked.approval.id, approved, reason: 'Because.' });
    await until('the run has ended', () => metadata(page.answer).status === 'completed');
    expect(page.messages).toHaveLength(2);
    if (approved)
      expect(toolIn(page.answer)).toMatchObject({ state: 'output-available', output: { paid: 5 } });
    else expect(toolIn(page.answer).state).toBe('output-denied');
    expect(texts(page.answer).at(-1)).toBe(approved ? 'It is {"paid":5}.' : 'It is Because..');
    const { body } = await ask(`${page.id}/messages`);
    expect(texts(body.messages.at(-1))).toEqual(texts(page.answer));
  });

  test('for a tool of the page is answered with its output', async () => {
    const tools = [{ name: 'place', description: 'Where the user is', inputSchema: { type: 'object' } }];
    const page: Chat = chat({
      body: { tools },
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) => {
        const { toolCallId } = toolCall;
        if (toolCall.toolName === 'place')
          void page.addToolOutput({ tool: 'place', toolCallId, output: 'Rome' });
      },
    });
    await page.sendMessage({ text: 'Where?' });
    await until('the run has ended', () => metadata(page.answer).status === 'completed');
    expect(toolIn(page.answer)).toMatchObject({ type: 'tool-place', input: { exact: true }, output: 'Rome' });
    expect(texts(page.answer)).toEqual(['It is Rome.']);
  });

  test('is refused without an answer, and an answer to a run that has ended, too', async () => {
    const page = chat();
    await page.sendMessage({ text: 'Pay' });
    await page.sendMessage();
    expect(page.error?.message).toContain('addToolApprovalResponse');
    const other = chat();
    await other.sendMessage({ text: 'one' });
    await other.sendMessage();
    expect(other.error?.message).toContain('waits for no answer');
  });

  test('is there for a page that is opened again, which answers it', async () => {
    const page = chat();
    await page.sendMessage({ text: 'Pay' });
    const { body } = await ask(`${page.id}/messages`);
    const again = chat({ id: page.id, messages: body.messages });
    await again.resumeStream();
    expect(toolIn(again.answer).state).toBe('approval-requested');
    await again.addToolApprovalResponse({ id: toolIn(again.answer).approval.id, approved: true });
    await again.sendMessage();
    expect(texts(again.answer)).toEqual(['It is {"paid":5}.']);
  });
});

describe('a page that leaves', () => {
  test('does not end the run: it resumes it, from the beginning of the message', async () => {
    door.now = gate();
    const page = chat();
    const sent = page.sendMessage({ text: 'Linger' });
    await until('the tool is shown', () => page.messages.length === 2 && toolIn(page.answer) !== undefined);
    await page.stop();
    await sent;
    const again = chat({ id: page.id, messages: page.messages.slice(0, 1) });
    const resumed = again.resumeStream();
    await until('the tool is shown', () => again.messages.length === 2 && toolIn(again.answer) !== undefined);
    door.now.open();
    await resumed;
    expect(again.answer.id).toBe(page.answer.id);
    expect(toolIn(again.answer)).toMatchObject({ state: 'output-available', output: 'at last' });
    expect(texts(again.answer)).toEqual(['It is at last.']);
  });

  test('finds nothing to resume where nothing is in progress', async () => {
    expect((await ask('never-seen/stream')).status).toBe(204);
  });

  test('can cancel the run', async () => {
    door.now = gate();
    const page = chat();
    const sent = page.sendMessage({ text: 'Linger' });
    await until('the tool is shown', () => page.messages.length === 2 && toolIn(page.answer) !== undefined);
    // also when it has sent another message since
    await chat({ id: page.id }).sendMessage({ text: 'Hello' });
    expect((await ask(`${page.id}/cancel`, 'POST')).status).toBe(200);
    await sent;
    expect(metadata(page.answer).status).toBe('cancelled');
    door.now.open();
  });
});

test('the same message twice is one run while it lasts, and another one after that', async () => {
  door.now = gate();
  const id = `chat-${++chats}`;
  const message = (text: string) => ({ id: 'u1', role: 'user', parts: [{ type: 'text', text }] });
  const send = async (...messages: Body[]) => {
    const body = JSON.stringify({ id, messages, trigger: 'submit-message' });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/api/chat`, { method: 'POST', headers, body });
    return { runId: response.headers.get('x-run-id'), text: () => response.text() };
  };
  const sent = [send(message('Linger')), send(message('Linger'))];
  const first = await Promise.all(sent);
  const third = await send(message('Linger'));
  const other = await send(message('Hello'));
  door.now.open();
  const texts = await Promise.all([...first, third].map(({ text }) => text()));
  for (const text of texts) expect(text).toContain('at last');
  expect(await other.text()).toContain('Hello');
  const runs = async () => (await service.get(`/sessions/${id}/runs?type=agent`)).body;
  expect(await runs()).toHaveLength(2);
  // it has ended: the person wants another answer
  expect(await (await send(message('Linger'))).text()).toContain('at last');
  expect(await runs()).toHaveLength(3);
});

test('an option that does not exist is refused, and so are two components', () => {
  expect(() => aiSdk({ agnet: 'clerk' } as never)).toThrow('agnet');
  expect(() => aiSdk({ agent: 'clerk', team: 'desk' })).toThrow('one agent, team or workflow');
});
