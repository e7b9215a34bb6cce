import { expect, test } from 'vitest';
import { linkPackages, project, type RunningCommand, start, startProgram } from './support.js';

/** An agent for each place, other than tools and hooks, at which the service calls functions of the application. */
const application = `
import { agent, agentFactory, Runyard, tool } from 'runyard';
import { scriptedModel } from 'runyard/testing';
import { z } from 'zod';

const fails = (text) => void setTimeout(() => { throw new Error(text); }, 20);
const answer = { content: 'done', toolCalls: [], usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, finishReason: 'stop' };
const own = {
  id: 'own-model', provider: 'Own', name: 'Own', capabilities: { structuredOutput: 'native', tools: true },
  async generate() { fails('model'); return answer; },
  async *stream() { yield { type: 'text', text: 'done' }; fails('model stream'); yield { type: 'response', response: answer }; },
};
const aiSdk = {
  specificationVersion: 'v3', provider: 'sdk', modelId: 'sdk-model', supportedUrls: {},
  async doGenerate() {
    fails('sdk model');
    return { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop' }, warnings: [],
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } };
  },
  async doStream() { throw new Error('not used'); },
};
const quiet = () => scriptedModel(() => 'done');
const checked = (text) => z.object({ n: z.number().refine(async () => { fails(text); return true; }) });
const gated = tool({
  name: 'gated', description: 'x', inputSchema: z.object({}),
  requiresConfirmation: () => { fails('confirmation'); return false; }, execute: () => 'x',
});
const source = { name: 'own-source', async tools() { fails('source'); return []; }, async close() {} };

export const app = new Runyard({
  logFormat: 'json',
  agents: [
    agent({ id: 'model', model: own }),
    agent({ id: 'auxiliary', model: quiet(), followups: true, followupModel: own }),
    agent({ id: 'sdk', model: aiSdk }),
    agent({ id: 'instructions', model: quiet(), instructions: () => { fails('instructions'); return 'x'; } }),
    agent({ id: 'dependency', model: quiet(), dependencies: { d: () => { fails('dependency'); return 1; } } }),
    agent({ id: 'source', model: quiet(), tools: [source] }),
    agent({ id: 'guardrail', model: quiet(), preHooks: [{ name: 'g', required: true, run: () => fails('guardrail') }] }),
    agent({ id: 'confirmation', tools: [gated],
      model: scriptedModel([{ toolCalls: [{ id: 'c', name: 'gated', arguments: '{}' }] }, 'done']) }),
    agent({ id: 'input', model: quiet(), inputSchema: checked('input') }),
    agent({ id: 'output', model: scriptedModel(() => '{"n":1}'), outputSchema: checked('output') }),
    agentFactory({ id: 'factory', build: () => { fails('factory'); return agent({ id: 'x', model: quiet() }); } }),
    agentFactory({ id: 'factory-input', inputSchema: checked('factory-input'), build: () => agent({ id: 'x', model: quiet() }) }),
  ],
  routes: (server) => {
    server.get('/late', async () => { fails('route'); return {}; });
    server.post('/late/:id', async () => { fails('posted route'); return {}; });
  },
});
// far from any run or route: a part of the application that works by itself
process.on('SIGUSR2', () => queueMicrotask(() => { throw new Error('bare'); }));
process.on('SIGWINCH', () => void Promise.reject(new Error('bare rejection')));
`;

function linesOf(server: RunningCommand) {
  return server.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown> & { err?: { message: string } });
}

async function failure(server: RunningCommand, message: string) {
  return server.shows(`'${message}' is logged`, () =>
    linesOf(server).find(({ err }) => err?.message === message),
  );
}

async function post(url: string, path: string, form: Record<string, string>) {
  const body = new URLSearchParams({ message: 'go', stream: 'false', ...form });
  const answer = await fetch(`${url}${path}`, { method: 'POST', body });
  const json = (await answer.json()) as { run_id: string; status: string };
  expect({ path, status: json.status }).toEqual({ path, status: 'completed' });
  return json;
}

test('what any function of the application leaves behind is logged with its run or route', async () => {
  const cwd = project({ 'agents.mjs': application });
  linkPackages(cwd);
  const server = start(['start', '--port', '0'], { cwd });
  const [, url = ''] = await server.prints(/API +(http:\S+)/);

  const ofRuns: Record<string, [failed: string, step: string]> = {
    model: ['model', 'own-model'],
    auxiliary: ['model', 'own-model'],
    sdk: ['sdk model', 'sdk-model'],
    instructions: ['instructions', 'instructions'],
    dependency: ['dependency', 'd'],
    source: ['source', 'own-source'],
    guardrail: ['guardrail', 'g'],
    confirmation: ['confirmation', 'gated'],
    output: ['output', 'outputSchema'],
  };
  for (const [id, [message, step]] of Object.entries(ofRuns)) {
    const { run_id: runId } = await post(url, `/agents/${id}/runs`, {});
    const line = await server.shows(`'${id}' is logged`, () =>
      linesOf(server).find((one) => one.runId === runId && one.err?.message === message),
    );
    expect(line).toMatchObject({ level: 'error', component: id, step, kind: 'uncaught_exception' });
  }
  // a stream is read piece by piece: each piece is made in the name of the run
  const streamed = await fetch(`${url}/agents/model/runs`, {
    method: 'POST',
    body: new URLSearchParams({ message: 'go' }),
  });
  await streamed.text();
  expect(await failure(server, 'model stream')).toMatchObject({ component: 'model', step: 'own-model' });

  // before there is a run, the component is named
  await post(url, '/agents/input/runs', { message: '{"n":1}' });
  expect(await failure(server, 'input')).toMatchObject({ component: 'input', step: 'inputSchema' });
  await post(url, '/agents/factory/runs', {});
  expect(await failure(server, 'factory')).toMatchObject({ component: 'factory', step: 'build' });
  await post(url, '/agents/factory-input/runs', { factory_input: '{"n":1}' });
  expect(await failure(server, 'factory-input')).toMatchObject({ component: 'factory-input', step: 'build' });

  expect((await fetch(`${url}/late`)).status).toBe(200);
  expect(await failure(server, 'route')).toMatchObject({ level: 'error', route: 'GET /late' });
  const posted = await fetch(`${url}/late/7`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  });
  expect(posted.status).toBe(200);
  expect(await failure(server, 'posted route')).toMatchObject({ route: 'POST /late/:id' });
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

test('failures that belong to no run are logged; too many of them end a process of ours', async () => {
  const cwd = project({ 'agents.mjs': application });
  linkPackages(cwd);
  const server = start(['start', '--port', '0'], { cwd });
  const [, url = ''] = await server.prints(/API +(http:\S+)/);

  server.signal('SIGWINCH');
  expect(await failure(server, 'bare rejection')).toMatchObject({
    level: 'error',
    kind: 'unhandled_rejection',
  });
  server.signal('SIGUSR2');
  const line = await failure(server, 'bare');
  expect(line).toMatchObject({ level: 'error', kind: 'uncaught_exception' });
  expect(line).not.toHaveProperty('runId');
  expect((await fetch(`${url}/health`)).status).toBe(200);

  const flood = setInterval(() => server.signal('SIGUSR2'), 20);
  const { code, stderr } = await server.ended.finally(() => clearInterval(flood));
  expect(code).toBe(1);
  expect(stderr.trim().split('\n').at(-1)).toMatch(
    /^More than 10 uncaught exceptions within a minute .*The process exits.*bare$/,
  );
});

const embedded = `
import { Runyard } from 'runyard';
const app = new Runyard({ logFormat: 'json', port: 0 });
const { url } = await app.listen();
process.on('SIGUSR2', () => queueMicrotask(() => { throw new Error('bare'); }));
process.on('SIGWINCH', () => void Promise.reject(new Error('bare rejection')));
console.log('API ' + url);
`;

test('in a program of its own, listen() survives rejections and leaves exceptions that belong to no run to Node', async () => {
  const cwd = project({ 'server.mjs': embedded });
  linkPackages(cwd);
  const server = startProgram('server.mjs', { cwd });
  const [, url = ''] = await server.prints(/API +(http:\S+)/);
  server.signal('SIGWINCH');
  await failure(server, 'bare rejection');
  expect((await fetch(`${url}/health`)).status).toBe(200);
  server.signal('SIGUSR2');
  expect(await server.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('bare') });
});

test('with handler() Node decides about both, and listeners of the host keep their say', async () => {
  const handled = embedded.replace(
    'const { url } = await app.listen();',
    `import { createServer } from 'node:http';
     const server = createServer(app.handler());
     await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
     const url = 'http://127.0.0.1:' + server.address().port;`,
  );
  const ownListeners = `${embedded}
    process.on('unhandledRejection', (error) => { console.error('host saw ' + error.message); process.exit(7); });`;
  const cwd = project({ 'handled.mjs': handled, 'own.mjs': ownListeners });
  linkPackages(cwd);
  for (const [name, code, text] of [
    ['handled.mjs', 1, 'bare rejection'],
    ['own.mjs', 7, 'host saw bare rejection'],
  ] as const) {
    const server = startProgram(name, { cwd });
    await server.prints(/API +(http:\S+)/);
    server.signal('SIGWINCH');
    expect(await server.ended).toMatchObject({ code, stderr: expect.stringContaining(text) });
  }
});
