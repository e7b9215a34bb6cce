import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { freshPostgres } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { ServerBetween } from '../../support/server-between.js';
import { type Answer, startService, type TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

/** A service on PostgreSQL, with an agent that answers and one that pauses. */
async function serviceOnPostgres() {
  const database = await ServerBetween.before((await freshPostgres()).url);
  const book = new ScriptBook();
  const service = await startService({
    database: database.url,
    autoMigrate: true,
    agents: [agent({ id: 'a', model: book.model }), payingAgent(book, 'payer').agent],
    websocket: true,
    leaseMs: 2_000,
  });
  return { database, book, service, life: new RunLife(service, 'a') };
}

function expectUnavailable({ status, body, headers, text }: Answer): void {
  expect([status, body?.error_code], text).toEqual([503, 'database_unavailable']);
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
  expect(text).not.toMatch(/ECONN|127\.0\.0\.1|terminated|postgres/i);
}

const ways: Record<string, (service: TestService, ids: { run: string; paused: string }) => Promise<Answer>> =
  {
    'the list of sessions': (service) => service.get('/sessions?type=agent'),
    'the list of memories': (service) => service.get('/memories'),
    'the list of traces': (service) => service.get('/traces'),
    'a run': (service, { run }) => service.get(`/agents/a/runs/${run}`),
    'the events of a run': (service, { run }) => service.get(`/agents/a/runs/${run}/events`),
    'the start of a run': (service) => service.run('a', { message: 'x' }),
    'the start of a run in a session': (service) => service.run('a', { message: 'x', session_id: 's' }),
    'the start in the background': (service) => service.run('a', { message: 'x', background: true }),
    'the head of a stream': (service) => service.run('a', { message: 'x', stream: true }),
    'an answer to a paused run': (service, { paused }) =>
      service.submit(`/agents/payer/runs/${paused}/continue`, { stream: false }),
    'a cancellation': (service, { paused }) => service.call('POST', `/agents/payer/runs/${paused}/cancel`),
  };

test.each(['refuse', 'silence'] as const)(
  'while PostgreSQL is away (%s), every way in answers 503, and works again when it is back',
  async (fault) => {
    const { database, book, service, life } = await serviceOnPostgres();
    const run = (await service.run('a', { message: 'before' })).body.run_id as string;
    book.write('pay', { toolCalls: [payCall(1)] }, { text: 'paid' });
    const paused = (await service.run('payer', { message: 'pay' })).body.run_id as string;
    const socket = await WsClient.connect(service.url, '/agents/ws');
    await database[fault]();
    service.logged.length = 0;
    // the first ones find out, those that follow get the known answer
    expectUnavailable(await service.get('/sessions?type=agent'));
    for (const [way, call] of Object.entries(ways)) {
      expectUnavailable(
        await call(service, { run, paused }).catch((error) =>
          Promise.reject(new Error(way, { cause: error })),
        ),
      );
    }
    const frame = await socket.ask({ action: 'start-agent', agent_id: 'a', message: 'x' });
    expect(frame).toMatchObject({ event: 'error', error_code: 'database_unavailable' });
    const calls = Array.from({ length: 200 }, () => service.get('/sessions?type=agent'));
    for (const answer of await Promise.all(calls)) expectUnavailable(answer);
    const lines = service.logged.filter(({ level }) => level === 'warn' || level === 'error');
    expect(lines.length).toBeLessThan(5);
    expect(lines[0]).toMatchObject({ message: expect.stringContaining('cannot be reached') });

    await database.open();
    await until(
      'the service answers again',
      async () => (await service.get('/sessions?type=agent')).status === 200,
    );
    expect(service.logged.filter(({ message }) => message === 'the database is back')).toHaveLength(1);
    expect((await service.run('a', { message: 'after' })).status).toBe(200);
    expect((await life.stored(run)).status).toBe('completed');
  },
);

test('runs that were acknowledged before an outage all end after it, however they are followed', async () => {
  const { database, book, service, life } = await serviceOnPostgres();
  const rest = gate();
  const messages = Array.from({ length: 100 }, (_, index) => `message ${index}`);
  for (const message of messages) book.write(message, { text: `done ${message}`, waitFor: rest.opened });
  const begun = await Promise.all(messages.map((message) => service.run('a', { message, background: true })));
  expect(new Set(begun.map(({ status }) => status))).toEqual(new Set([202]));
  const waiting = service.run('a', { message: book.write('waiting', { text: 'w', waitFor: rest.opened }) });
  const streamed = await service.stream('a', {
    message: book.write('streamed', { text: 'streamed to the end', waitFor: rest.opened }),
    session_id: 'own',
  });
  await until('all models are called', () => book.model.requests.length === 102);
  await until(
    'all runs are stored',
    async () => (await service.get('/sessions?type=agent')).body.meta.total_count === 102,
  );
  service.logged.length = 0;
  await database.refuse();
  rest.open();
  // its end cannot be stored: the caller learns that, and the run is not lost
  const answered = await waiting;
  expectUnavailable(answered);
  const refused = await service.run('a', { message: 'new' });
  expectUnavailable(refused);
  const lines = service.logged.filter(({ level }) => level === 'warn' || level === 'error');
  expect(lines.length).toBeLessThan(5);

  await database.open();
  await until('no run is under way', async () => {
    const { status, body } = await service.get('/agents/a/runs?status=RUNNING');
    return status === 200 && body.length === 0;
  });
  for (const [index, { body }] of begun.entries())
    expect(await life.stored(body.run_id)).toMatchObject({
      status: 'completed',
      content: `done message ${index}`,
    });
  expect(await life.rested(/Run (\S+) has ended/.exec(answered.body.detail)![1]!)).toMatchObject({
    content: 'w',
  });
  await streamed.over;
  expect([streamed.content, streamed.names.at(-1)]).toEqual(['streamed to the end', 'RunCompleted']);
  // nothing was done twice
  expect(book.requests('streamed')).toHaveLength(1);
});

/** A service with an agent that is about to read its history once `hooked` has opened, and reads once `free` has. */
async function serviceBeforeReading() {
  const database = await ServerBetween.before((await freshPostgres()).url);
  const [hooked, free] = [gate(), gate()];
  const hook = async () => {
    hooked.open();
    await free.opened;
  };
  const model = scriptedModel((request) => `${request.messages.length} messages`);
  const service = await startService({
    database: database.url,
    autoMigrate: true,
    agents: [agent({ id: 'a', model, addHistoryToContext: true, preHooks: [hook] })],
    leaseMs: 2_000,
  });
  return { database, service, hooked, free };
}

test('a run that is about to read in the outage resumes after it', async () => {
  const { database, service, hooked, free } = await serviceBeforeReading();
  const { body } = await service.run('a', { message: 'x', session_id: 's', background: true });
  await hooked.opened;
  await database.refuse();
  free.open();
  expectUnavailable(await service.get('/sessions?type=agent'));
  await database.open();
  const run = await new RunLife(service, 'a').rested(body.run_id);
  expect(run).toMatchObject({ status: 'completed', content: '1 messages' });
});

test('a run that cannot read in the outage answers with its id, and that it must not be sent again', async () => {
  const { database, service, hooked, free } = await serviceBeforeReading();
  let answered: Answer | undefined;
  void service.run('a', { message: 'x', session_id: 's', run_id: 'own' }).then((answer) => {
    answered = answer;
  });
  await hooked.opened;
  const life = new RunLife(service, 'a');
  await until('the run is stored', async () => (await life.get('own')).status === 200);
  await database.refuse();
  free.open();
  // while the database is away still
  const answer = await until('the caller is answered', () => answered, 30_000);
  expectUnavailable(answer);
  expect(answer.body.run_id, answer.text).toBe('own');
  expect(answer.body.detail).not.toContain('Send the request again');
  await database.open();
  expect(await life.rested('own')).toMatchObject({ status: 'completed', content: '1 messages' });
});
