import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { agent, RunyardError } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';

const echo = () => scriptedModel((request) => request.messages.at(-1)?.content ?? '');
const order = z.object({
  item: z.string().min(2),
  count: z.number().int().default(1),
  address: z.object({ city: z.string() }).optional(),
});
const orderJson = {
  type: 'object',
  properties: { item: { type: 'string', minLength: 2 }, count: { type: 'integer', default: 1 } },
  required: ['item'],
  additionalProperties: false,
};

describe('an input schema', () => {
  test.each([
    ['zod', order],
    ['JSON schema', orderJson],
  ])('as %s: the object with its defaults is the input', async (_what, inputSchema) => {
    const model = echo();
    const service = await startService({ agents: [agent({ id: 'shop', model, inputSchema })] });
    const { body } = await service.run('shop', { message: '{"item":"tea"}' });
    const indented = JSON.stringify({ item: 'tea', count: 1 }, null, 2);
    expect(body).toMatchObject({
      status: 'completed',
      content: indented,
      input: { input_content: indented },
    });
    expect(model.requests[0]?.messages.at(-1)?.content).toBe(indented);
    const shown = (await service.get('/agents/shop')).body.input_schema;
    expect(shown).toMatchObject({
      type: 'object',
      properties: { item: { type: 'string' } },
      required: ['item'],
    });
  });

  const misfits: [string, string, object][] = [
    ['no JSON', 'tea, please', { type: 'json_invalid', loc: ['body', 'message'] }],
    ['no object', '["tea"]', { type: 'dict_type', loc: ['body', 'message'] }],
    ['a missing field', '{"count":2}', { type: 'missing', loc: ['body', 'message', 'item'] }],
    [
      'a wrong value',
      '{"item":"tea","count":"many"}',
      { type: 'value_error', loc: ['body', 'message', 'count'] },
    ],
    [
      'a value out of bounds',
      '{"item":"x"}',
      { type: 'value_error', loc: ['body', 'message', 'item'], input: 'x' },
    ],
    ['a bottomless pit', `{"item":${'['.repeat(9_000)}${']'.repeat(9_000)}}`, { type: 'value_error' }],
  ];
  test.each(misfits)('refuses %s before anything happens', async (_what, message, fault) => {
    const model = echo();
    const agents = [
      agent({ id: 'zod', model, inputSchema: order }),
      agent({ id: 'json', model, inputSchema: orderJson }),
    ];
    const service = await startService({ agents });
    for (const { id } of agents) {
      for (const form of [{ stream: false }, { stream: true }, { background: true }]) {
        const { status, body } = await service.run(id, { message, ...form });
        expect(status).toBe(422);
        expect(body.detail[0]).toMatchObject(fault);
      }
      expect((await service.get(`/agents/${id}/runs`)).body).toEqual([]);
    }
    expect(model.requests).toEqual([]);
  });

  test('says where in the object the fault is', async () => {
    const service = await startService({
      agents: [agent({ id: 'shop', model: echo(), inputSchema: order })],
    });
    const { body } = await service.run('shop', { message: '{"item":"tea","address":{"city":7}}' });
    expect(body.detail[0].loc).toEqual(['body', 'message', 'address', 'city']);
  });

  test('is held to in library use too, where an object may be given as it is', async () => {
    const shop = agent({ id: 'shop', model: echo(), inputSchema: order });
    expect((await shop.run({ item: 'tea' })).content).toContain('"count": 1');
    // @ts-expect-error the schema wants an item
    const refused = await shop.run({ count: 3 }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RunyardError);
    expect(refused).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('item') });
    // @ts-expect-error a text is no order
    await expect(shop.stream('no').next()).rejects.toThrow('message');
  });
});

const person = z
  .object({ name: z.string(), age: z.number().int().min(0), nickname: z.string().optional() })
  .meta({ title: 'Person' });
const ada = { name: 'Ada', age: 36 };

describe('an output schema of the agent', () => {
  test.each(['native', 'prompted'] as const)('is asked for and checked (%s)', async (structuredOutput) => {
    const model = scriptedModel([JSON.stringify({ ...ada, nickname: null })], { structuredOutput });
    const service = await startService({ agents: [agent({ id: 'a', model, outputSchema: person })] });
    const { body } = await service.run('a', { message: 'Who?' });
    expect(body).toMatchObject({ status: 'completed', content: ada, content_type: 'Person' });
    const [request] = model.requests;
    if (structuredOutput === 'native') {
      expect(request?.output).toMatchObject({
        name: 'Person',
        strict: true,
        schema: { additionalProperties: false },
      });
    } else
      expect(request?.messages[0]).toMatchObject({
        role: 'system',
        content: expect.stringContaining('"nickname"'),
      });
    expect((await service.get('/agents/a')).body.response_settings).toEqual({ output_schema_name: 'Person' });
  });

  test('is overridden by the one of the request', async () => {
    const model = scriptedModel(() => '{"sum":3}');
    const service = await startService({ agents: [agent({ id: 'a', model, outputSchema: person })] });
    const output_schema = { title: 'Sum', type: 'object', properties: { sum: { type: 'integer' } } };
    const { body } = await service.run('a', { message: '1 + 2', output_schema });
    expect(body).toMatchObject({ content: { sum: 3 }, content_type: 'Sum' });
  });

  test('sends an answer back once that does not fit, with its faults', async () => {
    const model = scriptedModel(['{"name":"Ada","age":-1}', JSON.stringify(ada), 'next']);
    const service = await startService({ agents: [agent({ id: 'a', model, outputSchema: person })] });
    const stream = await (await service.stream('a', { message: 'Who?', session_id: 's' })).end();
    expect(stream.all('RunContent').map(({ content }) => content)).toEqual([ada]);
    expect(stream.first('RunCompleted')).toMatchObject({ content: ada, content_type: 'Person' });
    const asked = model.requests[1]?.messages.at(-1)?.content;
    expect(asked).toContain('Who?');
    expect(asked).toContain('{"name":"Ada","age":-1}');
    expect(asked).toMatch(/age: .*>=0/);
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body.messages.map(({ content }: { content: string }) => content)).toEqual([
      'Who?',
      JSON.stringify(ada),
    ]);
    expect(body.metrics.details.model).toMatchObject([{ input_tokens: 20 }]);
  });

  test.each([
    ['does not help', ['still no JSON']],
    ['fails', [{ error: 'out of order' }]],
  ])('leaves the text as it was when the repair %s', async (_what, mending) => {
    const model = scriptedModel(['I would rather not.', ...mending]);
    const output = await agent({ id: 'a', model, outputSchema: person }).run('Who?');
    expect(output).toMatchObject({ status: 'completed', content: 'I would rather not.', contentType: 'str' });
    expect(model.requests).toHaveLength(2);
  });

  test('of zod can be given to a run, and types its content', async () => {
    const even = person.refine(({ age }) => age % 2 === 0, { message: 'has to be even', path: ['age'] });
    const model = scriptedModel(['{"name":"Ada","age":35}', JSON.stringify(ada)]);
    const output = await agent({ id: 'a', model }).run('Who?', { outputSchema: even });
    expect(output.content).toEqual(ada);
    if (output.status === 'completed')
      expectTypeOf(output.content).toEqualTypeOf<{ name: string; age: number; nickname?: string } | string>();
    expect(model.requests[1]?.messages.at(-1)?.content).toContain('age: has to be even');
  });
});

describe('a parser model', () => {
  test('gives the free answer of the main model its shape', async () => {
    const model = scriptedModel(['Ada, she is 36.', 'again']);
    const parser = scriptedModel([JSON.stringify(ada)], { id: 'parser' });
    const a = agent({
      id: 'a',
      model,
      parserModel: parser,
      parserModelPrompt: 'Parse!',
      outputSchema: person,
    });
    const service = await startService({ agents: [a] });
    const stream = await (await service.stream('a', { message: 'Who?', session_id: 's' })).end();
    const names = stream.names.filter((name, index) => name !== stream.names[index - 1]);
    expect(names).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'RunContent',
      'ModelRequestCompleted',
      'ParserModelResponseStarted',
      'RunContent',
      'ParserModelResponseCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    expect(stream.all('RunContent').at(-1)).toMatchObject({ content: ada, content_type: 'Person' });
    expect(model.requests[0]?.output).toBeUndefined();
    expect(parser.requests[0]?.messages.map(({ content }) => content)).toEqual(['Parse!', 'Ada, she is 36.']);
    expect(parser.requests[0]?.output?.name).toBe('Person');
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body).toMatchObject({ content: ada, content_type: 'Person' });
    expect(body.metrics.details.parser_model).toMatchObject([{ id: 'parser' }]);
    expect(body.messages.at(-1).content).toBe('Ada, she is 36.');
    expect((await service.get('/agents/a')).body.response_settings).toMatchObject({
      parser_model: { model: 'parser' },
      parser_model_prompt: 'Parse!',
    });
  });

  test('is asked again once, and the text stays when it cannot', async () => {
    const parser = scriptedModel(['no', '{"name":"Ada"}']);
    const settings = {
      id: 'a',
      model: scriptedModel(['free text']),
      parserModel: parser,
      outputSchema: person,
    };
    const output = await agent(settings).run('Who?');
    expect(output).toMatchObject({ status: 'completed', content: 'free text', contentType: 'str' });
    expect(parser.requests).toHaveLength(2);
  });

  test('has nothing to do without a schema', async () => {
    const parser = scriptedModel([]);
    const output = await agent({ id: 'a', model: scriptedModel(['text']), parserModel: parser }).run('hi');
    expect(output.content).toBe('text');
  });
});

describe('an output model', () => {
  test('writes the final text from what the main model found out', async () => {
    const model = scriptedModel(['rough notes', 'x']);
    const writer = scriptedModel(['Dear reader'], { id: 'writer' });
    const service = await startService({
      agents: [agent({ id: 'a', model, outputModel: writer, outputModelPrompt: 'Write!' })],
    });
    const stream = await (await service.stream('a', { message: 'Tell', session_id: 's' })).end();
    const names = stream.names.filter((name, index) => name !== stream.names[index - 1]);
    expect(names).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'RunIntermediateContent',
      'ModelRequestCompleted',
      'OutputModelResponseStarted',
      'RunContent',
      'OutputModelResponseCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    const intermediate = stream.all('RunIntermediateContent');
    expect(intermediate.map(({ content }) => content)).toEqual(['', 'rough ', 'notes']);
    expect(intermediate[0]).toMatchObject({ agent_id: 'a', content_type: 'str' });
    expect(stream.all('RunContent').map(({ content }) => content)).toEqual(['', 'Dear ', 'reader']);
    expect(stream.first('RunCompleted').content).toBe('Dear reader');
    expect(writer.requests[0]?.messages[0]?.content).toBe('Write!');
    expect(writer.requests[0]?.messages[1]?.content).toMatch(/Tell[\s\S]*rough notes/);
    const { body } = await service.get(`/agents/a/runs/${stream.first('RunStarted').run_id}`);
    expect(body.messages.at(-1).content).toBe('Dear reader');
    expect(body.metrics.details.output_model).toMatchObject([{ id: 'writer' }]);
    expect(JSON.stringify(body.events)).not.toContain('RunIntermediateContent');
  });

  test('writes without streaming, and in the shape of a schema', async () => {
    const writer = () => scriptedModel(['{"name":"Ada","age":"?"}', JSON.stringify(ada)]);
    const plain = await agent({
      id: 'a',
      model: scriptedModel(['n']),
      outputModel: scriptedModel(['final']),
    }).run('hi');
    expect(plain).toMatchObject({ content: 'final', contentType: 'str' });
    const settings = {
      id: 'a',
      model: scriptedModel(['notes']),
      outputModel: writer(),
      outputSchema: person,
    };
    const shaped = await agent(settings).run('hi');
    expect(shaped).toMatchObject({ content: ada, contentType: 'Person' });
  });

  test('hands on to a parser model', async () => {
    const settings = {
      id: 'a',
      model: scriptedModel(['notes']),
      outputModel: scriptedModel(['Ada is 36']),
      parserModel: scriptedModel((request) => {
        expect(request.messages.at(-1)?.content).toBe('Ada is 36');
        return JSON.stringify(ada);
      }),
      outputSchema: person,
    };
    const output = await agent(settings).run('hi');
    expect(output.content).toEqual(ada);
    expect(output.messages.at(-1)?.content).toBe('Ada is 36');
  });
});
