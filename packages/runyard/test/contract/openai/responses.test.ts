import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, step, team, tool, toolResult, workflow } from '../../../src/index.js';
import { openaiApi } from '../../../src/interfaces.js';
import type { ScriptedTurn } from '../../../src/testing.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { type Gate, gate } from '../../support/until.js';

const book = new ScriptBook();
let door: Gate = gate();
const paid: number[] = [];

const linger = tool({
  name: 'linger',
  description: 'Takes its time',
  execute: async () => {
    await door.opened;
    return 'done';
  },
});
const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({ cents: z.number() }),
  requiresConfirmation: true,
  execute: ({ cents }) => {
    paid.push(cents);
    return `paid ${cents}`;
  },
});
const draw = tool({
  name: 'draw',
  description: 'Draws',
  execute: () =>
    toolResult('drawn', {
      media: [{ kind: 'image', bytes: new Uint8Array([1, 2, 3]), mimeType: 'image/png' }],
    }),
});
const clerk = agent({ id: 'clerk', name: 'Clerk', model: book.model, tools: [linger, pay, draw] });

let service: TestService;
let client: OpenAI;
const folder = mkdtempSync(join(tmpdir(), 'runyard-openai-'));
beforeAll(async () => {
  service = await TestService.start({
    agents: [
      clerk,
      agent({ id: 'other', model: book.model }),
      agent({ id: 'apart', model: book.model, database: 'apart' }),
    ],
    databases: { apart: `sqlite://${folder}/apart.db` },
    teams: [team({ id: 'desk', model: book.model, members: [clerk] })],
    workflows: [
      workflow({ id: 'letters', steps: [step({ name: 'send', run: ({ input }) => `Sent: ${input}` })] }),
    ],
    interfaces: [openaiApi()],
  });
  client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const calls = (name: string, given: Body, id = 'c1') => ({ toolCalls: [{ name, id, arguments: given }] });

/** Scripts what the model answers to a message. */
function script(message: string, ...turns: ScriptedTurn[]): string {
  return book.write(message, ...turns);
}

/** What the model was shown for a message, as `role: content`. */
function shownFor(message: string): string[] {
  const request = book.requests(message).at(-1);
  return (request?.messages ?? []).map(({ role, content }) => `${role}: ${content}`);
}

const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};

const created = (params: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>) =>
  client.responses.create({ model: 'clerk', ...params });

const typesOf = ({ output }: OpenAI.Responses.Response) => output.map(({ type }) => type);

test('a response has the text, the usage and an id that leads to it', async () => {
  const input = script('Hello', 'Hello, Ada.');
  const response = await created({ input, instructions: 'Be kind.', metadata: { place: 'desk' } });
  expect(response).toMatchObject({
    object: 'response',
    status: 'completed',
    model: 'clerk',
    instructions: 'Be kind.',
    metadata: { place: 'desk' },
    output_text: 'Hello, Ada.',
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    error: null,
  });
  expect(shownFor(input)).toEqual([expect.stringContaining('Be kind.'), 'user: Hello']);
  expect(await client.responses.retrieve(response.id)).toEqual(response);
  const { data } = await client.responses.inputItems.list(response.id);
  expect(data).toMatchObject([{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }]);
});

test('the stream helper follows reasoning, tools and text, and comes back at any event', async () => {
  door = gate();
  door.open();
  const input = script(
    'Think',
    { text: 'Wait.', ...calls('linger', {}) },
    { reasoning: 'Hm', text: 'So it is.' },
  );
  const events: Body[] = [];
  const stream = client.responses.stream({ model: 'clerk', input });
  stream.on('event', (event) => events.push(event));
  const response = await stream.finalResponse();
  expect(typesOf(response)).toEqual(['message', 'mcp_call', 'reasoning', 'message']);
  expect(response.output[1]).toMatchObject({ name: 'linger', server_label: 'clerk', output: 'done' });
  expect(response.output[2]).toMatchObject({ summary: [{ text: 'Hm' }] });
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
  const again = await client.responses.retrieve(response.id, { stream: true, starting_after: 7 });
  const replayed: Body[] = [];
  for await (const event of again) replayed.push(event);
  expect(replayed).toEqual(events.slice(8));
  const { output_text: _text, ...stored } = await client.responses.retrieve(response.id);
  expect(replayed.at(-1).response).toEqual(stored);
});

test('the client executes its function, and the same run continues with the output', async () => {
  const input = script('Weather?', calls('weather', { city: 'Rome' }), 'It is sunny.');
  const first = await created({ input, tools: [weather] });
  const [call] = first.output as Body[];
  expect(call).toMatchObject({ type: 'function_call', name: 'weather', arguments: '{"city":"Rome"}' });
  const outputs = [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'sun' }];
  const second = await created({ previous_response_id: first.id, input: outputs, tools: [weather] });
  expect(second).toMatchObject({ output_text: 'It is sunny.', previous_response_id: first.id });
  expect(second.id).not.toBe(first.id);
  expect((second as Body).runyard.run_id).toBe((first as Body).runyard.run_id);
  // each part of the run stays what it was
  expect(typesOf(await client.responses.retrieve(first.id))).toEqual(['function_call']);
  expect(await client.responses.retrieve(second.id)).toEqual(second);
  // outputs count once: a client that got no response may send them again
  const again = await created({ previous_response_id: first.id, input: outputs });
  expect(again).toEqual(second);
  const others = outputs.map((one) => ({ ...one, output: 'rain' }));
  const refused = (input: Body) => expect(created({ previous_response_id: first.id, input })).rejects;
  await refused(others).toThrow(/No response waits/);
  await refused('And?').toThrow(/asked for an answer/);
  const third = await created({ previous_response_id: second.id, input: script('Sure?', 'Yes.') });
  expect(third.output_text).toBe('Yes.');
  expect(shownFor('Sure?').slice(-4)).toEqual([
    expect.stringMatching('assistant:'),
    'tool: sun',
    'assistant: It is sunny.',
    'user: Sure?',
  ]);
});

test('a client without state sends the items back, and its output finds the run', async () => {
  const input = script('Weather now?', calls('weather', { city: 'Oslo' }), 'It snows.');
  const first = await created({ input, tools: [weather], store: false });
  const [call] = first.output as Body[];
  const items = [
    { role: 'user' as const, content: input },
    call,
    { type: 'function_call_output' as const, call_id: call.call_id, output: 'snow' },
  ];
  const second = await created({ input: items, tools: [weather], store: false });
  expect(second.output_text).toBe('It snows.');
  await expect(client.responses.retrieve(first.id)).rejects.toThrow(/not found/);
  // the finished calls are history from now on
  const next = script('Thanks', 'You are welcome.');
  const third = await created({
    input: [...items, { role: 'assistant', content: 'It snows.' }, { role: 'user', content: next }],
  });
  expect(third.output_text).toBe('You are welcome.');
  expect(shownFor(next).slice(-4)).toEqual([
    expect.stringMatching('assistant:'),
    'tool: snow',
    'assistant: It snows.',
    'user: Thanks',
  ]);
});

test('every output that is asked for has to be there', async () => {
  const two = {
    toolCalls: [
      ...calls('weather', { city: 'Rome' }, 'a').toolCalls,
      ...calls('weather', { city: 'Bonn' }, 'b').toolCalls,
    ],
  };
  const first = await created({ input: script('Both?', two, 'Fine.'), tools: [weather] });
  const [one, other] = first.output as Body[];
  const output = ({ call_id }: Body) => ({ type: 'function_call_output' as const, call_id, output: 'sun' });
  const answer = (input: Body[]) => created({ previous_response_id: first.id, input });
  await expect(answer([output(one)])).rejects.toThrow(
    `No tool output found for function call ${other.call_id}`,
  );
  expect((await answer([output(one), output(other)])).output_text).toBe('Fine.');
});

test('a confirmation is an approval request', async () => {
  const first = await created({ input: script('Pay 3', calls('pay', { cents: 3 }), 'Paid.') });
  const [request] = first.output as Body[];
  expect(request).toMatchObject({ type: 'mcp_approval_request', name: 'pay', arguments: '{"cents":3}' });
  expect(paid).not.toContain(3);
  const stream = client.responses.stream({
    model: 'clerk',
    previous_response_id: first.id,
    input: [{ type: 'mcp_approval_response', approval_request_id: request.id, approve: true }],
  });
  const second = await stream.finalResponse();
  expect(typesOf(second)).toEqual(['mcp_call', 'message']);
  expect(second.output_text).toBe('Paid.');
  expect(paid).toContain(3);
});

test('a chain sees what was said; a branch does not see what came after', async () => {
  const one = await created({ input: script('I am Ada', 'Hello Ada') });
  const two = await created({ previous_response_id: one.id, input: script('I like tea', 'Noted') });
  expect(shownFor('I like tea')).toEqual(['user: I am Ada', 'assistant: Hello Ada', 'user: I like tea']);
  const branch = await created({ previous_response_id: one.id, input: script('What do I like?', 'No idea') });
  expect(shownFor('What do I like?')).toEqual([
    'user: I am Ada',
    'assistant: Hello Ada',
    'user: What do I like?',
  ]);
  await created({ previous_response_id: branch.id, input: script('Who am I?', 'Ada') });
  expect(shownFor('Who am I?')).toEqual([
    ...['user: I am Ada', 'assistant: Hello Ada', 'user: What do I like?', 'assistant: No idea'],
    'user: Who am I?',
  ]);
  const sessions = [one, two, branch].map((response) => (response as Body).runyard.session_id);
  expect(sessions[1]).toBe(sessions[0]);
  expect(sessions[2]).not.toBe(sessions[0]);
  // another model takes the conversation over
  await created({ model: 'other', previous_response_id: two.id, input: script('And you?', 'Me too') });
  expect(shownFor('And you?').slice(0, 3)).toEqual([
    'user: I am Ada',
    'assistant: Hello Ada',
    'user: I like tea',
  ]);
});

test('items that began a chain are seen by all that follows', async () => {
  const input = [
    { role: 'user' as const, content: 'The word is plum' },
    { role: 'assistant' as const, content: 'Good' },
    { role: 'user' as const, content: script('Keep it', 'I do') },
  ];
  const one = await created({ input });
  const two = await created({ previous_response_id: one.id, input: script('Which word?', 'Plum') });
  await created({ previous_response_id: two.id, input: script('Again?', 'Plum') });
  expect(shownFor('Again?')).toEqual([
    ...['user: The word is plum', 'assistant: Good', 'user: Keep it', 'assistant: I do'],
    ...['user: Which word?', 'assistant: Plum', 'user: Again?'],
  ]);
});

test('a response in the background is polled, followed and cancelled', async () => {
  door = gate();
  const params = { model: 'clerk', background: true };
  const queued = await client.responses.create({
    ...params,
    input: script('Slowly', calls('linger', {}), 'At last.'),
  });
  expect(['queued', 'in_progress']).toContain(queued.status);
  await expect(created({ previous_response_id: queued.id, input: 'Now?' })).rejects.toThrow(/in progress/);
  const followed = client.responses.stream({ response_id: queued.id });
  const heard = new Promise((resolve) =>
    followed.on('event', ({ type }) => type === 'response.mcp_call.in_progress' && resolve(type)),
  );
  await heard;
  expect(await client.responses.retrieve(queued.id)).toMatchObject({
    status: 'in_progress',
    output: [{ status: 'in_progress' }],
  });
  door.open();
  expect((await followed.finalResponse()).output_text).toBe('At last.');
  door = gate();
  const doomed = await client.responses.create({ ...params, input: script('Never', calls('linger', {})) });
  expect(await client.responses.cancel(doomed.id)).toMatchObject({ status: 'cancelled', background: true });
  expect((await client.responses.retrieve(doomed.id)).status).toBe('cancelled');
  door.open();
});

test('a failed run is a failed response', async () => {
  const broken = { error: 'The model is broken' };
  const response = await created({ input: script('Break', broken) });
  expect(response).toMatchObject({ status: 'failed', error: { code: 'server_error' }, output: [] });
  expect(response.error?.message).toContain('broken');
  const cut = await created({ input: script('Long', { text: 'And so', finishReason: 'length' }) });
  expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
});

test('structured output is parsed by the helper', async () => {
  const Person = z.object({ name: z.string(), age: z.number() });
  const input = script('Who?', '{"name":"Ada","age":36}');
  const response = await client.responses.parse({
    model: 'clerk',
    input,
    text: { format: zodTextFormat(Person, 'person') },
  });
  expect(response.output_parsed).toEqual({ name: 'Ada', age: 36 });
  const streamed = client.responses.stream({
    model: 'clerk',
    input: script('Who else?', '{"name":"Bob","age":7}'),
    text: { format: zodTextFormat(Person, 'person') },
  });
  expect((await streamed.finalResponse()).output_parsed).toEqual({ name: 'Bob', age: 7 });
});

test('pictures go both ways', async () => {
  const image_url = 'data:image/png;base64,AQID';
  const content = [
    { type: 'input_text' as const, text: script('Look', calls('draw', {}), 'Drawn.') },
    { type: 'input_image' as const, image_url, detail: 'auto' as const },
  ];
  const response = await created({ input: [{ role: 'user', content }] });
  const shown = book.requests('Look')[0]?.messages.at(-1)?.media;
  expect(shown).toMatchObject([{ kind: 'image', mimeType: 'image/png' }]);
  expect(response.output.at(-1)).toMatchObject({ type: 'image_generation_call', result: 'AQID' });
});

test('teams and workflows answer, too', async () => {
  const desk = await created({ model: 'desk', input: script('Hello, desk', 'Open.') });
  expect(desk.output_text).toBe('Open.');
  const letters = await client.responses.stream({ model: 'letters', input: 'a letter' }).finalResponse();
  expect(letters.output_text).toBe('Sent: a letter');
});

test('a conversation keeps what is said in it', async () => {
  const conversation = await client.conversations.create({
    metadata: { topic: 'tea' },
    items: [{ type: 'message', role: 'user', content: 'I drink tea' }],
  });
  expect(conversation).toMatchObject({ object: 'conversation', metadata: { topic: 'tea' } });
  const one = await created({ conversation: conversation.id, input: script('Which?', 'Green') });
  expect(one.conversation).toEqual({ id: conversation.id });
  await created({ conversation: conversation.id, input: script('Why?', 'It is good') });
  expect(shownFor('Why?')).toEqual(['user: I drink tea', 'user: Which?', 'assistant: Green', 'user: Why?']);
  const { items } = client.conversations;
  await items.create(conversation.id, { items: [{ role: 'user', content: 'With milk' }] });
  await created({ conversation: conversation.id, input: script('How?', 'Hot') });
  expect(shownFor('How?').slice(-3)).toEqual(['assistant: It is good', 'user: With milk', 'user: How?']);
  const texts: string[] = [];
  // two at a time
  for await (const item of items.list(conversation.id, { order: 'asc', limit: 2 }))
    texts.push((item as Body).content[0].text);
  expect(texts.join(' | ')).toContain('I drink tea | Which? | Green | Why? | It is good');
  const [last] = (await items.list(conversation.id, { limit: 1 })).data;
  expect(await items.retrieve(String(last?.id), { conversation_id: conversation.id })).toEqual(last);
  const changed = await client.conversations.update(conversation.id, { metadata: { topic: 'milk' } });
  expect(changed.metadata).toEqual({ topic: 'milk' });
  // a chain that begins in a conversation leaves it as it is
  const aside = await created({ previous_response_id: one.id, input: script('Aside', 'Yes') });
  expect((aside as Body).runyard.session_id).not.toBe((one as Body).runyard.session_id);
  expect(await client.conversations.delete(conversation.id)).toMatchObject({ deleted: true });
  await expect(client.conversations.retrieve(conversation.id)).rejects.toThrow(/not found/);
});

test('a conversation is for any kind of component', async () => {
  const { id } = await client.conversations.create();
  await created({ model: 'desk', conversation: id, input: script('Desk?', 'Here') });
  await created({ model: 'desk', conversation: id, input: script('Still?', 'Yes') });
  expect(shownFor('Still?').slice(-3)).toEqual(['user: Desk?', 'assistant: Here', 'user: Still?']);
  expect((await client.conversations.items.list(id)).data).toHaveLength(4);
});

test('a conversation has all that a run said which waited, and what was answered', async () => {
  const { id: conversation } = await client.conversations.create();
  const { items } = client.conversations;
  expect((await items.list(conversation)).data).toEqual([]);
  const input = script(
    'Both cities?',
    calls('weather', { city: 'Rome' }, 'a'),
    calls('pay', { cents: 9 }, 'b'),
  );
  const first = await created({ conversation, input, tools: [weather] });
  const { call_id } = first.output[0] as Body;
  const output = { type: 'function_call_output' as const, call_id, output: 'sun' };
  const second = await created({ conversation, input: [output] });
  const approval = { type: 'mcp_approval_response' as const, approve: true };
  const third = await created({
    conversation,
    input: [{ ...approval, approval_request_id: (second.output[0] as Body).id }],
  });
  // also for a client that did not name it
  expect(third.previous_response_id).toBe(second.id);
  const { data } = await items.list(conversation, { order: 'asc' });
  expect(data.map(({ type }) => type)).toEqual([
    ...['message', 'function_call', 'function_call_output', 'mcp_approval_request'],
    ...['mcp_approval_response', 'mcp_call', 'message'],
  ]);
  expect(data[2]).toMatchObject(output);
  expect((await client.responses.inputItems.list(second.id)).data).toMatchObject([output]);
  expect((await client.responses.inputItems.list(third.id)).data).toMatchObject([approval]);
});

test('items that are added to a conversation at the same time are all kept', async () => {
  const { id } = await client.conversations.create();
  const { items } = client.conversations;
  const add = (content: string) => items.create(id, { items: [{ role: 'user', content }] });
  await Promise.all([
    ...['one', 'two', 'three', 'four'].map(add),
    client.conversations.update(id, { metadata: { topic: 'numbers' } }),
  ]);
  expect((await items.list(id)).data).toHaveLength(4);
  expect((await client.conversations.retrieve(id)).metadata).toEqual({ topic: 'numbers' });
});

test('a conversation continues beside a run that waits for an output', async () => {
  const { id: conversation } = await client.conversations.create();
  const waiting = script('Weather there?', { text: 'Let me see.', ...calls('weather', { city: 'Rome' }) });
  await created({ conversation, input: waiting, tools: [weather] });
  await client.conversations.items.create(conversation, { items: [{ role: 'user', content: 'Never mind' }] });
  await created({ conversation, input: script('And tea?', 'Yes') });
  expect(shownFor('And tea?')).toEqual([
    ...['user: Weather there?', 'assistant: Let me see.', 'user: Never mind', 'user: And tea?'],
  ]);
});

test('a response that waits is cancelled, and others follow it', async () => {
  const first = await created({
    input: script('Wait', calls('weather', { city: 'Rome' })),
    tools: [weather],
  });
  const cancelled = await client.responses.cancel(first.id);
  expect(cancelled).toMatchObject({ status: 'cancelled', runyard: { status: 'cancelled' } });
  expect(await client.responses.retrieve(first.id)).toMatchObject(cancelled);
  for (const model of ['clerk', 'other']) {
    const input = script(`On with ${model}`, 'Yes.');
    expect((await created({ model, previous_response_id: first.id, input })).output_text).toBe('Yes.');
  }
});

test('pictures belong to the response that the run ended with', async () => {
  const input = script(
    'Draw, then ask',
    calls('draw', {}, 'd'),
    calls('weather', { city: 'Rome' }),
    'Drawn.',
  );
  const first = await created({ input, tools: [weather] });
  const { call_id } = first.output.at(-1) as Body;
  const outputs = [{ type: 'function_call_output' as const, call_id, output: 'sun' }];
  const second = await created({ previous_response_id: first.id, input: outputs });
  expect(typesOf(second)).toContain('image_generation_call');
  expect(await client.responses.retrieve(first.id)).toEqual(first);
});

test('a response is deleted', async () => {
  for (const model of ['clerk', 'apart']) {
    const { id } = await created({ model, input: script('Forget', 'Done') });
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toThrow(/not found/);
  }
  const one = await created({ input: script('Stay', 'Done') });
  await created({ previous_response_id: one.id, input: script('Stay too', 'Done') });
  await expect(client.responses.delete(one.id)).rejects.toThrow(/Delete it whole/);
  // also one of another component
  const conversation = await client.conversations.create();
  const two = await created({ conversation: conversation.id, input: script('Mine', 'Done') });
  await created({ model: 'other', conversation: conversation.id, input: script('Yours', 'Done') });
  await expect(client.responses.delete(two.id)).rejects.toThrow(/Delete it whole/);
});

// to copy the list for each of them would take many seconds
const manyPictures = Array.from({ length: 20_000 }, () => ({
  type: 'input_image',
  image_url: 'https://example.com/',
}));

test.each([
  ['a model is unknown', { model: 'nobody', input: 'x' }, 404, 'model'],
  ['there is no input', {}, 400, 'input'],
  ['there are too many pictures', { input: [{ role: 'user', content: manyPictures }] }, 400, 'images'],
  ['a tool is of another type', { input: 'x', tools: [{ type: 'web_search' }] }, 400, 'tools[0].type'],
  ['an item is of an unknown type', { input: [{ type: 'item_reference', id: 'x' }] }, 400, 'input[0].type'],
  ['a response is unknown', { input: 'x', previous_response_id: 'resp_no' }, 400, 'previous_response_id'],
  [
    'a part of a response is unknown',
    { input: 'x', previous_response_id: 'resp_no~4' },
    400,
    'previous_response_id',
  ],
  ['a conversation is unknown', { input: 'x', conversation: 'conv_no' }, 404, null],
  ['a prompt template is named', { input: 'x', prompt: { id: 'p' } }, 400, 'prompt'],
  [
    'an output is of no run',
    { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] },
    400,
    'input',
  ],
  [
    'both states are named',
    { input: 'x', previous_response_id: 'a', conversation: 'b' },
    400,
    'previous_response_id',
  ],
  ['nothing would be left of it', { input: 'x', background: true, store: false }, 400, 'store'],
])('%s', async (_what, params, status, param) => {
  const refused = await created(params as Body).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OpenAI.APIError);
  expect(refused).toMatchObject({ status, param });
});
