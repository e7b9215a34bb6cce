import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errors } from '../../../src/core/errors/errors.js';
import { agent, parallel, step, team, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { type Body, TestService } from '../../support/service.js';

/** What must not show anywhere but in the log. */
const secret = '10.0.0.5';
/** Longer than a real one: no id or time has these digits by chance. */
const port = 5432987;
const unreachable = () => {
  throw Object.assign(new Error(`connect ECONNREFUSED ${secret}:${port}`), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
    address: secret,
    port,
  });
};
const coded = () => {
  throw errors.sessionNotFound('The session of the order is gone');
};

const failing = (id: string, fail: () => never) =>
  agent({ id, model: scriptedModel(() => 'hi'), preHooks: [{ name: 'check', required: true, run: fail }] });
const asking = (name: string, args: object) =>
  scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? 'That is all.'
      : { toolCalls: [{ id: 'c1', name, arguments: JSON.stringify(args) }] },
  );
const delegates = () => asking('delegate_task_to_member', { member_id: 'db', task: 'look' });

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({
    agents: [
      failing('db', unreachable),
      failing('coded', coded),
      agent({
        id: 'depends',
        model: scriptedModel(() => 'hi'),
        dependencies: { orders: unreachable },
      }),
      agent({
        id: 'hooked',
        model: scriptedModel(() => 'hi'),
        preHooks: [{ name: 'check', run: unreachable }],
      }),
      agent({
        id: 'tooled',
        model: asking('lookup', {}),
        tools: [tool({ name: 'lookup', description: 'x', retries: 1, execute: unreachable })],
      }),
      agent({
        id: 'refusing',
        model: scriptedModel(() => unreachable()),
        retries: 1,
        delayBetweenRetriesMs: 1,
      }),
    ],
    teams: [
      team({ id: 'desk', model: delegates(), members: [failing('db', unreachable)] }),
      team({ id: 'coded-desk', model: delegates(), members: [failing('db', coded)] }),
    ],
    workflows: [
      workflow({
        id: 'function',
        steps: [step({ name: 'load', run: unreachable, maxRetries: 1, onError: 'fail' })],
      }),
      workflow({ id: 'skipped', steps: [step({ name: 'load', run: unreachable, onError: 'skip' })] }),
      workflow({ id: 'inside', steps: [step({ name: 'load', agent: failing('db', unreachable) })] }),
      workflow({ id: 'coded-inside', steps: [step({ name: 'load', agent: failing('db', coded) })] }),
      workflow({
        id: 'parallel',
        steps: [parallel({ name: 'both', steps: [step({ name: 'load', run: unreachable })] })],
      }),
      workflow({ id: 'whole', steps: unreachable }),
    ],
  });
});
afterAll(() => service.stop());

/** All that the service shows of a run: its stream, its body, its session, its trace. */
async function everything(kind: string, id: string): Promise<{ text: string; events: Body[] }> {
  const stream = await service.submitForStream(`/${kind}/${id}/runs`, {
    message: 'go',
    stream: true,
    stream_events: true,
  });
  const { events } = await stream.end();
  const session = events[0]!.session_id;
  const type = kind.slice(0, -1);
  const runs = await service.get(`/sessions/${session}/runs?type=${type}`);
  const traces = await service.get(`/traces?session_id=${session}`);
  const details = await Promise.all(
    traces.body.data.map(({ trace_id }: Body) => service.get(`/traces/${trace_id}`)),
  );
  const parts = [JSON.stringify(events), runs.text, traces.text, ...details.map(({ text }) => text)];
  return { text: parts.join('\n'), events };
}

describe('what a driver says stays in the log', () => {
  test.each([
    ['agents', 'db'],
    ['agents', 'depends'],
    ['agents', 'hooked'],
    ['agents', 'tooled'],
    ['agents', 'refusing'],
    ['teams', 'desk'],
    ['workflows', 'function'],
    ['workflows', 'skipped'],
    ['workflows', 'inside'],
    ['workflows', 'parallel'],
    ['workflows', 'whole'],
  ])('%s/%s', async (kind, id) => {
    const { text } = await everything(kind, id);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(String(port));
    const logged = service.logged.map(({ fields }) => String((fields.err as Error | undefined)?.message));
    expect(logged.join('\n')).toContain(secret);
  });
});

test('a code is kept at every level', async () => {
  for (const [kind, id] of [
    ['teams', 'coded-desk'],
    ['workflows', 'coded-inside'],
  ] as const) {
    const { text, events } = await everything(kind, id);
    const inner = events.find(({ event }: Body) => event === 'RunError');
    expect(inner).toMatchObject({
      error_type: 'session_not_found',
      content: 'The session of the order is gone',
    });
    expect(text).toContain('session_not_found');
  }
});
