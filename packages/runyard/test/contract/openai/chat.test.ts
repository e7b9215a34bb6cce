import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
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
beforeAll(async () => {
  service = await TestService.start({
    agents: [clerk, agent({ id: 'twin', model: book.model })],
    teams: [
      team({ id: 'twin', model: book.model, members: [clerk] }),
      team({ id: 'desk', model: book.model, members: [clerk] }),
    ],
    workflows: [
      workflow({
        id: 'letters',
        steps: [
          step({ name: 'draft', agent: clerk }),
          step({ name: 'send', run: ({ previousStepContent }) => `Sent: ${previousStepContent}` }),
        ],
      }),
    ],
    interfaces: [openaiApi()],
  });
  client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none' });
});
afterAll(() => service.stop());

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming;
const user = (content: string) => ({ role: 'user' as const, content });

/** A message that no other test sends, and what the model answers to it. */
function script(...turns: ScriptedTurn[]): string {
  return book.write(`message ${randomUUID()}`, ...turns);
}
function ask(content: string, more: Partial<Params> = {}): Promise<OpenAI.ChatCompletion & Body> {
  return client.chat.completions.create({ model: 'clerk', messages: [user(content)], ...more });
}
const refusal = (work: Promise<unknown>): Promise<Body> =>
  work.then(
    () => undefined,
    (error) => error,
  );
const calls = (name: string, given: Record<string, never> | object = {}, id = `call-${name}`) => ({
  name,
  id,
  arguments: given as Record<string, never>,
});
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const toolMessage = (id: string, content: string) => ({ role: 'tool' as const, tool_call_id: id, content });

test('components are models', async () => {
  const ids: string[] = [];
  for await (const { id, object, owned_by } of client.models.list()) {
    expect([object, owned_by]).toEqual(['model', 'runyard']);
    ids.push(id);
  }
  expect(ids).toEqual(['clerk', 'agent:twin', 'team:twin', 'desk', 'letters']);
  expect(await client.models.retrieve('team:twin')).toMatchObject({ id: 'team:twin', object: 'model' });
  expect(await refusal(client.models.retrieve('nobody'))).toMatchObject({
    status: 404,
    code: 'model_not_found',
    param: 'model',
    message: expect.stringContaining('Models here: clerk'),
  });
  expect(await refusal(ask('Hi', { model: 'twin' }))).toMatchObject({ status: 400, code: 'ambiguous_model' });
});

test.each([
  ['clerk', 'Hello.'],
  ['agent:clerk', 'Hello.'],
  ['team:desk', 'Hello.'],
  ['letters', 'Sent: Hello.'],
])('%s answers', async (model, content) => {
  const answer = await ask(script('Hello.'), { model });
  expect(answer).toMatchObject({
    object: 'chat.completion',
    model,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, refusal: null } }],
    runyard: { status: 'completed' },
  });
  expect(answer.usage!.total_tokens).toBeGreaterThan(0);
  expect(answer.usage!.total_tokens).toBe(answer.usage!.prompt_tokens + answer.usage!.completion_tokens);
  expect(answer.id).toBe(`chatcmpl-${answer.runyard.run_id}`);
});

test.each(['clerk', 'letters'])('%s streams', async (model) => {
  const message = script({ chunks: ['Once ', 'upon'] });
  const stream = client.chat.completions.stream({
    model,
    messages: [user(message)],
    stream_options: { include_usage: true },
  });
  const pieces: string[] = [];
  stream.on('content', (delta) => pieces.push(delta));
  const whole = await stream.finalChatCompletion();
  expect(pieces.join('')).toBe(model === 'clerk' ? 'Once upon' : 'Sent: Once upon');
  if (model === 'clerk') expect(pieces.length).toBeGreaterThan(1);
  expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop' });
  expect(whole.usage!.total_tokens).toBeGreaterThan(0);
});

test('the texts of the turns of a run are separate in a stream', async () => {
  door = gate();
  door.open();
  const message = script({ text: 'I look.', toolCalls: [calls('linger')] }, 'Done.');
  const stream = client.chat.completions.stream({ model: 'clerk', messages: [user(message)] });
  expect(await stream.finalContent()).toBe('I look.\n\nDone.');
});

test('the client keeps the conversation', async () => {
  const message = script('Ada.');
  await ask(message, {
    messages: [
      { role: 'system', content: 'Be brief about {things}.' },
      user('My name is Ada'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_00000000-0000-4000-8000-000000000000_c1',
            type: 'function',
            function: { name: 'note', arguments: '{}' },
          },
        ],
      },
      toolMessage('call_00000000-0000-4000-8000-000000000000_c1', 'noted'),
      { role: 'assistant', content: [{ type: 'text', text: 'Noted.' }] },
      { role: 'user', content: [{ type: 'text', text: message }] },
    ],
  });
  const [request] = book.requests(message);
  const [system, ...said] = request!.messages;
  expect(system!.content).toContain('Be brief about {things}.');
  expect(said.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'My name is Ada'],
    ['assistant', ''],
    ['tool', 'noted'],
    ['assistant', 'Noted.'],
    ['user', message],
  ]);
  expect(said[1]!.toolCalls).toMatchObject([{ id: 'c1' }]);
});

test('a session that the client names keeps it', async () => {
  const session = randomUUID();
  const first = script('Noted.');
  const answer = await ask(first, { metadata: { session_id: session, topic: 'names' } });
  expect(answer.runyard.session_id).toBe(session);
  const next = script('Ada.');
  await client.chat.completions.create(
    { model: 'clerk', messages: [user('not a part of it'), user(next)] },
    { headers: { 'X-Session-Id': session } },
  );
  const said = book.requests(next)[0]!.messages.map(({ content }) => content);
  expect(said.slice(-3)).toEqual([first, 'Noted.', next]);
});

test('tools of the caller continue the run that called them, once', async () => {
  const message = script(
    {
      text: 'I ask.',
      toolCalls: [calls('weather', { city: 'Rome' }, 'w1'), calls('weather', { city: 'Oslo' }, 'w2')],
    },
    'Hot and cold.',
  );
  const first = await ask(message, { tools: [weather], tool_choice: 'required' });
  const [choice] = first.choices;
  expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I ask.' } });
  expect(book.requests(message)[0]!.toolChoice).toBe('required');
  const asked = choice!.message.tool_calls!;
  expect(
    asked.map(
      (one: OpenAI.ChatCompletionMessageToolCall) =>
        one.type === 'function' && JSON.parse(one.function.arguments),
    ),
  ).toEqual([{ city: 'Rome' }, { city: 'Oslo' }]);
  const [rome, oslo] = asked;
  const messages = [user(message), choice!.message, toolMessage(rome!.id, '30'), toolMessage(oslo!.id, '-3')];
  expect(await refusal(ask('', { messages: messages.slice(0, 3), tools: [weather] }))).toMatchObject({
    status: 400,
    message: expect.stringContaining('w2'),
  });
  const second = await ask('', { messages, tools: [weather] });
  expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Hot and cold.' } });
  expect(second.runyard.run_id).toBe(first.runyard.run_id);
  // usage is that of the request, and not that of the run
  const run = await service.get(`/agents/clerk/runs/${second.runyard.run_id}`);
  expect(run.body.metrics.total_tokens).toBe(first.usage!.total_tokens + second.usage!.total_tokens);
  // a client that got no response sends the same again
  const again = await ask('', { messages, tools: [weather] });
  expect(again.choices[0]!.message.content).toBe('Hot and cold.');
  expect(book.requests(message)).toHaveLength(2);
  const other = [...messages.slice(0, 2), toolMessage(rome!.id, '31'), toolMessage(oslo!.id, '-3')];
  expect(await refusal(ask('', { messages: other }))).toMatchObject({
    status: 400,
    code: 'tool_call_not_waiting',
  });
  // what is finished is history
  const next = script('Bye.');
  const later = await ask(next, { messages: [...messages, second.choices[0]!.message, user(next)] });
  expect(later.choices[0]!.message.content).toBe('Bye.');
});

test('a model may use the id of a call again', async () => {
  const call = { toolCalls: [calls('weather', { city: 'Rome' }, 'w')] };
  const message = script(call, call, 'Still hot.');
  let messages: OpenAI.ChatCompletionMessageParam[] = [user(message)];
  const answers: (string | null)[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const { choices } = await ask('', { messages, tools: [weather] });
    const said = choices[0]!.message;
    answers.push(said.content);
    messages = [...messages, said, toolMessage(said.tool_calls?.[0]?.id ?? '', '30')];
  }
  expect(answers).toEqual([null, null, 'Still hot.']);
});

test('tool calls are streamed, and so is what follows', async () => {
  const message = script({ toolCalls: [calls('weather', { city: 'Rome' })] }, 'Hot.');
  const runner = client.chat.completions.runTools({
    model: 'clerk',
    stream: true,
    messages: [user(message)],
    tools: [
      {
        type: 'function',
        function: {
          ...weather.function,
          parse: JSON.parse as (text: string) => { city: string },
          function: ({ city }: { city: string }) => `${city}: 30`,
        },
      },
    ],
  });
  expect(await runner.finalContent()).toBe('Hot.');
  expect(book.requests(message)[1]!.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Rome: 30' });
});

test.each([
  ['call_elsewhere', 'was made by no run'],
  [`call_${randomUUID()}_w1`, 'No run of the model'],
])('results of the call %s are refused', async (id, text) => {
  const messages = [user('x'), toolMessage(id, '30')];
  expect(await refusal(ask('', { messages }))).toMatchObject({
    status: 400,
    code: 'tool_call_not_found',
    message: expect.stringContaining(text),
  });
});

test('a run that waits for a confirmation asks, and the next request answers', async () => {
  const message = script({ toolCalls: [calls('pay', { cents: 7 })] }, 'Paid.');
  const asked = await ask(message);
  expect(asked.choices[0]).toMatchObject({ finish_reason: 'stop' });
  expect(asked.choices[0]!.message.content).toContain('wants to call \'pay\' with {"cents":7}');
  const { run_id, status, requirements } = asked.runyard;
  expect([status, requirements.length]).toEqual(['paused', 1]);
  const runyard = { run_id, answers: [{ confirmed: true }] };
  const answered = await ask('Yes', { runyard } as object);
  expect(answered.choices[0]!.message.content).toBe('Paid.');
  expect(paid.filter((cents) => cents === 7)).toHaveLength(1);
  expect(await refusal(ask('Yes', { runyard } as object))).toMatchObject({ status: 400 });
});

test('a run that waits for a result and a confirmation is answered at once', async () => {
  const message = script(
    { toolCalls: [calls('pay', { cents: 8 }, 'p'), calls('weather', { city: 'Rome' }, 'w')] },
    'Paid in Rome.',
  );
  const asked = await ask(message, { tools: [weather] });
  expect(asked.choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
  expect(asked.choices[0]!.message.content).toContain("'pay'");
  const [call] = asked.choices[0]!.message.tool_calls!;
  const messages = [user(message), asked.choices[0]!.message, toolMessage(call!.id, '30')];
  expect(await refusal(ask('', { messages }))).toMatchObject({ status: 400, param: 'runyard' });
  const runyard = { run_id: asked.runyard.run_id, answers: [{ id: 'p', confirmed: true }] };
  const answered = await ask('', { messages, runyard } as object);
  expect(answered.choices[0]!.message.content).toBe('Paid in Rome.');
  expect(paid).toContain(8);
});

test('answers have the form that the client asks for', async () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  };
  const response_format = {
    type: 'json_schema' as const,
    json_schema: { name: 'place', schema, strict: true },
  };
  const parsed = await client.chat.completions.parse({
    model: 'clerk',
    messages: [user(script('{"city": "Rome"}'))],
    response_format,
  });
  expect(JSON.parse(parsed.choices[0]!.message.content!)).toEqual({ city: 'Rome' });
  const stream = client.chat.completions.stream({
    model: 'clerk',
    messages: [user(script('```json\n{"city": "Oslo"}\n```'))],
    response_format: { type: 'json_object' },
  });
  expect(JSON.parse((await stream.finalContent())!)).toEqual({ city: 'Oslo' });
  expect(await refusal(ask('x', { model: 'letters', response_format }))).toMatchObject({
    status: 400,
    param: 'response_format',
  });
});

test('pictures, sounds and files reach the model', async () => {
  const message = script('Seen.');
  const data = Buffer.from('%PDF-1.4 x').toString('base64');
  await ask(message, {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: message },
          { type: 'image_url', image_url: { url: 'https://example.com/cat.png', detail: 'low' } },
          {
            type: 'image_url',
            image_url: { url: `data:image/png;base64,${Buffer.from('png').toString('base64')}` },
          },
          {
            type: 'input_audio',
            input_audio: { data: Buffer.from('wav').toString('base64'), format: 'wav' },
          },
          { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } },
        ],
      },
    ],
  });
  const media = book.requests(message)[0]!.messages.at(-1)!.media!;
  expect(media.map(({ kind, mimeType, url }) => [kind, url ?? mimeType])).toEqual([
    ['image', 'https://example.com/cat.png'],
    ['image', 'image/png'],
    ['audio', 'audio/wav'],
    ['file', 'application/pdf'],
  ]);
});

test('files that tools made come with the answer', async () => {
  const answer = await ask(script({ toolCalls: [calls('draw')] }, 'Here.'));
  expect(answer.runyard.files).toMatchObject([{ kind: 'image', url: 'data:image/png;base64,AQID' }]);
});

test.each([
  [{ n: 2 }, 'n', 'unsupported_value'],
  [{ logprobs: true }, 'logprobs', 'unsupported_parameter'],
  [{ functions: [{ name: 'x' }] }, 'functions', 'unsupported_parameter'],
  [{ temprature: 1 }, 'temprature', 'invalid_value'],
  [{ tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools[0].type', 'invalid_value'],
  [{ tools: [{ type: 'function', function: { name: 'pay' } }] }, 'tools[0].function.name', 'invalid_value'],
  [{ tool_choice: 'required' }, 'tool_choice', 'invalid_value'],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'strange' } } } },
    'response_format',
    'invalid_value',
  ],
  [{ metadata: { session_id: 'x'.repeat(300) } }, 'metadata.session_id', 'invalid_value'],
  [
    {
      messages: [
        { role: 'system', content: 'x' },
        { role: 'tool', tool_call_id: 'x', content: 'x' },
        user('x'),
      ],
    },
    'messages[1]',
    'invalid_value',
  ],
  [{ messages: [{ role: 'assistant', content: 'x' }] }, 'messages[0].role', 'invalid_value'],
  [{ messages: [] }, 'messages', 'invalid_value'],
  [
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
    'messages[0].content[0].file.file_id',
    'unsupported_parameter',
  ],
])('%j is refused by its name', async (more, param, code) => {
  expect(await refusal(ask('x', more as object))).toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    param,
    code,
  });
});

test('an endpoint that no component can serve says so', async () => {
  const input = 'x';
  const works = [
    client.embeddings.create({ model: 'clerk', input }),
    client.responses.inputTokens.count({ model: 'clerk', input }),
  ];
  for (const work of works)
    expect(await refusal(work)).toMatchObject({ status: 404, code: 'endpoint_not_offered' });
});

test('a request that is no JSON is an error of the protocol', async () => {
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    body: '{',
    headers: { 'content-type': 'application/json' },
  });
  const { error }: Body = await response.json();
  expect([response.status, error.type]).toEqual([400, 'invalid_request_error']);
  expect([error.param, error.message]).toEqual([null, 'JSON decode error']);
});

test('parameters that belong to the model of the component are ignored', async () => {
  const answer = await ask(script('Hello.'), {
    temperature: 0,
    max_tokens: 5,
    seed: 1,
    store: true,
    user: 'ada',
  });
  expect(answer.choices[0]!.message.content).toBe('Hello.');
  const run = await service.get(`/agents/clerk/runs/${answer.runyard.run_id}`);
  expect(run.body.user_id).toBe('ada');
});

test('a failed run is an error, and the client does not repeat it', async () => {
  const message = script({ error: 'The model is broken' });
  expect(await refusal(ask(message))).toMatchObject({ status: 500, type: 'server_error' });
  expect(book.requests(message)).toHaveLength(1);
  const stream = await client.chat.completions.create({
    model: 'clerk',
    stream: true,
    messages: [user(script({ error: 'The model is broken' }))],
  });
  const read = async () => {
    for await (const _chunk of stream);
  };
  expect(String(await refusal(read()))).toContain('The model is broken');
});

test('a client that lost its connection gets the answer by the id', async () => {
  door = gate();
  const message = script({ text: 'A moment.', toolCalls: [calls('linger')] }, 'There.');
  const stream = await client.chat.completions.create({
    model: 'clerk',
    stream: true,
    messages: [user(message)],
  });
  let id = '';
  for await (const chunk of stream) {
    id = chunk.id;
    break;
  }
  door.open();
  const answer = await client.chat.completions.retrieve(id);
  expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'There.' } });
  expect(await refusal(client.chat.completions.retrieve('chatcmpl-none'))).toMatchObject({ status: 404 });
});

test('wrong options are refused', () => {
  expect(() => openaiApi({ agent: clerk } as never)).toThrow(/Did you mean agents/);
  expect(() => openaiApi({ prefix: 'v1' })).toThrow(/prefix is 'v1'/);
});
