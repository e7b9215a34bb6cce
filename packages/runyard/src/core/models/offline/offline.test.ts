import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { patience } from '../../../../test/support/patience.js';
import { referencesText } from '../../agents/knowledge/references-text.js';
import { type JsonObject, schemaData } from '../../json.js';
import { tool } from '../../tools/tool.js';
import type { Message, Role } from '../message.js';
import type { ModelRequest, ToolDefinition } from '../model.js';
import { offlineModel } from './offline.js';

const model = offlineModel();
const options = { signal: new AbortController().signal };
const say = (role: Role, content: string, rest: Partial<Message> = {}): Message => ({
  id: '1',
  role,
  content,
  createdAt: 0,
  ...rest,
});
const ask = (messages: Message[], parts: Partial<ModelRequest> = {}): ModelRequest => ({
  messages,
  tools: [],
  media: { put: async () => '', get: async () => undefined },
  ...parts,
});
const answer = async (...messages: Message[]) => (await model.generate(ask(messages), options)).content;

const execute = () => '';
const tools: ToolDefinition[] = [
  tool({
    name: 'add',
    description: 'Add two numbers',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute,
  }),
  tool({
    name: 'current_time',
    description: 'Tells the time',
    inputSchema: z.object({ zone: z.string().optional() }),
    execute,
  }),
  tool({
    name: 'get_weather',
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string(), unit: z.enum(['celsius', 'fahrenheit']).optional() }),
    execute,
  }),
  tool({
    name: 'remember',
    description: 'Stores a note',
    inputSchema: z.object({ note: z.string() }),
    execute,
  }),
  tool({
    name: 'search_knowledge_base',
    description: 'Looks a query up in the knowledge base',
    inputSchema: z.object({ query: z.string() }),
    execute,
  }),
  tool({
    name: 'send_email',
    description: 'Sends a mail',
    inputSchema: z.object({ to: z.email(), subject: z.string() }),
    execute,
  }),
].map(({ definition }) => definition);

async function calls(text: string, parts: Partial<ModelRequest> = {}): Promise<[string, unknown][]> {
  const response = await model.generate(ask([say('user', text)], { tools, ...parts }), options);
  return response.toolCalls.map((call) => [call.name, JSON.parse(call.arguments)]);
}

describe('the offline model talks', () => {
  it('says what it is, and the same each time', async () => {
    const first = await answer(say('user', 'Why is the sky blue?'));
    expect(first).toContain('Why is the sky blue?');
    expect(first).toContain('offline model');
    expect(await answer(say('user', 'Why is the sky blue?'))).toBe(first);
  });

  it('streams word by word and ends with the whole', async () => {
    const texts: string[] = [];
    let content: string | undefined;
    for await (const chunk of model.stream(ask([say('user', 'Count to 5')]), options)) {
      if (chunk.type === 'text') texts.push(chunk.text);
      if (chunk.type === 'response') content = chunk.response.content;
    }
    expect(texts).toEqual(['1 ', '2 ', '3 ', '4 ', '5']);
    expect(content).toBe('1 2 3 4 5');
  });

  it('stops when it is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = (async () => {
      for await (const _ of model.stream(ask([say('user', 'Count to 500')]), controller))
        controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
  });

  it('remembers the conversation', async () => {
    const earlier = [
      say('user', 'My name is Ada and my favourite colour is green.'),
      say('assistant', 'Nice.'),
    ];
    expect(await answer(...earlier, say('user', 'What is my name?'))).toBe('Your name is Ada.');
    expect(await answer(...earlier, say('user', 'What is my favourite colour?'))).toBe(
      'Your favourite colour is green.',
    );
    expect(await answer(...earlier, say('user', 'What did I say before?'))).toContain('“My name is Ada and');
    expect(await answer(...earlier, say('user', 'What did you say?'))).toBe('I said: “Nice.”');
    expect(await answer(say('user', 'What is my name?'))).toBe('You have not told me your name yet.');
  });

  it('follows simple instructions', async () => {
    expect(await answer(say('system', 'Greet Grace by name.'), say('user', 'Hello'))).toMatch(
      /^Hello Grace!/,
    );
    expect(await answer(say('system', 'You are talking to Alan Turing.'), say('user', 'Hi there'))).toMatch(
      /^Hello Alan Turing!/,
    );
    expect(await answer(say('system', 'Always end your answer with "Over."'), say('user', 'Say hello'))).toBe(
      'hello Over.',
    );
    expect(await answer(say('system', 'Answer in upper case.'), say('user', 'Say hello'))).toBe('HELLO');
    expect(await answer(say('system', 'Always reply only with "42".'), say('user', 'Why?'))).toBe('42');
  });

  it('answers from what it was given', async () => {
    const system = say(
      'system',
      'You are a clerk.\nThe shop opens at nine on Mondays.\nParking costs two euros.',
    );
    expect(await answer(system, say('user', 'When does the shop open on Mondays?'))).toContain(
      'opens at nine',
    );
    const context = '<additional context>\n{"plan": "pro", "seats": 5}\n</additional context>';
    expect(await answer(say('user', `What is my plan?\n\n${context}`))).toBe('Your plan is pro.');
  });

  it('reads a text file', async () => {
    const media = [
      { kind: 'file' as const, id: 'f', hash: 'h', mimeType: 'text/plain', filename: 'notes.txt' },
    ];
    const contents = {
      put: async () => '',
      get: async () => new TextEncoder().encode('The budget is 40.\nThe team has six people.'),
    };
    const request = ask([say('user', 'How many people are in the team?', { media })], { media: contents });
    expect((await model.generate(request, options)).content).toBe(
      'You sent the file notes.txt. It says: The team has six people.',
    );
  });

  it('counts tokens as an estimate', async () => {
    const { usage, content } = await model.generate(ask([say('user', 'x'.repeat(40))]), options);
    expect(usage.inputTokens).toBe(10);
    expect(usage.outputTokens).toBe(Math.ceil(content.length / 4));
    expect(usage.totalTokens).toBe(usage.inputTokens + usage.outputTokens);
  });
});

describe('the offline model calls tools', () => {
  it.each<[string, [string, unknown][]]>([
    ['What is 2 plus 3?', [['add', { a: 2, b: 3 }]]],
    ['Please add 1,000 and -2.5', [['add', { a: 1000, b: -2.5 }]]],
    ['Use add with b=7 and a=4', [['add', { a: 4, b: 7 }]]],
    ['What time is it?', [['current_time', {}]]],
    ['How is the weather in Paris in celsius?', [['get_weather', { city: 'Paris', unit: 'celsius' }]]],
    ['weather in paris', [['get_weather', { city: 'paris' }]]],
    ['Remember that I like tea.', [['remember', { note: 'I like tea' }]]],
    [
      'Send an email to a.b@example.com with subject "Hi all"',
      [['send_email', { to: 'a.b@example.com', subject: 'Hi all' }]],
    ],
  ])('%s', async (text, expected) => {
    expect(await calls(text)).toEqual(expected);
  });

  it('calls two tools for two requests', async () => {
    const called = await calls('Add 2 and 3, and tell me the current time');
    expect(called.map(([name]) => name).sort()).toEqual(['add', 'current_time']);
  });

  it('does not call a tool that it cannot fill, or that was not asked for', async () => {
    expect(await calls('Please add them up')).toEqual([]);
    expect(await calls('Send an email')).toEqual([]);
    expect(await calls('Hello, how are you?')).toEqual([]);
    expect(await calls('Do you remember my name?')).toEqual([]);
    expect(await calls('The addresses 5 and 7 are wrong')).toEqual([]);
    expect(await calls('What is 2 plus 3?', { toolChoice: 'none' })).toEqual([]);
  });

  it('calls what it must', async () => {
    const [called] = await calls('Hello', { toolChoice: { name: 'add' } });
    expect(called).toEqual(['add', { a: 0, b: 0 }]);
    expect(await calls('Hello', { toolChoice: 'required' })).toHaveLength(1);
  });

  it('answers from the results', async () => {
    const messages = [
      say('user', 'What is 2 plus 3?'),
      say('assistant', '', { toolCalls: [{ id: 'c', name: 'add', arguments: '{"a":2,"b":3}' }] }),
      say('tool', '5', { toolCallId: 'c', toolName: 'add', toolArgs: { a: 2, b: 3 } }),
    ];
    const response = await model.generate(ask(messages, { tools }), options);
    expect(response).toMatchObject({
      content: 'I called add(a: 2, b: 3) and got: 5',
      toolCalls: [],
      finishReason: 'stop',
    });
    const failed = [
      ...messages.slice(0, 2),
      say('tool', 'no luck', { toolName: 'add', toolCallError: true }),
    ];
    expect((await model.generate(ask(failed, { tools }), options)).content).toBe(
      'I called add, but it failed: no luck',
    );
  });
});

describe('the offline model fits an output schema', () => {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);

  async function fill(schema: JsonObject, text = 'Hello'): Promise<unknown> {
    const output = { name: 'answer', schema, strict: true };
    const value: unknown = JSON.parse(
      (await model.generate(ask([say('user', text)], { output }), options)).content,
    );
    const { $schema: _, ...plain } = schema;
    expect(ajv.validate(plain, value) || `${JSON.stringify(value)} ${ajv.errorsText()}`).toBe(true);
    return value;
  }

  it('takes its values from the message', async () => {
    const schema = schemaData(
      z.toJSONSchema(
        z.object({
          name: z.string(),
          age: z.int(),
          email: z.email(),
          mood: z.enum(['happy', 'sad']),
          tags: z.array(z.string()),
          nickname: z.string().optional(),
        }),
      ),
    );
    const text = 'This is Ada Lovelace, age: 36, a happy person, ada@example.com. tags: maths, engines';
    expect(await fill(schema, text)).toEqual({
      name: 'Ada Lovelace',
      age: 36,
      email: 'ada@example.com',
      mood: 'happy',
      tags: ['maths', 'engines'],
    });
  });

  it.each<[string, JsonObject]>([
    [
      'bounds',
      {
        type: 'object',
        properties: {
          a: { type: 'integer', minimum: 5, maximum: 6 },
          b: { type: 'number', exclusiveMinimum: 2, multipleOf: 3 },
        },
        required: ['a', 'b'],
      },
    ],
    ['lengths', { type: 'string', minLength: 20, maxLength: 22 }],
    ['short', { type: 'string', maxLength: 2 }],
    ['pattern', { type: 'string', pattern: '^[A-Z]{3}-\\d{4}(?:x|y)+[^a-z]$' }],
    ['escapes', { type: 'string', pattern: '^[\\]a-c]\\.\\w+\\s?$' }],
    [
      'formats',
      {
        type: 'array',
        prefixItems: [
          'date',
          'date-time',
          'time',
          'email',
          'uri',
          'uuid',
          'ipv4',
          'ipv6',
          'hostname',
          'duration',
        ].map((format) => ({ type: 'string', format })),
        minItems: 10,
      },
    ],
    ['unique items', { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3, uniqueItems: true }],
    ['unique numbers', { type: 'array', items: { type: 'integer' }, minItems: 3, uniqueItems: true }],
    [
      'references',
      {
        $ref: '#/$defs/a',
        $defs: {
          a: { type: 'object', properties: { b: { $ref: '#/$defs/b' } }, required: ['b'] },
          b: { const: 7 },
        },
      },
    ],
    [
      'alternatives',
      {
        anyOf: [
          { type: 'null' },
          { type: 'object', properties: { kind: { const: 'x' } }, required: ['kind'] },
        ],
      },
    ],
    [
      'parts',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'] },
          { properties: { b: { type: ['null', 'number'] } }, required: ['b'] },
        ],
      },
    ],
    [
      'a list of itself',
      {
        $ref: '#/$defs/node',
        $defs: {
          node: {
            type: 'object',
            properties: {
              value: { type: 'string' },
              next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
            },
            required: ['value', 'next'],
          },
        },
      },
    ],
    ['least properties', { type: 'object', additionalProperties: { type: 'number' }, minProperties: 2 }],
    [
      'zod',
      schemaData(
        z.toJSONSchema(
          z.object({
            when: z.iso.datetime(),
            id: z.uuid(),
            link: z.url(),
            code: z.string().regex(/^ab+c$/),
            more: z.record(z.string(), z.number()),
            pair: z.tuple([z.string(), z.number()]),
          }),
        ),
      ),
    ],
  ])('with %s', async (_, schema) => {
    await fill(schema);
    await fill(schema, 'Some 12 words and "quotes" about x=5, kind: x, yes.');
  });

  it('is not kept busy by a schema or a text', async () => {
    const twice = (name: string) => ({ anyOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, twice(`d${at + 1}`)]));
    const wide = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}`, { $ref: '#' }]));
    const schemas: JsonObject[] = [
      { $ref: '#/$defs/d0', $defs: { ...$defs, d40: { type: 'null' } } },
      { $ref: '#/$defs/d0', $defs: { d0: twice('d0') } },
      { type: 'object', properties: wide, required: Object.keys(wide) },
      { type: 'array', items: { type: 'string', minLength: 1e9 }, minItems: 3 },
      { type: 'string', pattern: '^(a+)+$' },
      { type: 'array', items: {}, minItems: 1e9 },
    ];
    const started = process.cpuUsage();
    for (const schema of schemas) {
      const output = { name: 'x', schema, strict: false };
      for (const text of [
        `${'a'.repeat(100_000)}!`,
        '"'.repeat(100_000),
        'A '.repeat(50_000),
        '1'.repeat(100_000),
      ]) {
        await model.generate(ask([say('user', text)], { output }), options);
        await model.generate(ask([say('system', text), say('user', text)], { tools }), options);
      }
    }
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(patience() / 1000);
  });
});

describe('the offline model with knowledge', () => {
  const system = say('system', '<knowledge_base>\nSearch first.\n</knowledge_base>');
  const [search] = tools.filter(({ name }) => name === 'search_knowledge_base');
  const documents = [
    {
      name: 'opening.md',
      content: '# Opening\nThe yard opens at nine. On Sundays it is closed.',
      meta_data: {},
    },
    { name: 'crane.md', content: 'The crane lifts forty tons.', meta_data: {} },
  ];
  const result = (content: string): Message => ({ ...say('tool', content), toolName: search!.name });

  it('searches for what it is asked, but not for a greeting or what another tool does', async () => {
    const asked = async (text: string, given = tools) => {
      const { toolCalls } = await model.generate(ask([system, say('user', text)], { tools: given }), options);
      return toolCalls.map(({ name, arguments: args }) => [name, JSON.parse(args)]);
    };
    expect(await asked('When does the yard open?', [search!])).toEqual([
      ['search_knowledge_base', { query: 'When does the yard open?' }],
    ]);
    expect(await asked('Hello!')).toEqual([]);
    expect(await asked('What is the weather in Paris?')).toEqual([['get_weather', { city: 'Paris' }]]);
  });

  it('answers from what it finds and names its sources, or says that there is nothing', async () => {
    const question = say('user', 'When does the yard open?');
    const found = result(JSON.stringify(documents, null, 2));
    expect(await answer(system, question, found)).toBe(
      'The yard opens at nine. On Sundays it is closed.\n\nSources: opening.md',
    );
    const nothing = 'I found nothing about that in the knowledge base.';
    expect(await answer(system, question, result('No documents found'))).toBe(nothing);
  });

  it.each(['json', 'yaml'] as const)('answers from references behind the question, in %s', async (format) => {
    const references = `<references>\n${referencesText(documents, format)}\n</references>`;
    const asked = (question: string) =>
      answer(say('user', `${question}\n\nWhat the knowledge base has:\n${references}`));
    expect(await asked('How much does the crane lift?')).toBe(
      'The crane lifts forty tons.\n\nSources: crane.md',
    );
    expect(await asked('When does the yard open?')).toBe(
      'The yard opens at nine. On Sundays it is closed.\n\nSources: opening.md',
    );
  });
});
