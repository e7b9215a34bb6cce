import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, tool, workflow } from '../../../src/index.js';
import { openaiApi } from '../../../src/interfaces.js';
import type { ScriptedTurn } from '../../../src/testing.js';
import { signedWithSecret } from '../../support/clients/issuer.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';

const book = new ScriptBook();
const secret = 'a secret that the callers of OpenAI alone know';
const clerk = agent({ id: 'clerk', model: book.model });
const cook = agent({ id: 'cook', model: book.model });
const typed = agent({ id: 'typed', model: book.model, outputSchema: z.object({ city: z.string() }) });
const measure = tool({ name: 'measure', description: 'Measures', externalExecution: true });

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    agents: [clerk, cook, typed, agent({ id: 'hidden', model: book.model })],
    workflows: [
      workflow({ id: 'letters', steps: [agent({ id: 'scribe', model: book.model, tools: [measure] })] }),
    ],
    interfaces: [
      openaiApi({ agents: [clerk, 'cook', typed], workflows: ['letters'], prefix: '/models/v1' }),
      openaiApi({ prefix: '/all/v1' }),
    ],
    authorization: true,
    jwtKeys: [secret],
    maxBodyBytes: 2_000_000,
  });
});
afterAll(() => service.stop());

async function clientOf(sub: string, ...scopes: string[]): Promise<OpenAI> {
  const apiKey = await signedWithSecret(secret, { sub, scopes });
  return new OpenAI({ baseURL: `${service.url}/models/v1`, apiKey });
}
function script(...turns: ScriptedTurn[]): OpenAI.ChatCompletionUserMessageParam[] {
  return [{ role: 'user', content: book.write(`message ${randomUUID()}`, ...turns) }];
}
const refusal = (work: Promise<unknown>): Promise<Body> =>
  work.then(
    () => undefined,
    (error) => error,
  );
const everyone = ['agents:run', 'agents:read', 'workflows:run'];

test('a caller sees and runs the models that their scopes name', async () => {
  const client = await clientOf('ada', 'agents:cook:run');
  const { data } = await client.models.list();
  expect(data.map(({ id }) => id)).toEqual(['cook']);
  const answer = await client.chat.completions.create({ model: 'cook', messages: script('Soup.') });
  expect(answer.choices[0]!.message.content).toBe('Soup.');
  // a component that the caller may not see, and one that the interface does not show, do not exist
  for (const model of ['clerk', 'hidden', 'agent:hidden'])
    expect(await refusal(client.chat.completions.create({ model, messages: script() }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  const reader = await clientOf('ada', 'agents:read');
  expect(await refusal(reader.chat.completions.create({ model: 'cook', messages: script() }))).toMatchObject({
    status: 403,
    type: 'permission_error',
  });
});

test('early refusals have the form of the protocol', async () => {
  const nobody = new OpenAI({ baseURL: `${service.url}/models/v1`, apiKey: 'wrong', maxRetries: 0 });
  expect(await refusal(nobody.models.list())).toMatchObject({
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  });
});

test('a run belongs to the subject of the token, and only they continue it', async () => {
  const ada = await clientOf('ada', ...everyone);
  const tools = [{ type: 'function' as const, function: { name: 'weather' } }];
  const messages = script({ toolCalls: [{ name: 'weather', id: 'w', arguments: {} }] }, 'Hot.');
  const asked: Body = await ada.chat.completions.create({ model: 'clerk', messages, tools, user: 'eve' });
  const [call] = asked.choices[0].message.tool_calls;
  const answers: OpenAI.ChatCompletionMessageParam[] = [
    ...messages,
    asked.choices[0].message,
    { role: 'tool', tool_call_id: call.id, content: '30' },
  ];
  const eve = await clientOf('eve', ...everyone);
  expect(await refusal(eve.chat.completions.create({ model: 'clerk', messages: answers }))).toMatchObject({
    status: 400,
    code: 'tool_call_not_found',
  });
  expect(await refusal(eve.chat.completions.retrieve(asked.id))).toMatchObject({ status: 404 });
  // of the model that made the call, and no other
  expect(await refusal(ada.chat.completions.create({ model: 'cook', messages: answers }))).toMatchObject({
    status: 400,
    code: 'tool_call_not_found',
  });
  // two at once: the run continues once, and both get its answer, or one receives an error
  const both = await Promise.allSettled(
    [1, 2].map(() => ada.chat.completions.create({ model: 'clerk', messages: answers })),
  );
  const contents = both.map((one) =>
    one.status === 'fulfilled' ? one.value.choices[0]!.message.content : (one.reason as Body).status,
  );
  expect(contents).toContain('Hot.');
  expect(contents.every((one) => ['Hot.', 409, 400].includes(one as string))).toBe(true);
  expect(book.requests(messages[0]!.content as string)).toHaveLength(2);
});

test('a call within a step of a workflow is executed by the client', async () => {
  const ada = await clientOf('ada', ...everyone);
  const messages = script({ toolCalls: [{ name: 'measure', id: 'm', arguments: {} }] }, 'Measured.');
  const asked = await ada.chat.completions.create({ model: 'letters', messages });
  expect(asked.choices[0]!.finish_reason).toBe('tool_calls');
  const [call] = asked.choices[0]!.message.tool_calls!;
  const answered = await ada.chat.completions.create({
    model: 'letters',
    messages: [
      ...messages,
      asked.choices[0]!.message,
      { role: 'tool', tool_call_id: call!.id, content: '30' },
    ],
  });
  expect(answered.choices[0]!.message.content).toBe('Measured.');
});

test('how an answer ended, and what it rests on, is shown in both forms', async () => {
  const client = await clientOf('ada', ...everyone);
  const source = { url: 'https://example.com/a', title: 'A', start: 0, end: 2 };
  const turns: [ScriptedTurn, Body][] = [
    [
      { text: 'So', reasoning: 'Hm.', citations: { sources: [source] } },
      {
        finish_reason: 'stop',
        message: {
          content: 'So',
          reasoning_content: 'Hm.',
          annotations: [
            {
              type: 'url_citation',
              url_citation: { url: source.url, title: 'A', start_index: 0, end_index: 2 },
            },
          ],
        },
      },
    ],
    [
      { text: 'And then', finishReason: 'length' },
      { finish_reason: 'length', message: { content: 'And then' } },
    ],
  ];
  for (const [turn, expected] of turns) {
    const whole = await client.chat.completions.create({ model: 'clerk', messages: script(turn) });
    expect(whole.choices[0]).toMatchObject(expected);
    const stream = await client.chat.completions.create({
      model: 'clerk',
      messages: script(turn),
      stream: true,
    });
    const choices: Body[] = [];
    for await (const chunk of stream) choices.push(...chunk.choices);
    expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe(expected.message.content);
    const reasoning = choices.map(({ delta }) => delta.reasoning_content ?? '').join('');
    expect(reasoning).toBe(expected.message.reasoning_content ?? '');
    expect(choices.at(-1).finish_reason).toBe(expected.finish_reason);
    expect(choices.flatMap(({ delta }) => delta.annotations ?? [])).toEqual(
      expected.message.annotations ?? [],
    );
  }
  const declined = await client.chat.completions.create({
    model: 'clerk',
    messages: script({ text: 'I will not.', finishReason: 'refusal' }),
  });
  expect(declined.choices[0]!.message).toMatchObject({ content: null, refusal: 'I will not.' });
});

test('a component with a schema of its own answers with data, also in a stream', async () => {
  const client = await clientOf('ada', ...everyone);
  for (const text of ['{"city": "Rome"}', '```json\n{"city": "Rome"}\n```']) {
    const stream = client.chat.completions.stream({ model: 'typed', messages: script(text) });
    expect(JSON.parse((await stream.finalContent())!)).toEqual({ city: 'Rome' });
  }
});

test('stored components are models, in each of their versions', async () => {
  const admin = await clientOf('root', 'agent_os:admin');
  const headers = { authorization: `Bearer ${admin.apiKey}`, 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    service.call('POST', path, { headers, body: JSON.stringify(body) });
  const id = 'cook-2';
  const config = { name: 'Two', model: { id: book.model.id } };
  const made = await post('/components', {
    component_id: id,
    component_type: 'agent',
    name: 'Two',
    config,
    stage: 'published',
  });
  expect(made.status).toBe(201);
  const other = new OpenAI({ baseURL: `${service.url}/all/v1`, apiKey: admin.apiKey });
  expect((await other.models.list()).data.map((one) => one.id)).toContain(id);
  const answer: Body = await other.chat.completions.create({ model: `${id}@1`, messages: script() });
  expect(answer).toMatchObject({ model: `${id}@1`, runyard: { status: 'completed' } });
  expect(
    await refusal(other.chat.completions.create({ model: `${id}@7`, messages: script() })),
  ).toMatchObject({
    status: 404,
  });
});

test('responses and conversations of another user do not exist', async () => {
  const scopes = [...everyone, 'sessions:read', 'sessions:write', 'sessions:delete'];
  const [ada, eve] = await Promise.all([clientOf('ada', ...scopes), clientOf('eve', ...scopes)]);
  const conversation = await ada.conversations.create();
  const input = book.write('This is mine', 'It is yours.');
  const { id } = await ada.responses.create({ model: 'clerk', conversation: conversation.id, input });
  const attempts = (response: string, session: string) => [
    eve.responses.retrieve(response),
    eve.responses.cancel(response),
    eve.responses.delete(response),
    eve.responses.inputItems.list(response),
    eve.responses.create({ model: 'clerk', previous_response_id: response, input: 'And?' }),
    eve.responses.create({ model: 'clerk', conversation: session, input: 'And?' }),
    eve.conversations.retrieve(session),
    eve.conversations.delete(session),
    eve.conversations.items.list(session),
    eve.conversations.items.create(session, { items: [{ role: 'user', content: 'And?' }] }),
  ];
  const words = async (response: string, session: string) => {
    const refused = await Promise.all(attempts(response, session).map(refusal));
    return refused.map(({ message }) => message.replaceAll(response, '…').replaceAll(session, '…'));
  };
  expect(await words(id, conversation.id)).toEqual(await words('resp_none', 'conv_none'));
  expect((await ada.responses.retrieve(id)).output_text).toBe('It is yours.');
});

test('responses and conversations need the scopes of the REST routes that do the same', async () => {
  const cook = await clientOf('ada', 'agents:cook:run');
  const { id } = await cook.responses.create({ model: 'cook', input: book.write('Soup', 'Here.') });
  expect((await cook.responses.retrieve(id)).output_text).toBe('Here.');
  expect(await refusal(cook.responses.delete(id))).toMatchObject({ status: 403 });
  expect(await refusal(cook.conversations.create())).toMatchObject({ status: 403 });
  const waiter = await clientOf('ada', 'agents:clerk:run');
  expect(await refusal(waiter.responses.retrieve(id))).toMatchObject({ status: 403 });
});

test('a run of a component that is not shown is not continued, and its conversation is not there', async () => {
  const client = await clientOf('ada', ...everyone, 'sessions:read', 'sessions:delete');
  const apiKey = client.apiKey;
  const all = new OpenAI({ baseURL: `${service.url}/all/v1`, apiKey });
  const calls = { toolCalls: [{ name: 'look', id: 'c1', arguments: {} }] };
  const tools = [{ type: 'function' as const, name: 'look', parameters: null, strict: false }];
  const input = book.write('Look for me', calls, 'Seen.');
  const { output, runyard }: Body = await all.responses.create({ model: 'hidden', input, tools });
  const { call_id } = output[0];
  const conversation = `conv_${runyard.session_id}`;
  expect(await refusal(client.conversations.items.list(conversation))).toMatchObject({ status: 404 });
  expect(await refusal(client.conversations.delete(conversation))).toMatchObject({ status: 404 });
  expect((await all.conversations.items.list(conversation)).data).toHaveLength(2);
  const answer = { input: [{ type: 'function_call_output' as const, call_id, output: 'x' }] };
  expect(await refusal(client.responses.create({ model: 'clerk', ...answer }))).toMatchObject({
    status: 400,
  });
  expect((await all.responses.create({ model: 'hidden', ...answer })).output_text).toBe('Seen.');
});
