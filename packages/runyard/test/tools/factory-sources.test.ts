import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  type Agent,
  agent,
  agentFactory,
  step,
  type ToolSource,
  team,
  teamFactory,
  tool,
  workflow,
  workflowFactory,
} from '../../src/index.js';
import { mcpTools } from '../../src/platform/tools/mcp/mcp-tools.js';
import { scriptedModel } from '../../src/testing.js';
import { startService } from '../support/service.js';
import { gate, until } from '../support/until.js';
import { serverScript } from './mcp-process.js';

const mcp = () =>
  mcpTools(
    { command: process.execPath, args: [serverScript, 'stdio'] },
    { name: 'own', include: ['who.am.i', 'echo'], requiresConfirmation: ['echo'] },
  );

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function ended(pid: number | undefined): Promise<void> {
  if (pid === undefined) throw new Error('No run has asked its server');
  await until(`process ${pid} has ended`, () => !isAlive(pid));
}

/** Asks its server for its process, and then ends as the message says. `waits` holds back what is to wait. */
function asking(pids: number[], waits: Promise<unknown> = new Promise(() => {})) {
  return scriptedModel(({ messages }) => {
    const message = messages.findLast(({ role }) => role === 'user')?.content;
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => Number(content));
    if (results.length === 0) return { toolCalls: [{ name: 'who_am_i' }] };
    if (results.length === 1) pids.push(...results);
    if (message === 'fail') return { error: new Error('out of order') };
    if (message === 'wait') return { text: `said ${results.at(-1)}`, waitFor: waits };
    if (message === 'pause' && results.length === 1)
      return { toolCalls: [{ name: 'echo', arguments: { text: '7' } }] };
    return `said ${results.at(-1)}`;
  });
}

const makers: [string, (pids: number[]) => { run(input: string): Promise<unknown> }][] = [
  [
    'an agent',
    (pids) => agentFactory({ id: 'f', build: () => agent({ id: 'a', model: asking(pids), tools: [mcp()] }) }),
  ],
  [
    'an agent whose function returns it',
    (pids) =>
      agentFactory({
        id: 'f',
        build: () => {
          const own = mcp();
          return agent({ id: 'a', model: asking(pids), tools: () => [own] });
        },
      }),
  ],
  [
    'a member of a team',
    (pids) =>
      teamFactory({
        id: 'f',
        build: () =>
          team({
            id: 't',
            mode: 'route',
            model: scriptedModel([
              { toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'a', task: 'go' } }] },
            ]),
            members: [agent({ id: 'a', model: asking(pids), tools: [mcp()] })],
          }),
      }),
  ],
  [
    'a step of a workflow',
    (pids) =>
      workflowFactory({
        id: 'f',
        build: () =>
          workflow({
            id: 'w',
            steps: [step({ name: 's', agent: agent({ id: 'a', model: asking(pids), tools: [mcp()] }) })],
          }),
      }),
  ],
  [
    'an agent that a function of a workflow runs',
    (pids) =>
      workflowFactory({
        id: 'f',
        build: () => {
          const helper = agent({ id: 'a', model: asking(pids), tools: [mcp()] });
          return workflow({ id: 'w', steps: [step({ name: 's', run: ({ run }) => run(helper, 'go') })] });
        },
      }),
  ],
];

test.each(makers)('the MCP server that a factory made for %s ends with the run', async (_, make) => {
  const pids: number[] = [];
  const factory = make(pids);
  await factory.run('complete');
  await factory.run('complete');
  const [first, second] = pids;
  expect(first).not.toBe(second);
  await ended(first);
  await ended(second);
});

/** A service with one factory, whose agents have an MCP server of their own. */
async function serviceWith(waits?: Promise<unknown>) {
  const pids: number[] = [];
  const factory = agentFactory({
    id: 'f',
    build: () => agent({ id: 'a', model: asking(pids, waits), tools: [mcp()], retries: 0 }),
  });
  const service = await startService({ agents: [factory] });
  const asked = () => until('a run has asked its server', () => pids.at(-1));
  return { pids, factory, service, asked };
}

test.each([
  ['completes', 'complete', 'completed'],
  ['fails', 'fail', 'error'],
])('over HTTP, it ends with a run that %s', async (_, message, status) => {
  const { service, pids } = await serviceWith();
  expect((await service.run('f', { message })).body.status).toBe(status);
  await ended(pids[0]);
});

test('it ends with a run that is cancelled', async () => {
  const { service, asked } = await serviceWith();
  const { body } = await service.run('f', { message: 'wait', background: 'true' });
  const pid = await asked();
  expect(isAlive(pid)).toBe(true);
  await service.call('POST', `/agents/f/runs/${body.run_id}/cancel`);
  await ended(pid);
});

test('it ends with a run that is handed on', async () => {
  const { service, asked } = await serviceWith();
  await service.run('f', { message: 'wait', background: 'true' });
  const pid = await asked();
  await service.app.close({ graceMs: 0 });
  await ended(pid);
});

test('it ends with a run that pauses, and one that continues gets another', async () => {
  const { service, pids } = await serviceWith();
  const { body: paused } = await service.run('f', { message: 'pause' });
  expect(paused.status).toBe('paused');
  await ended(pids[0]);
  const tools = JSON.stringify([{ ...paused.tools.at(-1), confirmed: true }]);
  const { body } = await service.submit(`/agents/f/runs/${paused.run_id}/continue`, {
    tools,
    stream: 'false',
  });
  expect(body).toMatchObject({ status: 'completed', content: 'said 7' });
});

test('in code, a run that continues gets another, which ends with it', async () => {
  const pids: number[] = [];
  const sources: ToolSource[] = [];
  const factory = agentFactory({
    id: 'f',
    build: () => {
      sources.push(mcp());
      return agent({ id: 'a', model: asking(pids), tools: [sources.at(-1)!] });
    },
  });
  const paused = await factory.run('pause');
  if (paused.status !== 'paused') throw new Error(`The run is ${paused.status}`);
  await ended(pids[0]);
  const answers = { [paused.requirements[0]!.id]: { confirmed: true } };
  expect(await factory.continue(paused.runId, { answers })).toMatchObject({ content: 'said 7' });
  expect(new Set(sources).size).toBe(2);
});

test('runs side by side do not close what belongs to the others', async () => {
  const waits = gate();
  const { factory, pids, asked } = await serviceWith(waits.opened);
  const waiting = factory.run('wait');
  const pid = await asked();
  await factory.run('complete');
  await ended(pids[1]);
  expect(isAlive(pid)).toBe(true);
  waits.open();
  expect(await waiting).toMatchObject({ status: 'completed', content: `said ${pid}` });
  await ended(pid);
});

test('a server that was made outside of the factory stays, until the service or the factory closes', async () => {
  const shared = mcp();
  const pids: number[] = [];
  const factory = agentFactory({
    id: 'f',
    build: () => agent({ id: 'a', model: asking(pids), tools: [shared] }),
  });
  onTestFinished(() => shared.close());
  await factory.run('complete');
  await factory.run('complete');
  await Promise.all([factory.run('complete'), factory.run('complete')]);
  expect(pids).toHaveLength(4);
  expect(new Set(pids).size).toBe(1);
  expect(isAlive(pids[0]!)).toBe(true);
  const service = await startService({ agents: [factory] });
  await service.run('f', { message: 'complete' });
  expect(new Set(pids).size).toBe(1);
  await service.app.close({ graceMs: 0 });
  await ended(pids[0]);
});

/** Sources of the application's own, with what became of each. */
function ownSources() {
  const made: { asked: number; closed: number }[] = [];
  const source = (): ToolSource => {
    const state = { asked: 0, closed: 0 };
    made.push(state);
    const tools = async () => {
      state.asked += 1;
      return [];
    };
    return { name: 'line', tools, close: async () => void state.closed++ };
  };
  return { made, source, allClosed: () => until('all are closed', () => made.every(isClosed)) };
}

const isClosed = ({ closed }: { closed: number }) => closed === 1;

test('what was built for a run that is refused is closed as well', async () => {
  const { made, source, allClosed } = ownSources();
  const inputSchema = z.object({ size: z.number() });
  const factory = agentFactory({
    id: 'f',
    build: (): Agent => agent({ id: 'a', model: 'offline', tools: [source()], inputSchema }) as never,
  });
  const service = await startService({ agents: [factory] });
  const message = '{"size":1}';
  expect((await service.run('f', { message: '{}' })).status).toBe(422);
  const { body } = await service.run('f', { message });
  expect((await service.run('f', { message, run_id: body.run_id })).status).toBe(409);
  await expect(factory.run('{}')).rejects.toThrow();
  await expect(factory.run(message, { runId: body.run_id })).rejects.toThrow();
  await expect(factory.stream('{}').next()).rejects.toThrow();
  // a run that is regenerated, and one that cannot be
  const again = `/agents/f/runs/${body.run_id}/continue`;
  expect((await service.submit(again, { regenerate: 'true', stream: 'false' })).status).toBe(200);
  const refused = { fork: 'true', continue_from: '99', stream: 'false' };
  expect((await service.submit(again, refused)).status).toBe(400);
  await allClosed();
  expect(made).toHaveLength(8);
});

test('what a factory builds too late for its request is closed', async () => {
  const { made, source, allClosed } = ownSources();
  const late = gate();
  const factory = agentFactory({
    id: 'f',
    build: async () => {
      await late.opened;
      return agent({ id: 'a', model: 'offline', tools: [source()] });
    },
  });
  const service = await startService({ agents: [factory], maxRunTimeMs: 50 });
  expect((await service.run('f', { message: 'go' })).body.error_code).toBe('preparation_timeout');
  late.open();
  await until('it was built', () => made.length === 1);
  await allClosed();
});

test('what a factory builds after its run was cancelled is closed, and nothing connects to it', async () => {
  const { made, source, allClosed } = ownSources();
  const late = gate();
  const asked = gate();
  const open = tool({ name: 'open', description: 'Opens', requiresConfirmation: true, execute: () => 'ok' });
  const factory = agentFactory({
    id: 'f',
    build: async () => {
      if (made.length > 0) {
        asked.open();
        await late.opened;
      }
      const model = scriptedModel([{ toolCalls: [{ name: 'open' }] }]);
      return agent({ id: 'a', model, tools: [open, source()] });
    },
  });
  const service = await startService({ agents: [factory] });
  const { body: paused } = await service.run('f', { message: 'go' });
  expect(paused.status).toBe('paused');
  await allClosed();
  const tools = JSON.stringify([{ ...paused.tools[0], confirmed: true }]);
  const place = `/agents/f/runs/${paused.run_id}`;
  const continued = service.submit(`${place}/continue`, { tools, stream: 'false' });
  await asked.opened;
  await service.call('POST', `${place}/cancel`);
  expect((await continued).body.status).toBe('cancelled');
  late.open();
  await until('it was built', () => made.length === 2);
  await allClosed();
  expect(made.map(({ asked: times }) => times)).toEqual([1, 0]);
});
