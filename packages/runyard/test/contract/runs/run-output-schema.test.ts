import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { TestService } from '../../support/service.js';

const book = new ScriptBook();
const prompted = new ScriptBook({ structuredOutput: 'prompted' });
let service: TestService;

beforeAll(async () => {
  service = await TestService.start({
    agents: [
      agent({ id: 'native', model: book.model }),
      agent({ id: 'prompted', model: prompted.model }),
      agent({ id: 'offline', model: 'offline' }),
    ],
  });
});
afterAll(() => service.stop());

const schema = {
  title: 'Person',
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    nickname: { type: 'string' },
    addresses: {
      type: 'array',
      items: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
  required: ['name', 'age'],
};
const ada = { name: 'Ada', age: 36, addresses: [{ city: 'London' }] };

describe('output_schema', () => {
  test('makes the content an object of the type that it names', async () => {
    const message = book.write('typed person', JSON.stringify(ada));
    const { body } = await service.run('native', { message, output_schema: schema });
    expect(body).toMatchObject({ status: 'completed', content: ada, content_type: 'Person' });
    expect(book.requests(message)[0]?.output?.schema).toMatchObject({ properties: schema.properties });
    const stored = await service.get(`/agents/native/runs/${body.run_id}`);
    expect(stored.body).toMatchObject({ content: ada, content_type: 'Person' });
    const [listed] = (await service.get(`/agents/native/runs?session_id=${body.session_id}`)).body;
    expect(listed).toMatchObject({ content: ada, run_response_format: 'json' });
  });

  test('leaves out nulls, and properties that the type does not have', async () => {
    const given = { ...ada, nickname: null, invented: true, addresses: [{ city: 'London', street: 'x' }] };
    const message = book.write('person with more', JSON.stringify(given));
    const { body } = await service.run('native', { message, output_schema: schema });
    expect(body.content).toEqual(ada);
  });

  test('has a name when the schema has none', async () => {
    const { title: _, ...untitled } = schema;
    const message = book.write('nameless', JSON.stringify(ada));
    const { body } = await service.run('native', { message, output_schema: untitled });
    expect(body).toMatchObject({ content: ada, content_type: 'DynamicModel' });
  });

  test('finds the object in a fence or among words', async () => {
    for (const text of [
      `\`\`\`json\n${JSON.stringify(ada)}\n\`\`\``,
      `Here you are: ${JSON.stringify(ada)}.`,
    ]) {
      const message = book.write(`wrapped ${text}`, text);
      const { body } = await service.run('native', { message, output_schema: schema });
      expect(body).toMatchObject({ content: ada, content_type: 'Person' });
    }
  });

  test('leaves an answer that cannot be read as it is, and the run is completed', async () => {
    for (const text of ['I would rather not.', '{"name": "Ada"', '{"name":"Ada","age":"very old"}']) {
      const message = book.write(`unreadable ${text}`, text);
      const { body } = await service.run('native', { message, output_schema: schema });
      expect(body, text).toMatchObject({ status: 'completed', content: text, content_type: 'str' });
    }
  });

  test('without properties gives an empty object', async () => {
    const message = book.write('nothing asked', '{"a":1}');
    const { body } = await service.run('native', { message, output_schema: { type: 'object' } });
    expect(body.content).toEqual({});
  });

  test('may give its properties any names', async () => {
    const given = { properties: 'a', required: true, enum: [1], pattern: 'x', type: 't' };
    const properties = Object.fromEntries(Object.keys(given).map((name) => [name, {}]));
    const output_schema = { type: 'object', properties: { ...properties, properties: { type: 'string' } } };
    const message = book.write('odd names', JSON.stringify(given));
    const { body } = await service.run('native', { message, output_schema });
    expect(body).toMatchObject({ status: 'completed', content: given });
  });

  test('cannot stop the service with a pattern that takes for ever', async () => {
    const output_schema = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '^(a+)+$' } },
      patternProperties: { '^(b+)+$': { type: 'string' } },
    };
    const endless = { a: `${'a'.repeat(60)}!`, [`${'b'.repeat(60)}!`]: 'x' };
    const message = book.write('endless', JSON.stringify(endless));
    const { body } = await service.run('native', { message, output_schema });
    expect(body.status).toBe('completed');
  });

  test('may refer to itself, and be filled by the offline model', async () => {
    const output_schema = {
      title: 'Tree',
      $ref: '#/$defs/Node',
      $defs: {
        Kind: { enum: ['leaf', 'branch'] },
        Node: {
          type: 'object',
          properties: {
            kind: { $ref: '#/$defs/Kind' },
            children: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/Node' } }, { type: 'null' }] },
          },
          required: ['kind'],
        },
      },
    };
    const tree = { kind: 'branch', children: [{ kind: 'leaf' }, { kind: 'branch', children: [] }] };
    const message = book.write('a tree', JSON.stringify(tree));
    const { body } = await service.run('native', { message, output_schema });
    expect(body).toMatchObject({ content: tree, content_type: 'Tree' });
    const strange = book.write('a strange tree', '{"kind":"branch","children":[{"kind":"stone"}]}');
    expect((await service.run('native', { message: strange, output_schema })).body.content_type).toBe('str');
    const offline = await service.run('offline', { message: 'a leaf', output_schema });
    expect(offline.body).toMatchObject({ content: { kind: 'leaf' }, content_type: 'Tree' });
  });

  test('leaves an answer that is too long or too deep as text', async () => {
    const list = { type: 'array', items: {} };
    const heavy = {
      type: 'array',
      items: { allOf: Array.from({ length: 900 }, () => ({ minLength: 1 })) },
    };
    const cases: [object, string][] = [
      [list, `["${'x'.repeat(1_000_000)}"]`],
      [list, '['.repeat(65) + ']'.repeat(65)],
      [heavy, `["${'x'.repeat(900_000)}"]`],
    ];
    for (const [index, [output_schema, text]] of cases.entries()) {
      const message = book.write(`too much ${index}`, text);
      const { body } = await service.run('native', { message, output_schema });
      expect(body.content_type).toBe('str');
      expect(body.content === text).toBe(true);
    }
  });

  test.each([900, 1_900])('may have %d conditions', async (count) => {
    const output_schema = { ...schema, allOf: Array.from({ length: count }, () => ({ required: ['name'] })) };
    for (const use_json_schema of [false, true]) {
      const given = use_json_schema
        ? { type: 'json_schema', json_schema: { name: 'x', schema: output_schema } }
        : output_schema;
      const message = book.write(`${count} conditions ${use_json_schema}`, JSON.stringify(ada));
      const { body } = await service.run('native', { message, output_schema: given, use_json_schema });
      expect(body).toMatchObject({ status: 'completed', content: ada });
    }
  });

  test('takes an answer as it is before it converts it', async () => {
    const code = { oneOf: [{ type: 'integer' }, { type: 'string' }] };
    const output_schema = { type: 'object', properties: { code }, required: ['code'] };
    const message = book.write('a code', '{"code":"007"}');
    expect((await service.run('native', { message, output_schema })).body.content).toEqual({ code: '007' });
  });

  test('is explained to a model that cannot be held to it', async () => {
    const message = prompted.write('asked in words', JSON.stringify(ada));
    const { body } = await service.run('prompted', { message, output_schema: schema });
    expect(body.content).toEqual(ada);
    const system = prompted.requests(message)[0]?.messages.find(({ role }) => role === 'system');
    expect(system?.content).toContain('"addresses"');
  });

  test('is fitted by the offline model', async () => {
    const { body } = await service.run('offline', { message: 'Who is Ada?', output_schema: schema });
    expect(body).toMatchObject({ status: 'completed', content_type: 'Person' });
    expect(body.content).toMatchObject({ name: expect.any(String), age: expect.any(Number) });
  });

  test('gives a stream one content event with the whole object', async () => {
    const message = book.write('streamed person', JSON.stringify(ada));
    const stream = await (await service.stream('native', { message, output_schema: schema })).end();
    expect(stream.all('RunContent')).toHaveLength(1);
    expect(stream.first('RunContent')).toMatchObject({ content: ada, content_type: 'Person' });
    expect(stream.first('RunCompleted')).toMatchObject({ content: ada, content_type: 'Person' });
  });

  test.each([
    ['a type that there is not', { type: 'objekt', properties: {} }],
    ['properties that are no schemas', { type: 'object', properties: { a: 3 } }],
    ['a reference to nowhere', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a broken pattern', { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }],
    [
      'a pattern behind a literal',
      { default: { x: { pattern: '^(a+)+$' } }, properties: { a: { $ref: '#/default/x' } } },
    ],
    [
      'alternatives that multiply',
      {
        $ref: '#/$defs/p0',
        $defs: Object.fromEntries(
          Array.from({ length: 60 }, (_, index) => {
            const next = { $ref: `#/$defs/p${Math.min(index + 1, 59)}` };
            return [`p${index}`, index === 59 ? { type: 'string' } : { anyOf: [next, next] }];
          }),
        ),
      },
    ],
    [
      'thousands of properties',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [index, {}])),
      },
    ],
    [
      'many properties that many references share',
      {
        allOf: Array.from({ length: 490 }, () => ({ $ref: '#/$defs/wide' })),
        $defs: {
          wide: {
            properties: Object.fromEntries(
              Array.from({ length: 12_000 }, (_, index) => [index, { not: { $ref: '#/$defs/wide' } }]),
            ),
          },
        },
      },
    ],
    ['nothing but itself', { $ref: '#' }],
    ['a promise in it', { $async: true, type: 'object' }],
  ])('with %s is refused before anything happens', async (_what, output_schema) => {
    const calls = book.model.requests.length;
    for (const stream of [false, true]) {
      const { status, body } = await service.run('native', { message: 'x', output_schema, stream });
      expect(status).toBe(422);
      expect(body.detail[0]).toMatchObject({ type: 'value_error', loc: ['body', 'output_schema'] });
    }
    expect(book.model.requests.length).toBe(calls);
  });
});

describe('use_json_schema', () => {
  const wrapped = { type: 'json_schema', json_schema: { name: 'person', schema, strict: true } };

  test('passes the schema on and returns the result', async () => {
    const given = { ...ada, nickname: null, invented: true };
    const message = book.write('dictionary', JSON.stringify(given));
    const { body } = await service.run('native', { message, output_schema: wrapped, use_json_schema: true });
    expect(body).toMatchObject({ status: 'completed', content: given, content_type: 'dict' });
    expect(book.requests(message)[0]?.output).toEqual({ name: 'person', schema, strict: true });
  });

  test('leaves an answer that is no JSON as text', async () => {
    const message = book.write('dictionary, no', 'No.');
    const { body } = await service.run('native', { message, output_schema: wrapped, use_json_schema: true });
    expect(body).toMatchObject({ status: 'completed', content: 'No.', content_type: 'str' });
  });

  test('has the same bounds', async () => {
    const output_schema = { type: 'json_schema', json_schema: { name: 'x', schema: { $ref: '#' } } };
    const { status, body } = await service.run('offline', {
      message: 'x',
      output_schema,
      use_json_schema: true,
    });
    expect(status).toBe(422);
    expect(body.detail[0]).toMatchObject({ type: 'value_error', loc: ['body', 'output_schema'] });
  });

  test('refuses a schema of another form', async () => {
    for (const output_schema of [
      schema,
      { type: 'json_schema' },
      { type: 'json_schema', json_schema: { schema } },
    ]) {
      const { status, body } = await service.run('native', {
        message: 'x',
        output_schema,
        use_json_schema: true,
      });
      expect(status).toBe(422);
      expect(body.detail[0].loc).toEqual(['body', 'output_schema']);
    }
  });

  test('means nothing without a schema', async () => {
    const { body } = await service.run('native', { message: 'no schema at all', use_json_schema: true });
    expect(body).toMatchObject({ content: 'Answer to: no schema at all', content_type: 'str' });
  });

  test('describes the schema of its own request, not of the run that continues', async () => {
    const continued = async (first: Record<string, unknown>, next: Record<string, unknown>) => {
      const said = JSON.stringify(ada);
      const message = book.write(`continued ${JSON.stringify([first, next])}`, said, said);
      const { body: run } = await service.run('native', { message, ...first });
      const path = `/agents/native/runs/${run.run_id}/continue`;
      return (await service.submit(path, { regenerate: true, stream: false, ...next })).body;
    };
    const typed = { status: 'completed', content: ada, content_type: 'Person' };
    const asItIs = { ...typed, content_type: 'dict' };
    const unchanged = { output_schema: wrapped, use_json_schema: true };
    expect(await continued({ output_schema: schema }, { use_json_schema: true })).toMatchObject(typed);
    expect(await continued(unchanged, { output_schema: schema })).toMatchObject(typed);
    expect(await continued({ output_schema: schema }, unchanged)).toMatchObject(asItIs);
    expect(await continued(unchanged, { use_json_schema: false })).toMatchObject(asItIs);
  });
});
