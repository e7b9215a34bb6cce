import { expect, test } from 'vitest';
import type { RunWrite } from '../../../src/core/runs/journal/ports.js';
import {
  type AgentSettings,
  agent,
  agentFactory,
  GuardrailRefusal,
  type PreHook,
  team,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';
import { begin, changed, engineOver, freshStore, gate } from '../harness.js';

const secret = 'My card is 4111 1111 1111 1111';
const masked = 'My card is ****';
const mask: PreHook = ({ content }) => content.replace(/\d[\d ]+/, '****');
const refuse: PreHook = ({ content }) => {
  if (content.includes('refuse')) throw new GuardrailRefusal('refused');
};

const made = (settings: Partial<AgentSettings>) =>
  agent({ id: 'a', model: scriptedModel(() => 'ok'), ...settings });

const said = (content: string, more: object = {}) => ({
  input: { content, media: [], options: { stream: true } },
  ...more,
});

test('a session is called after what the pre-hooks left of its first message', async () => {
  const store = await freshStore();
  const masking = made({ preHooks: [mask] });
  const plain = made({ id: 'plain' });
  const engine = engineOver(store, [masking, plain]);
  const nameOf = async (sessionId: string) => (await store.session(sessionId))?.name;
  const ran = async (component: typeof masking, text: string, sessionId: string) => {
    await (await begin(engine, component, said(text, { sessionId }))).ended;
    return nameOf(sessionId);
  };
  expect(await ran(masking, secret, 'one')).toBe(masked);
  // the name stays
  expect(await ran(masking, 'Another', 'one')).toBe(masked);
  expect(await ran(plain, secret, 'two')).toBe(secret);
  expect(await ran(masking, '  ', 'three')).toBeNull();
  expect(await ran(masking, 'Hello', 'three')).toBe('Hello');
});

test('a message that a pre-hook refuses names no session; the next one does', async () => {
  const store = await freshStore();
  const component = made({ preHooks: [refuse] });
  const engine = engineOver(store, [component]);
  const { run } = await (await begin(engine, component, said('refuse me', { sessionId: 's' }))).ended;
  expect(run.status).toBe('error');
  expect((await store.session('s'))?.name).toBeNull();
  await (await begin(engine, component, said('hello', { sessionId: 's' }))).ended;
  expect((await store.session('s'))?.name).toBe('hello');
});

test('the name comes with what a run writes anyway, and only where there is none', async () => {
  const store = await freshStore();
  const writes: RunWrite[] = [];
  const journal = changed(store, {
    commit: (batch: readonly RunWrite[]) => {
      writes.push(...batch);
      return store.commit(batch);
    },
  });
  const component = made({ preHooks: [mask] });
  const engine = engineOver(store, [component], { journal });
  // a background run is stored before it begins
  const background = { sessionId: 's', background: true };
  await (await begin(engine, component, said(secret, background))).ended;
  const naming = writes.filter(({ insert, session }) => insert === undefined && session !== undefined);
  expect(naming).toMatchObject([{ session: { name: masked, existing: true } }]);
  expect(naming[0]!.steps.map(({ key }) => key)).toContain('pre-hook:0');
  writes.length = 0;
  await (await begin(engine, component, said('More', background))).ended;
  expect(writes.map(({ session }) => session?.name ?? null).filter((name) => name !== null)).toEqual([]);
});

test('after a crash in a pre-hook, the execution that completes it names the session', async () => {
  const reached = gate();
  let calls = 0;
  const stuck: PreHook = ({ content }) => {
    calls += 1;
    if (calls > 1) return mask({ content } as never, undefined as never) as string;
    reached.open();
    return new Promise<string>(() => {});
  };
  const store = await freshStore();
  const component = made({ preHooks: [stuck] });
  const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, component, said(secret, { sessionId: 's', background: true }));
  await reached.promise;
  expect((await store.session('s'))?.name).toBeNull();
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [component]);
  await next.recover();
  await expect.poll(async () => (await store.load(runId))?.run.status).toBe('completed');
  expect((await store.session('s'))?.name).toBe(masked);
});

test('the same holds for teams and factories; runs inside name nothing', async () => {
  const inner = made({ id: 'inner', preHooks: [mask] });
  const flow = workflow({ id: 'flow', steps: [inner] });
  const crew = team({ id: 'crew', model: scriptedModel(() => 'ok'), members: [inner], preHooks: [mask] });
  const factory = agentFactory({ id: 'factory', build: () => made({ preHooks: [mask] }) });
  const service = await startService({ agents: [factory], teams: [crew], workflows: [flow] });
  const nameAfter = async (path: string) => {
    const { body } = await service.submit(`/${path}/runs`, { message: secret, stream: false });
    expect(body.status).toBe('completed');
    return (await service.get(`/sessions/${body.session_id}`)).body.session_name;
  };
  expect(await nameAfter('teams/crew')).toBe(masked);
  expect(await nameAfter('agents/factory')).toBe(masked);
  // the workflow itself has no hooks
  expect(await nameAfter('workflows/flow')).toBe(secret);
});
