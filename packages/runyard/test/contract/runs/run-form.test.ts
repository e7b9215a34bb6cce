import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Answer, type FormValue, TestService } from '../../support/service.js';

const book = new ScriptBook();
let service: TestService;

beforeAll(async () => {
  service = await TestService.start({ agents: [agent({ id: 'a', name: 'Clerk', model: book.model })] });
});
afterAll(() => service.stop());

const encodings = ['multipart', 'urlencoded'] as const;

describe.each(encodings)('a run in a form that is %s', (encoding) => {
  test('is answered with the run', async () => {
    const { status, body, headers } = await service.run('a', { message: 'hi', user_id: 'u1' }, { encoding });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toMatchObject({
      run_id: expect.any(String),
      session_id: expect.any(String),
      user_id: 'u1',
      agent_id: 'a',
      agent_name: 'Clerk',
      status: 'completed',
      content: 'Answer to: hi',
      content_type: 'str',
      model: 'scripted',
      model_provider: 'Runyard',
      tools: [],
      input: { input_content: 'hi' },
    });
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  });

  test('takes every field at once', async () => {
    const { status, body } = await service.run('a', { message: 'all of it', ...everyField }, { encoding });
    expect(status).toBe(200);
    expect(body).toMatchObject({ session_state: { s: 1 }, metadata: { m: 1 } });
  });

  test('keeps any text as it is', async () => {
    const message = 'ünïcode 日本 🎉 \u2028 "quotes" \\ & = + % \n second line';
    const { body } = await service.run('a', { message }, { encoding });
    const sent = encoding === 'multipart' ? message.replaceAll('\n', '\r\n') : message;
    expect(body.input.input_content).toBe(sent);
    expect(body.content).toBe(`Answer to: ${sent}`);
    const stored = await service.get(`/agents/a/runs/${body.run_id}`);
    expect(stored.body.input.input_content).toBe(sent);
  });

  test('needs a message', async () => {
    for (const form of [{}, { message: '' }]) {
      const { status, body } = await service.run('a', form, { encoding });
      expect(status).toBe(422);
      expect(body.detail).toEqual([
        { type: 'missing', loc: ['body', 'message'], msg: 'Field required', input: null },
      ]);
    }
  });

  test('does not read the message as JSON', async () => {
    const { body } = await service.run('a', { message: '{"a":1}' }, { encoding });
    expect(body.input.input_content).toBe('{"a":1}');
  });
});

/** Every optional field that is no upload, with a value that is right. */
const everyField: Record<string, FormValue> = {
  background: 'false',
  user_id: 'u7',
  version: 1,
  factory_input: { f: 1 },
  monitor: 'true',
  session_state: { s: 1 },
  dependencies: { d: 1 },
  metadata: { m: 1 },
  knowledge_filters: { k: 1 },
  use_json_schema: 'false',
  images: [],
  audio: [],
  videos: [],
  input_files: [],
  add_history_to_context: 'yes',
  add_dependencies_to_context: 'no',
  add_session_state_to_context: 'off',
  stream_events: '1',
  debug_mode: 'f',
  on_disconnect: 'cancel',
};

const booleans = [
  ...['stream', 'background', 'monitor', 'use_json_schema', 'stream_events', 'debug_mode'],
  ...['add_history_to_context', 'add_dependencies_to_context', 'add_session_state_to_context'],
];

describe.each(booleans)('the field %s', (field) => {
  test('refuses a value that is neither yes nor no', async () => {
    for (const value of ['maybe', '2', 'null']) {
      const answer = await service.run('a', { message: 'hi', [field]: value });
      expectFault(answer, {
        type: 'bool_parsing',
        loc: ['body', field],
        msg: 'Input should be a valid boolean, unable to interpret input',
        input: value,
      });
    }
  });

  test('counts as not sent when it is empty', async () => {
    const form = { message: 'hi', stream: 'false', [field]: '' };
    if (field === 'stream')
      expect((await (await service.stream('a', form)).end()).names).toContain('RunCompleted');
    else expect((await service.run('a', form)).status).toBe(200);
  });
});

test('booleans are understood in all their spellings', async () => {
  for (const word of ['true', '1', 'yes', 'on', 't', 'y', 'TRUE', 'Yes', 'oN']) {
    const stream = await service.stream('a', { message: 'hi', stream: word });
    expect((await stream.end()).names, word).toContain('RunCompleted');
  }
  for (const word of ['false', '0', 'no', 'off', 'f', 'n', 'False', 'NO']) {
    expect((await service.run('a', { message: 'hi', stream: word })).body.status, word).toBe('completed');
  }
});

const objects = ['session_state', 'dependencies', 'metadata', 'output_schema'];

describe.each(objects)('the field %s', (field) => {
  test('refuses malformed JSON and says where', async () => {
    const answer = await service.run('a', { message: 'hi', [field]: '{"a": nope}' });
    const item = expectFault(answer, {
      type: 'json_invalid',
      loc: ['body', field],
      msg: 'JSON decode error',
    });
    expect(item.ctx.error).toEqual(expect.any(String));
    expect(item.input).toBe('{"a": nope}');
  });

  test('refuses another kind of value', async () => {
    for (const value of ['[1]', '"text"', '3', 'null', 'true']) {
      const answer = await service.run('a', { message: 'hi', [field]: value });
      expectFault(answer, {
        type: 'dict_type',
        loc: ['body', field],
        msg: 'Input should be a valid dictionary',
      });
    }
  });

  test('counts as not sent when it is empty', async () => {
    const { status, body } = await service.run('a', { message: 'hi', [field]: '' });
    expect(status).toBe(200);
    expect(body.content).toBe('Answer to: hi');
  });

  test('is bounded in depth', async () => {
    const deep = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expectFault(await service.run('a', { message: 'hi', [field]: deep }), { loc: ['body', field] });
  });
});

describe.each(['images', 'audio', 'videos', 'input_files'])('the field %s', (field) => {
  test('refuses a value that is no array of objects', async () => {
    for (const [value, type] of [
      ['[nope', 'json_invalid'],
      ['{"url":"https://example.com/x"}', 'list_type'],
      ['null', 'list_type'],
    ] as const) {
      expectFault(await service.run('a', { message: 'hi', [field]: value }), { type, loc: ['body', field] });
    }
    expectFault(await service.run('a', { message: 'hi', [field]: '["x"]' }), {
      type: 'dict_type',
      loc: ['body', field, 0],
    });
  });

  test('may be empty', async () => {
    for (const value of ['', '[]']) {
      const { status, body } = await service.run('a', { message: 'hi', [field]: value });
      expect(status).toBe(200);
      expect(Object.keys(body.input)).toEqual(['input_content']);
    }
  });
});

describe('the field knowledge_filters', () => {
  test('takes an object, an expression and an array of expressions', async () => {
    for (const value of [
      { a: 1 },
      { op: 'EQ', key: 'a', value: 1 },
      [{ op: 'EQ', key: 'a', value: 1 }],
      '',
    ]) {
      expect((await service.run('a', { message: 'hi', knowledge_filters: value })).status).toBe(200);
    }
  });

  test('refuses everything else', async () => {
    expectFault(await service.run('a', { message: 'hi', knowledge_filters: '{nope' }), {
      type: 'json_invalid',
      loc: ['body', 'knowledge_filters'],
    });
    for (const value of ['3', 'null', '"x"']) {
      expectFault(await service.run('a', { message: 'hi', knowledge_filters: value }), {
        loc: ['body', 'knowledge_filters'],
      });
    }
    const deep = '['.repeat(5000) + ']'.repeat(5000);
    expectFault(await service.run('a', { message: 'hi', knowledge_filters: deep }), {
      loc: ['body', 'knowledge_filters'],
    });
  });
});

describe('the field version', () => {
  test('is an integer, and means nothing for an agent in code', async () => {
    expect((await service.run('a', { message: 'hi', version: '3' })).status).toBe(200);
    expect((await service.run('a', { message: 'hi', version: '' })).status).toBe(200);
    for (const value of ['abc', '1.5', '1e3', '99999999999999999999']) {
      expectFault(await service.run('a', { message: 'hi', version: value }), {
        type: 'int_parsing',
        loc: ['body', 'version'],
        msg: 'Input should be a valid integer, unable to parse string as an integer',
      });
    }
  });
});

describe('the field on_disconnect', () => {
  test('is one of two words', async () => {
    for (const value of ['continue', 'cancel', '']) {
      expect((await service.run('a', { message: 'hi', on_disconnect: value })).status).toBe(200);
    }
    expectFault(await service.run('a', { message: 'hi', on_disconnect: 'panic' }), {
      loc: ['body', 'on_disconnect'],
      msg: "Input should be 'continue' or 'cancel'",
    });
  });
});

describe('ids that clients choose', () => {
  const odd = ['with blanks', 'sl/ash', '日本', 'q?&=#', '..', "it's", 'x'.repeat(255), 'tab\tand\nline'];

  test.each(odd)('%j is taken for a session and a run, streamed or not', async (id) => {
    for (const stream of [false, true]) {
      const runId = `${id.slice(0, 240)}${stream ? '-streamed' : ''}`;
      const form = { message: 'hi', session_id: id, run_id: runId, stream };
      if (stream)
        expect((await (await service.stream('a', form, urlencoded)).end()).names).toContain('RunCompleted');
      else expect((await service.run('a', form, urlencoded)).status).toBe(200);
      if (id === '..') continue;
      const { status, body } = await service.get(`/agents/a/runs/${encodeURIComponent(runId)}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ run_id: runId, session_id: id });
    }
    const listed = await service.get(`/agents/a/runs?session_id=${encodeURIComponent(id)}`);
    expect(listed.body).toHaveLength(2);
  });

  test('are bounded', async () => {
    for (const field of ['session_id', 'run_id', 'user_id']) {
      expectFault(await service.run('a', { message: 'hi', [field]: 'x'.repeat(256) }), {
        type: 'string_too_long',
        loc: ['body', field],
        ctx: { max_length: 255 },
      });
    }
  });

  test('count as not given when they are empty', async () => {
    const { body } = await service.run('a', { message: 'hi', session_id: '', run_id: '', user_id: '' });
    expect(body.run_id).not.toBe('');
    expect(body.session_id).not.toBe('');
    expect(body.user_id).toBeNull();
  });

  const urlencoded = { encoding: 'urlencoded' } as const;
});

test('several faults are reported at once', async () => {
  const { status, body } = await service.run('a', { stream: 'false', metadata: '[]', background: 'x' });
  expect(status).toBe(422);
  expect(body.detail.map(({ loc }: { loc: string[] }) => loc[1]).sort()).toEqual([
    'background',
    'message',
    'metadata',
  ]);
});

test('unknown fields are ignored, whatever they are called', async () => {
  const names = [
    'anything',
    'input',
    'run_context',
    'yield_run_output',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ];
  for (const encoding of encodings) {
    const form = Object.fromEntries(names.map((name) => [name, 'true']));
    const { status } = await service.run('a', { message: 'hi', ...form, ['__proto__']: 'x' }, { encoding });
    expect(status).toBe(200);
  }
});

test('JSON with dangerous keys stays data', async () => {
  const { status } = await service.run('a', {
    message: 'hi',
    session_state: '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    metadata: '{"__proto__":{"polluted":1}}',
  });
  expect(status).toBe(200);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test('a key of the session state is bounded, and the bound is in the error', async () => {
  const { status, body } = await service.run('a', { message: 'hi', session_state: { ['k'.repeat(256)]: 1 } });
  expect(status).toBe(422);
  expect(body.detail).toMatchObject([
    { loc: ['body', 'session_state'], msg: expect.stringContaining('at most 255') },
  ]);
});

test('the last value of a repeated field counts', async () => {
  const body = new URLSearchParams('message=first&message=second&stream=true&stream=false');
  const { status, body: run } = await service.call('POST', '/agents/a/runs', { body });
  expect(status).toBe(200);
  expect(run.input.input_content).toBe('second');
});

interface ExpectedFault {
  readonly type?: string;
  readonly loc: (string | number)[];
  readonly msg?: string;
  readonly input?: unknown;
  readonly ctx?: object;
}

function expectFault({ status, body, headers }: Answer, expected: ExpectedFault) {
  expect(status).toBe(422);
  expect(body.detail).toHaveLength(1);
  const [item] = body.detail;
  expect(item).toMatchObject(expected);
  expect(body).toMatchObject({ error_code: 'invalid_request', request_id: headers.get('x-request-id') });
  return item;
}
