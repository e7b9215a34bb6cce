import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { collectTools } from '../../src/core/tools/collect-tools.js';
import { tool } from '../../src/core/tools/tool.js';
import type { ToolSource } from '../../src/core/tools/tool-source.js';
import { agent } from '../../src/index.js';
import type { McpServer } from '../../src/platform/tools/mcp/connection.js';
import { type McpToolsOptions, mcpTools } from '../../src/platform/tools/mcp/mcp-tools.js';
import { scriptedModel } from '../../src/testing.js';
import { patience } from '../support/patience.js';
import { startService } from '../support/service.js';
import { until } from '../support/until.js';
import { serverScript, sharedMcpServer, startMcpServer } from './mcp-process.js';
import { callTool, MediaShelf } from './tool-call.js';

const { signal } = new AbortController();

function use(server: McpServer, options: McpToolsOptions = {}) {
  const source = mcpTools(server, { name: 'test', ...options });
  onTestFinished(() => source.close());
  return { source, call: caller(source) };
}

function caller(source: ToolSource) {
  return async (name: string, args = {}, parts: Parameters<typeof callTool>[2] = {}) => {
    const found = (await source.tools(signal)).find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no tool ${name}`);
    return callTool(found, args, parts);
  };
}

const process_ = (...flags: string[]): McpServer => ({
  command: process.execPath,
  args: [serverScript, 'stdio', '0', ...flags],
});
const ask = (source: ToolSource) => source.tools(signal);
const namesOf = async (source: ToolSource) => (await source.tools(signal)).map(({ name }) => name);

const overHttp = { http: sharedMcpServer('http'), sessions: sharedMcpServer('sessions') };
const addressOf = async (mode: keyof typeof overHttp) => ({ url: (await overHttp[mode]()).url });

const kinds: [string, () => Promise<McpServer>][] = [
  ['a process', async () => process_()],
  ['a process that speaks only the newer protocol', async () => process_('modern')],
  ['HTTP', () => addressOf('http')],
  ['HTTP with sessions', () => addressOf('sessions')],
];

describe.each(kinds)('an MCP server over %s', (_, server) => {
  let source: ToolSource;
  let call: ReturnType<typeof caller>;
  beforeAll(async () => {
    source = mcpTools(await server(), { name: 'test' });
    call = caller(source);
  });
  afterAll(() => source.close());

  it('gives its tools, and its answers in every form', async () => {
    const media = new MediaShelf();
    const echo = (await source.tools(signal)).find(({ name }) => name === 'echo')!;
    expect(echo).toMatchObject({ description: 'Says it again', readOnly: true, sideEffects: false });
    expect(echo.definition.inputSchema).toMatchObject({ properties: { text: { type: 'string' } } });
    expect(await call('echo', { text: 'hello' })).toMatchObject({ content: 'hello', error: false });
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ content: '{"sum":3}' });
    expect(await call('fail')).toMatchObject({ content: 'I cannot.', error: true });
    expect((await call('echo', { text: 1 })).content).toContain('do not fit:\n- text');
    expect(await call('draw', {}, { environment: { media } })).toMatchObject({
      content:
        'Here:\n[image/png, 4 bytes]\nfile:///notes/a.txt\na note\nfile:///b.pdf [application/pdf, 4 bytes]\n[c](https://example.com/c)',
      media: [
        { kind: 'image', mimeType: 'image/png', hash: 'hash-0', size: 4 },
        { kind: 'file', mimeType: 'application/pdf', filename: 'b.pdf', hash: 'hash-1' },
      ],
    });
  });

  it('is notified of a cancelled run, and its progress is emitted', async () => {
    const before = Number((await call('cancelled')).content);
    const controller = new AbortController();
    const events: unknown[] = [];
    const hanging = call(
      'hang',
      {},
      {
        site: { signal: controller.signal, emit: async (event) => void events.push(event) },
      },
    );
    hanging.catch(() => {});
    await until('the server reports its progress', () => events.length > 0);
    expect(events).toEqual([{ progress: 0.25, message: 'begun' }]);
    controller.abort(new Error('cancelled'));
    await expect(hanging).rejects.toThrow('cancelled');
    await until(
      'the server is notified',
      async () => Number((await call('cancelled')).content) === before + 1,
    );
  });

  it('has its list requested again when it changes', async () => {
    expect(await namesOf(source)).not.toContain('grown');
    const before = await source.tools(signal);
    expect((await source.tools(signal))[0]).toBe(before[0]);
    await call('grow');
    await until('the new tool is there', async () => (await namesOf(source)).includes('grown'));
    expect((await source.tools(signal))[0]).toBe(before[0]);
    expect(await call('grown')).toMatchObject({ content: 'I am new' });
  });

  it('is given up on after a time', async () => {
    const timeoutMs = patience(1_000);
    const hasty = use(await server(), { timeoutMs });
    expect((await hasty.call('hang')).content).toContain(
      `the server did not answer within ${timeoutMs} ms. The call may or may not have taken effect.`,
    );
    expect(await hasty.call('echo', { text: 'still there' })).toMatchObject({ content: 'still there' });
  });
});

describe('an MCP server as a process', () => {
  it('is started at first use, once for all, and ends with the source', async () => {
    const { source, call } = use(process_());
    const answers = await Promise.all([call('who_am_i'), call('who_am_i'), call('who_am_i')]);
    const pid = Number(answers[0]!.content);
    expect(answers.map(({ content }) => content)).toEqual(Array(3).fill(String(pid)));
    expect(() => process.kill(pid, 0)).not.toThrow();
    await source.close();
    await until('the process has ended', () => !isAlive(pid));
    expect(Number((await call('who_am_i')).content)).not.toBe(pid);
  });

  it('is started again after it died', async () => {
    const { call } = use(process_());
    const first = Number((await call('who_am_i')).content);
    process.kill(first, 'SIGKILL');
    const second = await until('another one answers', async () => {
      const { content, error } = await call('who_am_i');
      return !error && Number(content) !== first && Number(content);
    });
    expect(isAlive(second)).toBe(true);
  });

  it('that dies in a call leaves no doubt unsaid, and the next call works', async () => {
    const { call } = use(process_());
    const outcome = await call('die');
    expect(outcome.error).toBe(true);
    expect(outcome.content).toMatch(
      /connection to MCP server 'test' was lost .*may or may not have taken effect/,
    );
    expect(await call('echo', { text: 'back' })).toMatchObject({ content: 'back' });
  });

  it('receives a read-only call again after a crash', async () => {
    const { call } = use(process_());
    expect((await call('die_once')).content).not.toContain('may or may not');
    const { call: callSurvivor } = use(process_('survivor'));
    expect(await callSurvivor('die_once')).toMatchObject({ content: 'alive' });
  });

  it('offers tools that can only be called as tasks: they are logged and left out', async () => {
    const lines: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, message: string) => void lines.push(message) };
    const { source } = use(process_(), { include: ['echo', 'later'] });
    for (let time = 0; time < 2; time++)
      expect((await source.tools(signal, log)).map(({ name }) => name)).toEqual(['echo']);
    expect(lines).toEqual([expect.stringMatching(/'test' offers tools .* as tasks.*: later$/)]);
  });

  it('sees nothing of our environment but what it is given', async () => {
    process.env.RUNYARD_TEST_SECRET = 'hunter2';
    onTestFinished(() => void delete process.env.RUNYARD_TEST_SECRET);
    const { call } = use({ ...process_(), env: { GIVEN: 'yes' } } as McpServer);
    expect((await call('environment', { name: 'RUNYARD_TEST_SECRET' })).content).toBe('(none)');
    expect((await call('environment', { name: 'GIVEN' })).content).toBe('yes');
  });

  it('that cannot be started is named, with what it wrote', async () => {
    const missing = use({ command: '/nowhere/server' });
    await expect(missing.source.tools(signal)).rejects.toThrow(
      /MCP server 'test' cannot be reached: .*ENOENT/,
    );
    const broken = use({ command: process.execPath, args: ['-e', 'throw new Error("no licence")'] });
    await expect(broken.source.tools(signal)).rejects.toThrow(/cannot be reached: .*no licence/s);
  });

  it('does not make one run wait that is cancelled while it starts', async () => {
    const { source } = use(
      { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] },
      { connectTimeoutMs: 1_000 },
    );
    const controller = new AbortController();
    const waiting = source.tools(controller.signal);
    controller.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    await expect(source.tools(signal)).rejects.toThrow("MCP server 'test' cannot be reached");
  });
});

describe.each(['http', 'sessions'] as const)('an MCP server over HTTP (%s)', (mode) => {
  it('is found again after it was killed and started anew', async () => {
    const first = await startMcpServer(mode);
    const { source, call } = use({ url: first.url });
    expect(await call('echo', { text: 'one' })).toMatchObject({ content: 'one' });
    await first.kill();
    expect((await call('echo', { text: 'two' })).content).toMatch(/'test' (was lost|cannot be reached)/);
    expect(await namesOf(source)).toContain('echo');
    await startMcpServer(mode, first.port);
    expect(await call('echo', { text: 'three' })).toMatchObject({ content: 'three' });
    expect(await call('add', { a: 1, b: 1 })).toMatchObject({ content: '{"sum":2}' });
  });

  it('that is started anew between two calls is not even missed', async () => {
    const first = await startMcpServer(mode);
    const { call } = use({ url: first.url });
    await call('echo', { text: 'one' });
    await first.kill();
    await startMcpServer(mode, first.port);
    expect(await call('add', { a: 1, b: 1 })).toMatchObject({ content: '{"sum":2}' });
  });

  it('that is killed in a call leaves no doubt unsaid', async () => {
    const server = await startMcpServer(mode);
    const events: unknown[] = [];
    const { call } = use({ url: server.url }, { timeoutMs: 20_000 });
    const hanging = call('hang', {}, { site: { emit: async (event) => void events.push(event) } });
    await until('the call has begun', () => events.length > 0);
    await server.kill();
    expect((await hanging).content).toContain('may or may not have taken effect');
  });

  it('gets the headers that it requires', async () => {
    const url = new URL('/secret', (await overHttp[mode]()).url).href;
    const { call } = use({ url, headers: { authorization: 'Bearer secret' } });
    expect(await call('echo', { text: 'let in' })).toMatchObject({ content: 'let in' });
    await expect(use({ url }).source.tools(signal)).rejects.toThrow("MCP server 'test' cannot be reached");
  });
});

it('headers can depend on the run: each run gets what its own headers open', async () => {
  const url = new URL('/secret', (await overHttp.http()).url).href;
  const values = (userId: string | null) => ({
    ...{ runId: 'r', sessionId: 's', userId, input: 'hi', claims: null, signal },
    ...{ state: {}, dependencies: {}, metadata: {} },
  });
  const asked: (string | null)[] = [];
  const source = mcpTools(
    {
      url,
      headers: async ({ userId }) => {
        asked.push(userId);
        if (userId === 'bob') return { authorization: 5 as never };
        return { authorization: userId === 'ada' ? 'Bearer secret' : 'Bearer wrong' };
      },
    },
    { name: 'test' },
  );
  onTestFinished(() => source.close());
  const names = async (run = values('ada')) =>
    (await source.tools(signal, undefined, run)).map(({ name }) => name);
  expect(await names()).toContain('echo');
  expect(await names()).toContain('echo');
  await expect(names(values('bob'))).rejects.toThrow(
    "The function for the headers of MCP server 'test': what it returned.authorization is a number",
  );
  // one run does not get what the headers of another opened
  await expect(names(values('eve'))).rejects.toThrow("MCP server 'test' cannot be reached");
  expect(asked).toEqual(['ada', 'ada', 'bob', 'eve']);
  await expect(source.tools(signal)).rejects.toThrow('is asked outside of a run');
  expect(() => mcpTools({ url, headers: () => ({}) }, { useServerInstructions: true })).toThrow(
    'useServerInstructions cannot be given together',
  );
});

it('an agent does without an optional server that cannot be reached', async () => {
  const url = `http://127.0.0.1:${await unusedPort()}/mcp`;
  const dead = mcpTools({ url }, { name: 'docs', optional: true });
  const helper = agent({
    id: 'helper',
    model: scriptedModel(({ tools }) => `${tools.length} tools`),
    tools: [dead],
  });
  const service = await startService({ agents: [helper] });
  const { body } = await service.run('helper', { message: 'hello' });
  expect(body).toMatchObject({ content: '0 tools', unavailable_tool_sources: ['docs'] });
  await service.run('helper', { message: 'hello' });
  const warnings = service.logged.filter(({ fields }) => fields.source === 'docs');
  expect(warnings).toHaveLength(1);
  const needed = agent({ id: 'n', model: 'offline', tools: [mcpTools({ url }, { name: 'docs' })] });
  expect(await needed.run('hello')).toMatchObject({ status: 'error' });
});

it('an MCP server over HTTP that cannot be reached is named', async () => {
  const url = `http://127.0.0.1:${await unusedPort()}/mcp`;
  await expect(use({ url }).source.tools(signal)).rejects.toThrow(
    /MCP server 'test' cannot be reached: .*ECONNREFUSED/,
  );
});

describe('the tools of an MCP server', () => {
  it.each([
    ['photograph', '[image/png, 600 kB]\n{"width":640,"url":"data:image/png;base64,[image/png, 600 kB]"}'],
    ['repeat', '[audio/wav, 600 kB]\n{"data":"[audio/wav, 600 kB]","seconds":3}'],
  ])('show the model no bytes: %s', async (name, content) => {
    const { call } = use(await addressOf('http'));
    const outcome = await call(name, {}, { environment: { media: new MediaShelf() } });
    expect(outcome).toMatchObject({ content, error: false, media: [{ size: 600_000 }] });
  });

  it.each([{ requiresConfirmation: ['ehco'] }, { exclude: ['ehco'] }, { include: ['ehco'] }])(
    'are refused with a misspelt name of one: %j',
    async (options) => {
      const { source } = use(await addressOf('http'), options);
      await expect(source.tools(signal)).rejects.toThrow("has no tool 'ehco'. Did you mean 'echo'?");
    },
  );

  it('cannot keep the process busy with their schemas', async () => {
    const { call } = use(await addressOf('http'));
    const text = `${'a'.repeat(60)}!`;
    expect(await call('endless', { text, count: 1 })).toMatchObject({ content: JSON.stringify({ text }) });
    expect((await call('endless', { text, count: 'x' })).content).toContain(
      'do not fit:\n- count: must be integer',
    );
  });

  it('pass on the description of their output, and return the value that fits it', async () => {
    const { source, call } = use(await addressOf('http'), { include: ['weigh', 'echo'] });
    const [weigh, echo] = (await ask(source)).toSorted((one, other) => other.name.localeCompare(one.name));
    expect(weigh?.outputSchema).toMatchObject({ properties: { grams: { type: 'number', maximum: 1000 } } });
    expect(echo?.outputSchema).toBeUndefined();
    expect(await call('weigh', { grams: 12 })).toMatchObject({ content: '{"grams":12}', written: 'json' });
    expect(await call('weigh', { grams: 5000 })).toMatchObject({
      error: true,
      content: expect.stringContaining('its result does not fit its outputSchema:\n- grams: must be <= 1000'),
    });
  });

  it('can be chosen, prefixed and gated', async () => {
    const { source, call } = use(await addressOf('http'), {
      include: ['echo', 'add', 'who.am.i', 'die'],
      exclude: ['die'],
      prefix: 'far_',
      requiresConfirmation: ['add'],
    });
    expect(await namesOf(source)).toEqual(['far_echo', 'far_who_am_i', 'far_add']);
    expect((await call('far_add', { a: 1, b: 2 })).content).toContain('a person must confirm it');
  });

  it('are prefixed where a name is taken, and bring instructions only when the options say so', async () => {
    const { source } = use(await addressOf('http'), { include: ['echo'] });
    const own = tool({ name: 'echo', description: 'Own', execute: () => 'own' });
    const { tools, instructions } = await collectTools('Agent', [source, own], ask);
    expect([...tools.keys()]).toEqual(['echo', 'test_echo']);
    expect(await callTool(tools.get('echo')!)).toMatchObject({ content: 'own' });
    expect(await callTool(tools.get('test_echo')!, { text: 'far' })).toMatchObject({ content: 'far' });
    expect(instructions).toEqual([]);
    const trusted = use(await addressOf('http'), { useServerInstructions: true });
    expect((await collectTools('Agent', [trusted.source], ask)).instructions).toEqual([
      'Be kind to the test server.',
    ]);
  });

  it('refuses a url of another kind', () => {
    expect(() => mcpTools({ url: 'ftp://x' })).toThrow("url is 'ftp://x'. Give a URL that begins with http");
    expect(mcpTools({ url: 'https://mcp.example.com/x' }).name).toBe('mcp.example.com');
    expect(mcpTools({ command: '/usr/bin/my-server.sh' }).name).toBe('my-server');
  });
});

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
