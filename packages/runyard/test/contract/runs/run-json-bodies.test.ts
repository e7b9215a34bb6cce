import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, step, workflow } from '../../../src/index.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Answer, type Body, TestService } from '../../support/service.js';

const book = new ScriptBook();
const seen: unknown[] = [];
const watched = agent({
  id: 'watched',
  name: 'Watched',
  model: book.model,
  instructions: 'Speak to {customer}',
  preHooks: [
    (_input, { fields }) => {
      seen.push(fields);
    },
  ],
});
const shaped = agent({
  id: 'shaped',
  name: 'Shaped',
  model: book.model,
  inputSchema: z.object({ topic: z.string() }),
});
const press = workflow({ id: 'press', name: 'Press', steps: [step({ name: 'draft', agent: watched })] });

let service: TestService;
beforeAll(async () => {
  const agents = [watched, shaped, payingAgent(book, 'payer').agent];
  service = await TestService.start({ agents, workflows: [press], maxFields: 40, maxBodyBytes: 65_536 });
});
afterAll(() => service.stop());

function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return service.call('POST', path, {
    body: text,
    headers: { 'content-type': 'application/json', ...headers },
  });
}
const run = (body: unknown, headers?: Record<string, string>) => send('/agents/watched/runs', body, headers);
const faults = ({ status, body }: Answer) => [status, body.detail.map(({ type, loc }: Body) => [type, loc])];

describe('a body of JSON', () => {
  test('starts a run with values in place of JSON text', async () => {
    const answer = await run(
      {
        message: 'Hello',
        stream: false,
        session_id: 'values',
        dependencies: { customer: 'Ada' },
        session_state: { cart: ['tea'], size: 2 },
        metadata: '{"source":"text"}',
        add_history_to_context: true,
        output_schema: null,
        user_id: '',
        further: { deep: [1] },
        flag: false,
      },
      { 'content-type': 'application/json; charset=utf-8' },
    );
    expect([answer.status, answer.body.content]).toEqual([200, 'Answer to: Hello']);
    expect(answer.body).toMatchObject({
      user_id: null,
      metadata: { source: 'text' },
      session_state: { cart: ['tea'], size: 2 },
    });
    expect(book.requests('Hello')[0]!.messages[0]!.content).toContain('Speak to Ada');
    expect(seen.at(-1)).toEqual({ further: '{"deep":[1]}', flag: false });
  });

  test('streams, and goes to workflows', async () => {
    const response = await fetch(`${service.url}/workflows/press/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'Write', dependencies: { customer: 'Bob' } }),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toContain('event: WorkflowCompleted');
  });

  test('may hold the object that an agent takes as its input', async () => {
    const body = { stream: false, message: { topic: 'tea' } };
    const answer = await send('/agents/shaped/runs', body);
    expect(answer.body).toMatchObject({ status: 'completed' });
    expect(JSON.parse(answer.body.input.input_content)).toEqual({ topic: 'tea' });
  });

  test('continues a run with answers as objects, and resumes its stream', async () => {
    const message = book.write('Pay', { toolCalls: [payCall(7)] }, 'Paid');
    const paused = (await send('/agents/payer/runs', { message, stream: false })).body;
    const path = `/agents/payer/runs/${paused.run_id}`;
    const requirements = paused.requirements.map((one: Body) => ({ ...one, confirmation: true }));
    const done = await send(`${path}/continue`, { requirements, stream: false });
    expect(done.body).toMatchObject({ status: 'completed', content: 'Paid' });
    const resumed = await fetch(`${service.url}${path}/resume`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"last_event_index":0}',
    });
    expect(await resumed.text()).toContain('event: RunCompleted');
    const wrong = await send(`${path}/resume`, { last_event_index: 1.5 });
    expect(faults(wrong)).toEqual([422, [['int_parsing', ['body', 'last_event_index']]]]);
  });

  test('is the same request as the form that says the same', async () => {
    const life = new RunLife(service, 'watched');
    const headers = { 'idempotency-key': 'both' };
    const form = { message: 'Once', background: true, session_state: { a: 1 }, metadata: { b: [2] } };
    const first = await life.post(form, headers);
    const second = await run({ ...form, stream: false }, headers);
    expect([second.status, second.body.run_id]).toEqual([202, first.body.run_id]);
    expect((await run({ ...form, stream: false, metadata: {} }, headers)).status).toBe(409);
  });

  test('is the same request as a form whose JSON has another layout', async () => {
    const life = new RunLife(service, 'watched');
    const values = {
      message: { topic: 'tea', size: 1 },
      knowledge_filters: { a: 1, b: [2] },
      factory_input: { c: 3 },
      further: { d: 4 },
    };
    const texts = {
      message: '{ "size": 1, "topic": "tea" }',
      knowledge_filters: '{"b": [2], "a": 1}',
      factory_input: '{"c" : 3}',
      further: '{ "d": 4 }',
    };
    const headers = { 'idempotency-key': 'layout' };
    const first = await life.post(texts, headers);
    const second = await run({ ...values, stream: false }, headers);
    expect([second.status, second.body.run_id]).toEqual([200, first.body.run_id]);
    expect((await run({ ...values, stream: false, further: { d: 5 } }, headers)).status).toBe(409);
  });

  test('holds a message that is an array as the text that a form has', async () => {
    const answers = [
      await run({ message: ['x'], stream: false }),
      await new RunLife(service, 'watched').post({ message: '["x"]' }),
    ];
    for (const { body } of answers) expect(body.content).toBe('Answer to: ["x"]');
  });

  test('may hold the number of messages to continue from', async () => {
    const first = await run({ message: 'Count', stream: false });
    const path = `/agents/watched/runs/${first.body.run_id}/continue`;
    const next = { input: 'Again', fork: true, stream: false };
    const forked = await send(path, { ...next, continue_from: 2 });
    expect([forked.status, forked.body.content]).toEqual([200, 'Answer to: Again']);
    expect((await send(path, { ...next, continue_from: 1.5 })).body.detail).toContain("continue_from '1.5'");
    expect(faults(await send(path, { ...next, continue_from: true }))).toEqual([
      422,
      [['string_type', ['body', 'continue_from']]],
    ]);
  });

  test('is read as UTF-8, with or without a byte order mark', async () => {
    const text = '\ufeff{"message":"Grüße","stream":false}';
    for (const type of ['application/json', 'application/json;charset="UTF-8"'])
      expect((await run(text, { 'content-type': type })).body.content).toBe('Answer to: Grüße');
    const session = await send('/sessions', '\ufeff{"session_id":"marked"}');
    expect([session.status, session.body.session_id]).toEqual([201, 'marked']);
    for (const path of ['/agents/watched/runs', '/sessions'])
      for (const charset of ['utf-16', 'UTF-16LE', '"iso-8859-1"']) {
        const type = `application/json; charset=${charset}`;
        const refused = await send(path, '{"message":"x"}', { 'content-type': type });
        expect([refused.status, refused.body.detail]).toEqual([
          415,
          `Content type ${type} is not accepted here. Send application/json in UTF-8.`,
        ]);
      }
  });

  test('names nothing with half a character, which no address could name again', async () => {
    for (const field of ['session_id', 'user_id', 'run_id']) {
      const refused = await run({ message: 'x', [field]: 'a\ud800' });
      expect(faults(refused)).toEqual([422, [['value_error', ['body', field]]]]);
      expect(refused.body.detail[0].msg).toContain('a lone surrogate');
    }
    expect((await run({ message: 'x', stream: false, session_id: '🙂' })).body.session_id).toBe('🙂');
  });

  test('gets the errors of a form', async () => {
    const missing = await run({});
    expect(faults(missing)).toEqual([422, [['missing', ['body', 'message']]]]);
    expect(faults(await run(''))).toEqual(faults(missing));
    const wrong = await run({
      message: 5,
      stream: 'perhaps',
      session_state: [1],
      on_disconnect: true,
      user_id: [],
    });
    expect(faults(wrong)).toEqual([
      422,
      [
        ['string_type', ['body', 'message']],
        ['bool_parsing', ['body', 'stream']],
        ['enum', ['body', 'on_disconnect']],
        ['string_type', ['body', 'user_id']],
        ['dict_type', ['body', 'session_state']],
      ],
    ]);
    expect(faults(await run('[1]'))).toEqual([422, [['dict_type', ['body']]]]);
    expect(faults(await run('{"message":'))).toEqual([422, [['json_invalid', ['body', 11]]]]);
    const files = await run({ message: 'x', files: ['aGk='] });
    expect(faults(files)).toEqual([422, [['value_error', ['body', 'files', 0]]]]);
    expect(files.body.detail[0].msg).toContain('multipart/form-data');
  });

  test('is bounded as a form is', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, 1]));
    expect((await run({ message: 'x', ...many })).body.detail).toContain('maxFields');
    expect((await run({ message: 'x'.repeat(70_000) })).body.detail).toContain('maxBodyBytes');
    expect((await run({ message: 'x', ['n'.repeat(300)]: 1 })).status).toBe(413);
    const deep = `{"message":"x","metadata":${'['.repeat(100)}${']'.repeat(100)}}`;
    expect(faults(await run(deep))).toMatchObject([422, [['json_invalid', ['body', expect.any(Number)]]]]);
    const polluted = await run('{"message":"Clean","stream":false,"__proto__":{"user_id":"eve"}}');
    expect(polluted.body).toMatchObject({ user_id: null, content: 'Answer to: Clean' });
  });

  test('is described as an addition', async () => {
    const { paths } = (await service.get('/openapi.json')).body;
    for (const path of ['', '/{run_id}/continue', '/{run_id}/resume']) {
      const { content } = paths[`/agents/{agent_id}/runs${path}`].post.requestBody;
      expect(content['application/json']['x-addition']).toBe(true);
    }
    const { properties } =
      paths['/agents/{agent_id}/runs'].post.requestBody.content['application/json'].schema;
    const values = [{ type: 'object' }, { type: 'string' }, { type: 'null' }];
    expect(properties.session_state.anyOf).toMatchObject(values);
    expect(properties.message.type).toEqual(['string', 'object', 'array']);
    expect(properties.stream.type).toEqual(['boolean', 'null']);
    expect(properties.files).toMatchObject({ type: ['array', 'null'], maxItems: 0 });
    const none = { message: 'x', stream: false, files: [] };
    expect((await run(none)).status).toBe(200);
  });
});

test('other types are refused with the names of those that are read', async () => {
  const answer = await run('message=Hello', { 'content-type': 'text/plain' });
  expect(answer.status).toBe(415);
  for (const type of ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'])
    expect(answer.body.detail).toContain(type);
});
