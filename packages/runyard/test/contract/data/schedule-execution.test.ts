import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttemptSite, makeAttempt } from '../../../src/capabilities/schedules/execution/attempt.js';
import type { Schedule } from '../../../src/capabilities/schedules/schedule.js';
import { silentLog } from '../../../src/core/log.js';
import type { Run } from '../../../src/core/runs/run.js';
import { agent, schedule as defineSchedule, tool } from '../../../src/index.js';
import { anonymousCaller } from '../../../src/platform/auth/caller.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { gate } from '../../heart/harness.js';
import { adminScope, Gatehouse, Holder } from '../../support/clients/tokens.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Body } from '../../support/service.js';
import { until } from '../../support/until.js';

const managing = ['schedules:read', 'schedules:write', 'schedules:delete'];
const book = new ScriptBook();
const gone = new Set<string>();
const posted: Body[] = [];
const desk = gate();

let house: Gatehouse;
let admin: Holder;
let ada: Holder;

beforeAll(async () => {
  const wire = tool({
    name: 'wire',
    description: 'Wires money',
    approval: 'required',
    execute: () => 'wired',
  });
  house = await Gatehouse.shared({
    agents: [agent({ id: 'plain', model: book.model, tools: [wire] })],
    // those that wait for their runs do not count
    maxScheduledCalls: 1,
    scheduleRights: async ({ userId, claims }) =>
      gone.has(userId ?? '') ? null : String(claims.scopes ?? '').split(','),
    routes: (app) => {
      app.post('/notes', async ({ body, caller }, reply) => {
        posted.push({ body, by: caller?.userId, admin: caller?.rights.isAdmin });
        if ((body as Body).held) await desk.promise;
        return reply.code((body as Body).status ?? 200).send({ noted: true });
      });
    },
  });
  admin = await house.admin();
  ada = await house.person('ada', [...managing, 'agents:plain:run']);
});
afterAll(() => house.service.stop());

let made = 0;
async function created(over: Body = {}, holder: Holder = ada): Promise<string> {
  const schedule = { name: `s${++made}`, cron_expr: '0 3 * * *', endpoint: '/agents/plain/runs', ...over };
  const { status, body } = await holder.send('POST', '/schedules', schedule);
  expect([status, body.detail]).toEqual([201, undefined]);
  return body.id;
}
const trigger = async (id: string, holder: Holder = ada) => holder.send('POST', `/schedules/${id}/trigger`);
const shown = async (id: string) => (await admin.get(`/schedules/${id}`)).body;

test('the record of an eval says which one was started, and a misspelt field of a schedule has a hint', async () => {
  const payload = { agent_id: 'plain', eval_type: 'performance', input: 'hello' };
  const { status, headers, body } = await admin.send('POST', '/schedules', {
    name: 'eval',
    cron_expr: '0 3 * * *',
    time_zone: 'Europe/Berlin',
    endpoint: '/eval-runs',
    payload,
  });
  expect([status, headers.get('x-runyard-hint')]).toEqual([
    201,
    'unknown field "time_zone": did you mean "timezone"?',
  ]);
  const { output } = (await trigger(body.id, admin)).body;
  expect(output).toEqual({
    content: { eval_run_id: expect.any(String), status: 'completed', progress: expect.any(Object) },
    content_type: 'dict',
  });
  expect((await admin.get(`/eval-runs/${output.content.eval_run_id}`)).status).toBe(200);
});

test('a run is started in the name of the creator, and the record shows what it came to', async () => {
  const id = await created({
    payload: { message: 'hello', stream: true, user_id: 'bob', session_state: { a: 1 } },
  });
  const before = await shown(id);
  const { status, body } = await trigger(id);
  expect([status, body]).toMatchObject([
    200,
    {
      schedule_id: id,
      attempt: 1,
      status: 'success',
      status_code: 200,
      error: null,
      input: { input_content: 'hello' },
      output: { content: 'Answer to: hello', content_type: 'str' },
      requirements: null,
    },
  ]);
  const run = (await ada.get(`/agents/plain/runs/${body.run_id}`)).body;
  expect(run).toMatchObject({
    status: 'completed',
    user_id: 'ada',
    session_id: body.session_id,
    session_state: { a: 1 },
  });
  expect((await shown(id)).next_run_at).toBe(before.next_run_at);
  const history = (await ada.get(`/schedules/${id}/runs`)).body;
  expect(history.data.map(({ id: one }: Body) => one)).toEqual([body.id]);
});

test('a failed run is tried again after the delay, and each attempt is a record', async () => {
  book.write('fails once', () => Promise.reject(new Error('the model is down')));
  const id = await created({ payload: { message: 'fails once' }, max_retries: 1, retry_delay_seconds: 1 });
  const { body } = await trigger(id);
  expect(body).toMatchObject({ attempt: 2, status: 'success', output: { content: 'Answer to: fails once' } });
  const [second, first] = (await ada.get(`/schedules/${id}/runs`)).body.data;
  expect([first.attempt, first.status, first.status_code, second.attempt]).toEqual([1, 'failed', 200, 2]);
  expect(first.run_id).not.toBe(second.run_id);
});

test('a run is one however its path is written', async () => {
  const id = await created({ endpoint: '/%61gents/plain/run%73/', payload: { message: 'encoded' } });
  expect((await trigger(id)).body).toMatchObject({
    run_id: expect.any(String),
    output: { content: 'Answer to: encoded' },
  });
});

test('who names nobody lends no rights to the call of another who names nobody', async () => {
  const scopes = (...held: string[]) => house.holder({ scopes: held });
  const [nobody, root] = [await scopes(...managing), await scopes(adminScope)];
  const id = await created({ endpoint: '/notes', payload: { text: 'b' } }, nobody);
  expect((await root.send('PATCH', `/schedules/${id}`, { cron_expr: '@daily' })).status).toBe(200);
  expect((await trigger(id, root)).body.status).toBe('success');
  expect(posted.at(-1)).toEqual({ body: { text: 'b' }, by: null, admin: false });
});

test('what was triggered and is disabled before it begins is recorded as left out', async () => {
  const first = trigger(await created({ endpoint: '/notes', payload: { held: true } }));
  await until('the only slot is taken', async () => posted.at(-1)?.body.held === true);
  const id = await created({ endpoint: '/notes' });
  const second = trigger(id);
  await until('it waits', async () => (await ada.get(`/schedules/${id}/runs`)).body.data.length === 1);
  await ada.send('POST', `/schedules/${id}/disable`);
  desk.open();
  expect((await first).body.status).toBe('success');
  expect((await second).body).toMatchObject({
    status: 'cancelled',
    error: 'Skipped: the schedule was disabled',
  });
});

test('a time-out cancels the run that was started', async () => {
  const held = gate();
  book.write('hangs', async () => {
    await held.promise;
    return 'late';
  });
  const id = await created({ payload: { message: 'hangs' }, timeout_seconds: 1 });
  const { body } = await trigger(id);
  expect(body).toMatchObject({ status: 'failed', status_code: null });
  expect(body.error).toBe(`Timed out after 1s; run ${body.run_id} was cancelled`);
  expect((await ada.get(`/agents/plain/runs/${body.run_id}`)).body.status).toBe('cancelled');
  held.open();
});

test('a run that pauses is done, and its approval names the schedule and the attempt', async () => {
  book.write('pay', { toolCalls: [{ name: 'wire', arguments: {} }] });
  const id = await created({ payload: { message: 'pay' }, max_retries: 3 });
  const { body } = await trigger(id);
  expect(body).toMatchObject({ attempt: 1, status: 'paused', error: null });
  expect(body.requirements).toMatchObject([{ tool_execution: { tool_name: 'wire' } }]);
  const [approval] = (await admin.get(`/approvals?schedule_id=${id}`)).body.data;
  expect(approval).toMatchObject({
    schedule_id: id,
    schedule_run_id: body.id,
    run_id: body.run_id,
    tool_name: 'wire',
  });
});

test('any other endpoint is called once, with the payload as JSON', async () => {
  const id = await created({ endpoint: '/notes', payload: { text: 'a' } });
  expect((await trigger(id)).body).toMatchObject({ status: 'success', status_code: 200, run_id: null });
  expect(posted.at(-1)).toEqual({ body: { text: 'a' }, by: 'ada', admin: false });
  const failing = await created({ endpoint: '/notes', payload: { status: 500 } });
  expect((await trigger(failing)).body).toMatchObject({
    status: 'failed',
    status_code: 500,
    error: '{"noted":true}',
  });
  expect((await shown(failing)).enabled).toBe(true);
});

test('rights that are gone stop a schedule, and say why', async () => {
  const { body: account } = await admin.send('POST', '/service-accounts', {
    name: 'bot',
    scopes: [...managing, 'agents:run'].map((scope) => ({ scope })),
    allow_privileged_scopes: true,
  });
  const bot = new Holder(house.service, { authorization: `Bearer ${account.token}` });
  const [ofBot, ofAda] = [
    await created({ payload: { message: 'x' } }, bot),
    await created({ payload: { message: 'y' } }),
  ];
  const whole = await house.person('eve', [...managing, 'agents:run']);
  const ofEve = await created({ payload: { message: 'z' } }, whole);
  expect((await trigger(ofBot, admin)).body.status).toBe('success');
  await admin.delete(`/service-accounts/${account.id}`);
  gone.add('ada');
  for (const [id, reason] of [
    [ofBot, 'the service account sa:bot was revoked, has expired or was deleted'],
    [ofAda, 'scheduleRights grants nothing to ada'],
    [ofEve, undefined],
  ] as const) {
    const { body } = await trigger(id, admin);
    const { enabled, disabled_reason: why } = await shown(id);
    if (reason === undefined) expect([body.status, enabled]).toEqual(['success', true]);
    else {
      expect([body.status, body.status_code, body.error, enabled]).toEqual([
        ...['failed', 403, expect.stringContaining(reason), false],
      ]);
      expect(why).toBe(body.error);
      expect((await trigger(id, admin)).status).toBe(409);
    }
  }
  gone.clear();
});

test('executions of one schedule are refused, wait for each other, or overlap, as it says', async () => {
  const held = gate();
  const overlapping = (overlap: string) => created({ payload: { message: `slow ${overlap}` }, overlap });
  const answered = (text: string) => async () => {
    await held.promise;
    return text;
  };
  book.write('slow skip', answered('done'));
  book.write('slow queue', answered('first'), 'second');
  const [skip, queue] = [await overlapping('skip'), await overlapping('queue')];
  const first = [trigger(skip), trigger(queue)];
  const isRunning = async (id: string, count: number) =>
    (await ada.get(`/schedules/${id}/runs`)).body.data.filter(({ status }: Body) => status === 'running')
      .length === count;
  await until(
    'both are in progress',
    async () => book.requests('slow skip').length + book.requests('slow queue').length === 2,
  );
  expect((await trigger(skip)).status).toBe(409);
  const second = trigger(queue);
  await until('the second waits', () => isRunning(queue, 2));
  expect(book.requests('slow queue').length).toBe(1);
  held.open();
  expect((await first[0])?.body.status).toBe('success');
  expect([(await first[1])?.body.output.content, (await second).body.output.content]).toEqual([
    'first',
    'second',
  ]);
});

test('an execution that waits is not made when the schedule is disabled or deleted meanwhile', async () => {
  const held = gate();
  const ids = new Map<string, string>();
  for (const how of ['disabled', 'deleted'] as const) {
    book.write(how, async () => {
      await held.promise;
      return 'first';
    });
    const id = await created({ payload: { message: how }, overlap: 'queue' });
    ids.set(how, id);
    void trigger(id);
    await until('the first is in progress', async () => book.requests(how).length === 1);
    void trigger(id);
    await until(
      'the second waits',
      async () => (await admin.get(`/schedules/${id}/runs`)).body.data.length === 2,
    );
    if (how === 'deleted') await admin.delete(`/schedules/${id}`);
    else await admin.send('POST', `/schedules/${id}/disable`);
  }
  held.open();
  const history = `/schedules/${ids.get('disabled')}/runs`;
  await until('the second is skipped', async () =>
    (await admin.get(history)).body.data.some(
      ({ error }: Body) => error === 'Skipped: the schedule was disabled',
    ),
  );
  const after = await created({ payload: { message: 'after' } });
  expect((await trigger(after)).body.status).toBe('success');
  expect([book.requests('disabled').length, book.requests('deleted').length]).toEqual([1, 1]);
});

test('a run that was started before a crash is cancelled when its time is over', async () => {
  const cancelled: string[] = [];
  const site: AttemptSite = {
    ownCalls: {
      caller: async () => anonymousCaller,
      call: (_caller, _path, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    },
    runs: {
      settled: async () => undefined,
      inputOf: async () => null,
      cancel: async (_caller, { runId }) => {
        cancelled.push(runId);
        // an attempt only asks whether there was one
        return { runId } as Run;
      },
    },
    now: async () => 3_600_000,
  };
  const schedule: Schedule = {
    ...defineSchedule({ name: 'x', cron: '@daily', agent: 'plain', message: 'x', timeoutSeconds: 60 })
      .definition,
    ...{ id: 's', enabled: true, disabledReason: null, source: 'api', retiredAt: null, userId: null },
    ...{ creator: { by: 'open' }, revision: 1, nextTick: 0, dueAt: 0, createdAt: 0, updatedAt: null },
  };
  const { signal } = new AbortController();
  const idle = <T>(wait: () => Promise<T>) => wait();
  const callApplication = <T>(_what: string, work: () => T) => work();
  const context = { signal, timers: systemTimers, log: silentLog, idle, callApplication };
  const begun = { run_id: 'r', at: 0 };
  expect(await makeAttempt(site, { schedule, recordId: 'a', begun }, context)).toMatchObject({
    status: 'failed',
    run_id: 'r',
    error: 'Timed out after 60s; run r was cancelled',
  });
  expect(cancelled).toEqual(['r']);
});
