import { describe, expect, test } from 'vitest';
import { agent, type JsonObject, tool, toolResult } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { freshSqlite } from '../../support/databases.js';
import { type Body, startService, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

type Settings = Parameters<typeof agent>[0];

/** An agent of one answer behind a service, and what its model receives. */
async function serve(settings: Partial<Settings>) {
  const model = scriptedModel(() => 'ok');
  const service = await startService({ agents: [agent({ id: 'a', name: 'Ada Bot', model, ...settings })] });
  return {
    service,
    run: async (form: object = {}) => (await service.run('a', { message: 'hi', ...form })).body as Body,
    shown: () => model.requests.at(-1)!.messages.map(({ role, content }) => [role, content]),
    system: () => model.requests.at(-1)!.messages[0]!.content,
    calls: () => model.requests.length,
  };
}

describe('dependencies', () => {
  test('may be functions, which receive the run and are called once, in parallel', async () => {
    const asked: JsonObject[] = [];
    const { run, system } = await serve({
      instructions: '{plain} {name} {seat} {nothing}',
      metadata: { tier: 'gold' },
      sessionState: { colour: 'red' },
      dependencies: {
        plain: 'p',
        name: ({ signal: _, ...facts }) => {
          asked.push(facts as unknown as JsonObject);
          return `for ${facts.userId}`;
        },
        seat: async () => ({ row: 3 }),
        nothing: () => undefined,
      },
    });
    const { run_id, session_id } = await run({ user_id: 'ada', metadata: { from: 'web' } });
    expect(system()).toBe('p for ada {"row":3} {nothing}');
    expect(asked).toEqual([
      {
        runId: run_id,
        sessionId: session_id,
        userId: 'ada',
        input: 'hi',
        claims: null,
        state: { colour: 'red' },
        metadata: { from: 'web', tier: 'gold' },
      },
    ]);
  });

  test('of the caller override the functions, which are then not called', async () => {
    const { run, system } = await serve({
      instructions: '{city}',
      dependencies: {
        city: () => {
          throw new Error('not needed');
        },
      },
    });
    await run({ dependencies: { city: 'Rome' } });
    expect(system()).toBe('Rome');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('the directory is down');
      },
      'the directory is down',
    ],
    ['answers with what JSON cannot hold', () => 1n as never, 'BigInt'],
  ])('that %s end the run by name, before the model is asked', async (_what, weather, reason) => {
    const { run, calls } = await serve({ dependencies: { weather } });
    const body = await run();
    expect(body).toMatchObject({ status: 'error', error_type: 'dependency_error' });
    expect(body.content).toMatch(/^The dependency 'weather' failed: /);
    expect(body.content).toContain(reason);
    expect(calls()).toBe(0);
  });

  test('reach the tools and are not asked for again after a crash, nor are the instructions', async () => {
    const place = await freshSqlite();
    const counts = { dependency: 0, instructions: 0 };
    const reached = gate();
    const never = new Promise<never>(() => {});
    const define = (waits: boolean) =>
      agent({
        id: 'a',
        model: scriptedModel(({ messages }) => {
          if (!waits) return messages[0]!.content;
          reached.open();
          return { text: '', waitFor: never };
        }),
        dependencies: { ticket: () => ++counts.dependency },
        instructions: ({ dependencies }) => `ticket ${dependencies.ticket}, made ${++counts.instructions}`,
      });
    const options = { database: place.url, autoMigrate: true };
    const first = await TestService.start({ ...options, agents: [define(true)] });
    const { run_id } = (await first.run('a', { message: 'hi', background: true })).body;
    await reached.opened;
    await first.stop();
    const second = await startService({ ...options, agents: [define(false)] });
    const run = await until('the run ended', async () => {
      const { body } = await second.get(`/agents/a/runs/${run_id}`);
      return body.status === 'completed' && body;
    });
    expect(run.content).toBe('ticket 1, made 1');
    expect(counts).toEqual({ dependency: 1, instructions: 1 });
  });
});

describe('instructions', () => {
  test('may be a function of the run', async () => {
    const { run, system, service } = await serve({
      instructions: async ({ userId, state, dependencies }) => [
        `Serve ${userId}`,
        `State ${JSON.stringify(state)} {city}`,
        JSON.stringify(dependencies),
      ],
      dependencies: { city: 'Oslo' },
    });
    await run({ user_id: 'ada', session_state: { n: 1 } });
    expect(system()).toBe('- Serve ada\n- State {"n":1} Oslo\n- {"city":"Oslo"}');
    expect((await service.get('/agents/a')).body).not.toHaveProperty('system_message');
  });

  test('that fail end the run with their reason', async () => {
    const { run } = await serve({
      instructions: () => {
        throw new Error('no template');
      },
    });
    expect(await run()).toMatchObject({
      status: 'error',
      error_type: 'instructions_error',
      content: 'The function that makes the instructions failed: no template',
    });
  });

  test('know the run itself, whatever a caller calls by the same names', async () => {
    const { run, system } = await serve({
      instructions: '{current_user_id}|{current_session_id}|{current_run_id}|{unknown}',
    });
    const session_state = { current_user_id: 'root', current_run_id: 'x' };
    const body = await run({ user_id: 'ada', session_id: 's', run_id: 'r', session_state });
    expect(system()).toBe('ada|s|r|{unknown}');
    expect(body.session_state).toEqual(session_state);
    expect((await run({ session_id: 't', run_id: 'q' })).session_state).toEqual({});
    expect(system()).toBe('{current_user_id}|t|q|{unknown}');
    // nor can a caller claim a user in a run that has none
    await run({ session_id: 'u', run_id: 'p', session_state, metadata: session_state });
    expect(system()).toBe('{current_user_id}|u|p|{unknown}');
  });
});

describe('hints', () => {
  test('of name and date are in the system message, the date in its time zone', async () => {
    const { run, system, service } = await serve({
      addNameToContext: true,
      addDatetimeToContext: true,
      timezone: 'Asia/Tokyo',
    });
    await run();
    expect(system()).toMatch(
      /^Your name is Ada Bot\.\n\nThe current date and time is .* \d{4} .*GMT\+9 \(Asia\/Tokyo\)\.$/,
    );
    expect((await service.get('/agents/a')).body.system_message).toEqual({
      add_name_to_context: true,
      add_datetime_to_context: true,
      timezone_identifier: 'Asia/Tokyo',
    });
  });

  test('for a time zone that does not exist are refused at once', () => {
    expect(() => agent({ id: 'a', model: 'offline', timezone: 'Mars/Olympus' })).toThrow(
      "timezone is 'Mars/Olympus'. Give the name of a time zone such as 'Europe/Paris'",
    );
  });

  test('of tools are there too, each once', async () => {
    const instructions = 'Look before you leap.';
    const { run, system } = await serve({
      instructions: 'Be kind.',
      tools: ['look', 'leap'].map((name) =>
        tool({ name, description: name, instructions, execute: () => '' }),
      ),
    });
    await run();
    expect(system()).toBe('Be kind.\n\nLook before you leap.');
  });
});

test('additional input precedes the history and is never part of it', async () => {
  const additionalInput = [
    { role: 'user', content: '2+2' },
    { role: 'assistant', content: '4' },
  ] as const;
  const { run, shown, service } = await serve({
    instructions: 'Add.',
    additionalInput,
    addHistoryToContext: true,
  });
  const first = await run({ session_id: 's', message: '1+1' });
  expect(first.additional_input).toEqual(additionalInput);
  const second = await run({ session_id: 's', message: '3+3' });
  const expected = [
    ['system', 'Add.'],
    ['user', '2+2'],
    ['assistant', '4'],
    ['user', '1+1'],
    ['assistant', 'ok'],
    ['user', '3+3'],
  ];
  expect(shown()).toEqual(expected);
  expect(second.messages.map(({ role, content }: Body) => [role, content])).toEqual([
    ...expected,
    ['assistant', 'ok'],
  ]);
  expect((await service.get('/agents/a')).body.extra_messages).toEqual({ additional_input: additionalInput });
});

describe('media that tools make', () => {
  const bytes = new Uint8Array([1, 2, 3, 255]);
  const draw = tool({
    name: 'draw',
    description: 'Draws',
    execute: () =>
      toolResult('drawn', {
        media: [
          { kind: 'image', bytes, mimeType: 'image/png', filename: 'cat.png' },
          { kind: 'audio', id: 'song', url: 'https://example.com/song.mp3' },
        ],
      }),
  });
  const image = { id: expect.any(String), mime_type: 'image/png', filename: 'cat.png', size: 4 };
  const audio = { id: 'song', url: 'https://example.com/song.mp3' };

  async function artist() {
    const script = [{ toolCalls: [{ name: 'draw' }] }, 'There.', { toolCalls: [{ name: 'draw' }] }, 'There.'];
    const model = scriptedModel(script);
    return { model, service: await startService({ agents: [agent({ id: 'a', model, tools: [draw] })] }) };
  }

  test('are shown in the run with their bytes, at once and later, and described in lists', async () => {
    const { model, service } = await artist();
    const { body } = await service.run('a', { message: 'a cat', session_id: 's' });
    const content = Buffer.from(bytes).toString('base64');
    for (const run of [body, (await service.get(`/agents/a/runs/${body.run_id}`)).body]) {
      expect(run.images).toEqual([{ ...image, content }]);
      expect(run.audio).toEqual([audio]);
      expect(run).not.toHaveProperty('videos');
      expect(run.input).toEqual({ input_content: 'a cat' });
    }
    const [listed] = (await service.get('/agents/a/runs?session_id=s')).body;
    expect([listed.images, listed.audio, listed.files]).toEqual([[image], [audio], []]);
    const seen = model.requests[1]!.messages.at(-1)!.media!;
    expect(seen.map(({ kind }) => kind)).toEqual(['image', 'audio']);
    expect(await model.requests[1]!.media.get(seen[0]!.hash!)).toEqual(bytes);
  });

  test('are described in ToolCallCompleted and RunCompleted', async () => {
    const { service } = await artist();
    const stream = await service.stream('a', { message: 'a cat' });
    await stream.over;
    for (const name of ['ToolCallCompleted', 'RunCompleted'])
      expect(stream.first(name)).toMatchObject({ images: [image], audio: [audio] });
  });
});
