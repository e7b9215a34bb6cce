import { expect, test } from 'vitest';
import { linkPackages, project, start } from './support.js';

/** A tool for each way in which code can fail where no caller waits for it. */
const application = `
import { agent, Runyard, step, tool, workflow } from 'runyard';
import { scriptedModel } from 'runyard/testing';

const later = (work) => void setTimeout(work, 20);
const ways = {
  reports: (context) => void setInterval(() => { context.emit({ late: true }); context.progress(0.5, 'late'); }, 5),
  awaits: (context) => void setInterval(async () => { await context.emit({ late: true }); }, 5),
  rejects: () => void (async () => { await null; throw new Error('rejects'); })(),
  rejectsLater: () => later(() => void Promise.reject(new Error('rejectsLater'))),
  rejectsNothing: () => later(() => void Promise.reject(undefined)),
  throwsLater: () => later(() => { throw new Error('throwsLater'); }),
  throwsOften: () => void setInterval(() => { throw new Error('throwsOften'); }, 1),
  throwsNull: () => later(() => { throw null; }),
  throwsProxy: () => later(() => {
    const trap = () => { throw new Error('trap'); };
    throw new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap });
  }),
  listens: ({ signal }) => {
    signal.addEventListener('abort', () => { throw new Error('listens'); });
    return new Promise(() => {});
  },
  timesOut: () => new Promise((_, reject) => setTimeout(() => reject(new Error('timesOut')), 300)),
};
const tools = Object.entries(ways).map(([name, run]) =>
  tool({ name, description: name, timeoutMs: 100, execute: async (_args, context) => (await run(context)) ?? 'called' }),
);
const model = scriptedModel(({ messages }) => {
  if (messages.some(({ role }) => role === 'tool')) return 'done';
  const name = messages.findLast(({ role }) => role === 'user').content;
  return name in ways ? { toolCalls: [{ id: 'c', name, arguments: '{}' }] } : 'hello';
});
const hook = (input, run) => { if (input.content === 'hook') later(() => { throw new Error('hook of ' + run.runId); }); };

const leaves = (name) => later(() => { throw new Error(name); });
const instructions = () => { leaves('instructions'); return 'Be brief.'; };
const gated = tool({
  name: 'gated',
  description: 'x',
  requiresConfirmation: () => { leaves('gated'); return false; },
  execute: () => 'called',
});
const patient = tool({ name: 'patient', description: 'x', execute: (_args, context) => ways.listens(context) });
const calling = (name) =>
  scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? 'done' : { toolCalls: [{ id: 'c', name, arguments: '{}' }] },
  );
// what belongs to the process begins after its start: until then, no request is served
export const app = new Runyard({
  logFormat: 'json',
  agents: [
    agent({ id: 'careless', model, tools, preHooks: [hook] }),
    agent({ id: 'instructed', model, instructions }),
    agent({ id: 'gated', model: calling('gated'), tools: [gated] }),
    agent({ id: 'hurried', model: calling('patient'), tools: [patient], limits: { timeMs: 200 } }),
  ],
  workflows: [
    workflow({ id: 'steps', steps: [step({ name: 'leaves', run: () => { later(() => { throw new Error('of a step'); }); return 'x'; } })] }),
  ],
});
`;

test('a served process survives late failures of the code of runs, and names the run', async () => {
  const cwd = project({ 'agents.mjs': application });
  linkPackages(cwd);
  const server = start(['start', '--port', '0'], { cwd });
  const [, url] = await server.prints(/API +(http:\S+)/);
  const run = async (path: string, message: string) => {
    const body = new URLSearchParams({ message, stream: 'false' });
    const answer = await fetch(`${url}${path}/runs`, { method: 'POST', body });
    return (await answer.json()) as { run_id: string; status: string };
  };
  const lines = () =>
    server.stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown> & { err?: { message: string } });
  const stray = (runId: string) =>
    lines().filter((line) => line.runId === runId && line.component !== undefined);

  for (const quiet of ['reports', 'awaits', 'timesOut']) {
    const { run_id, status } = await run('/agents/careless', quiet);
    expect({ quiet, status }).toEqual({ quiet, status: 'completed' });
    expect(stray(run_id)).toEqual([]);
  }
  const reported: Record<string, string> = {
    rejects: 'rejects',
    rejectsLater: 'rejectsLater',
    rejectsNothing: 'it threw undefined instead of an Error',
    throwsLater: 'throwsLater',
    throwsOften: 'throwsOften',
    throwsNull: 'it threw null instead of an Error',
    throwsProxy: 'it threw an object instead of an Error',
    listens: 'listens',
  };
  for (const [way, message] of Object.entries(reported)) {
    const { run_id, status } = await run('/agents/careless', way);
    expect({ way, status }).toEqual({ way, status: 'completed' });
    const [line] = await server.shows(`'${way}' is logged`, () => stray(run_id).length > 0 && stray(run_id));
    expect(line).toMatchObject({
      level: 'error',
      err: { message },
      runId: run_id,
      component: 'careless',
      step: way,
    });
  }
  for (const [id, message, status, step] of [
    ['instructed', 'instructions', 'completed', 'instructions'],
    ['gated', 'gated', 'completed', 'gated'],
    // a listener that throws when the time of its run is up
    ['hurried', 'listens', 'error', 'patient'],
  ] as const) {
    const ran = await run(`/agents/${id}`, 'hello');
    expect({ id, status: ran.status }).toEqual({ id, status });
    const [line] = await server.shows(
      `'${id}' is logged`,
      () => stray(ran.run_id).length > 0 && stray(ran.run_id),
    );
    expect(line).toMatchObject({ err: { message }, component: id, step });
  }
  const hooked = await run('/agents/careless', 'hook');
  await server.shows('the hook is logged', () => stray(hooked.run_id).length > 0);
  const stepped = await run('/workflows/steps', 'go');
  const [ofStep] = await server.shows(
    'the step is logged',
    () => stray(stepped.run_id).length > 0 && stray(stepped.run_id),
  );
  expect(ofStep).toMatchObject({ component: 'steps', step: 'leaves', err: { message: 'of a step' } });

  // the one that throws a thousand times a second has not flooded the log
  expect(lines().filter(({ err }) => err?.message === 'throwsOften').length).toBeLessThan(20);
  expect(await run('/agents/careless', 'are you there?')).toMatchObject({
    status: 'completed',
    content: 'hello',
  });
});
