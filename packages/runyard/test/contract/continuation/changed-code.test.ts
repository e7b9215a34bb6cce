import { describe, expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { agent, step, tool, type Workflow, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { resolve } from '../../support/components/approvals.js';
import { answered, RunLife } from '../../support/components/run-life.js';
import { type DatabasePlace, forEachDatabase, freshSqlite } from '../../support/databases.js';
import { type Body, startService } from '../../support/service.js';
import { until } from '../../support/until.js';

/** What was done by any version of the code. */
function deeds() {
  const done: string[] = [];
  const note = (name: string) => {
    done.push(name);
    return name;
  };
  const does = (name: string) => step({ name, run: () => note(name) });
  const asks = (name: string, review = {}) =>
    step({ name, review: { requiresConfirmation: true, ...review }, run: () => note(name) });
  return { done, note, does, asks };
}

const newsletter = (...steps: ReturnType<typeof step>[]): Workflow => workflow({ id: 'newsletter', steps });

/** A deployment of the workflow over the same database as any other one. */
async function deployed(place: DatabasePlace, component: Workflow) {
  const service = await startService({ workflows: [component], database: place.url });
  const life = new RunLife(service, 'newsletter', 'workflows');
  const goOn = (run: Body, form = {}) => {
    const [asked] = run.step_requirements as Body[];
    return life.continue(run.run_id, { step_requirements: [{ ...asked, confirmed: true }], ...form });
  };
  return { service, life, goOn };
}

forEachDatabase((_dialect, freshPlace) => {
  describe('a workflow that waits while another version is deployed', () => {
    test('keeps its questions and its answers, and runs on when its version is back', async () => {
      const { done, does, asks } = deeds();
      const place = await freshPlace();
      await place.open();
      const before = newsletter(does('collect'), asks('send-newsletter'));
      const first = await deployed(place, before);
      const run = await first.life.start({ message: 'x' });
      expect(run.status).toBe('paused');
      await first.service.app.close({ graceMs: 0 });

      const after = newsletter(does('collect'), asks('delete-subscribers'), asks('send-newsletter'));
      const second = await deployed(place, after);
      for (const stream of [false, true]) {
        const { status, body } = await second.goOn(run, { stream });
        expect(status).toBe(409);
        expect(body).toMatchObject({
          error_code: 'definition_changed',
          detail: expect.stringContaining(
            "step 2 was 'send-newsletter' (function), and is now 'delete-subscribers' (function)",
          ),
        });
      }
      const stored = await second.life.stored(run.run_id);
      expect(stored).toMatchObject({ status: 'paused', step_requirements: run.step_requirements });
      expect(done).toEqual(['collect']);
      await second.service.app.close({ graceMs: 0 });

      const third = await deployed(place, before);
      expect((await third.goOn(run)).body).toMatchObject({ status: 'completed', content: 'send-newsletter' });
      expect(done).toEqual(['collect', 'send-newsletter']);
    });

    test('stores the fingerprint of the definition that it was executed with last', async () => {
      const { does, asks } = deeds();
      const place = await freshPlace();
      const store = new RunStore(await place.open());
      const before = newsletter(does('a'), asks('b'));
      const first = await deployed(place, before);
      const run = await first.life.start({ message: 'x' });
      const definition = async () => (await store.load(run.run_id))?.run.definition;
      expect(await definition()).toBe(before.fingerprint);
      await first.service.app.close({ graceMs: 0 });
      const after = newsletter(does('a'), asks('b'), does('c'));
      expect(after.fingerprint).not.toBe(before.fingerprint);
      const second = await deployed(place, after);
      expect((await second.goOn(run)).body.status).toBe('completed');
      expect(await definition()).toBe(after.fingerprint);
    });

    test('is not woken by its time when it does not fit, and that is said once', async () => {
      const { done, asks } = deeds();
      const place = await freshPlace();
      const store = new RunStore(await place.open());
      const due = { timeoutMs: 1, onTimeout: 'approve' };
      const first = await deployed(
        place,
        newsletter(asks('send', { timeoutMs: 3_600_000, onTimeout: 'approve' })),
      );
      const run = await first.life.start({ message: 'x' });
      await first.service.app.close({ graceMs: 0 });
      const { run: stored, steps } = (await store.load(run.run_id))!;
      const wait = steps.find(({ kind }) => kind === 'wait')!;
      const overdue = { ...wait, input: { ...(wait.input as object), due_at: 1 } };
      const update = { ...stored, wakeAt: 1 };
      await store.commit([{ runId: run.run_id, attempt: stored.attempt, update, steps: [overdue] }]);

      const { service, life } = await deployed(place, newsletter(asks('wipe', due)));
      const refusals = () => service.logged.filter(({ message }) => message.includes('could not be woken'));
      await until('the run was refused', () => refusals().length > 0);
      // whenever the service looks for runs that are due, the refused one is the first that it finds
      for (const message of ['y', 'z']) {
        const { run_id: id } = await life.start({ message });
        await until('another run was woken', async () => (await life.stored(id)).status === 'completed');
      }
      expect(refusals()).toHaveLength(1);
      expect(done).toEqual(['wipe', 'wipe']);
      expect((await store.load(run.run_id))?.run.status).toBe('paused');
    });
  });
});

describe('an agent that waits while another version is deployed', () => {
  test('answers 409 and loses nothing', async () => {
    const { done, note } = deeds();
    const place = await freshSqlite();
    await place.open();
    const mailer = (name: string) =>
      agent({
        id: 'mailer',
        model: scriptedModel(({ messages }) =>
          messages.some(({ role }) => role === 'tool')
            ? 'Done.'
            : { toolCalls: [{ name: 'send-newsletter', arguments: {}, id: 'call' }] },
        ),
        tools: [tool({ name, description: 'x', requiresConfirmation: true, execute: () => note(name) })],
      });
    const start = async (name: string) => {
      const service = await startService({ agents: [mailer(name)], database: place.url });
      return { service, life: new RunLife(service, 'mailer') };
    };
    const first = await start('send-newsletter');
    const run = await first.life.start({ message: 'x' });
    const tools = [{ ...run.tools[0], confirmed: true }];
    await first.service.app.close({ graceMs: 0 });
    const second = await start('delete-subscribers');
    const refused = await second.life.continue(run.run_id, { tools });
    expect(refused).toMatchObject({ status: 409, body: { error_code: 'definition_changed' } });
    expect(done).toEqual([]);
    await second.service.app.close({ graceMs: 0 });
    const third = await start('send-newsletter');
    expect((await third.life.continue(run.run_id, { tools })).body.status).toBe('completed');
    expect(done).toEqual(['send-newsletter']);
  });
});

test('a run that another version ends keeps its open approval, and continues with it when its version is back', async () => {
  const { done, note } = deeds();
  const place = await freshSqlite();
  await place.open();
  const toolOf = (name: string, options: object) =>
    tool({ name, description: 'x', execute: () => note(name), ...options });
  const pay = toolOf('pay', { approval: 'required', approvalTimeoutMs: 3_600_000 });
  const toolCalls = ['pay', 'send'].map((name) => ({ name, arguments: {}, id: name }));
  // what a source offers is known when the run is executed: a run that no longer fits it ends there
  const deploy = async (sent: string) => {
    const send = toolOf(sent, { requiresConfirmation: true });
    const source = { name: 'source', tools: async () => [send], close: async () => {} };
    const model = scriptedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? 'Done.' : { toolCalls },
    );
    const payer = agent({ id: 'payer', model, tools: [pay, source] });
    const service = await startService({ agents: [payer], database: place.url });
    return { service, life: new RunLife(service, 'payer') };
  };
  const first = await deploy('send');
  const run = await first.life.start({ message: 'x' });
  expect(run.status).toBe('paused');
  const tools = answered(run, { send: { confirmed: true } });
  await first.service.app.close({ graceMs: 0 });

  const second = await deploy('wipe');
  const ended = await second.life.continue(run.run_id, { tools });
  expect(ended.body).toMatchObject({ status: 'error', error_type: 'definition_changed' });
  const { body } = await second.service.get('/approvals?status=pending');
  expect(body.data).toMatchObject([{ run_id: run.run_id, tool_name: 'pay' }]);
  await second.service.app.close({ graceMs: 0 });

  const third = await deploy('send');
  // as before, it waits for the approval alone
  const { body: again } = await third.life.continue(run.run_id);
  expect(again).toMatchObject({
    status: 'paused',
    tools: [{ approval_id: body.data[0].id }, { result: 'send' }],
  });
  const decided = await resolve(third.service, body.data[0].id, { status: 'approved', resolved_by: 'grace' });
  expect([decided.status, decided.body.status]).toEqual([200, 'approved']);
  expect((await third.life.continue(run.run_id)).body).toMatchObject({
    status: 'completed',
    content: 'Done.',
  });
  expect(done.sort()).toEqual(['pay', 'send']);
});
