import { describe, expect, test } from 'vitest';
import { ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { embedded, onEveryDatabase, onPostgres } from './places.js';

/** So long that no test ever sees one end: a run that is taken over was handed on. */
const long = { leaseMs: 600_000 };

describe('a service that receives a stop signal', () => {
  test('finishes its runs and accepts no new ones', async () => {
    const options = { ...(await embedded()), settings: { stopGraceMs: 60_000 } };
    const { folder } = options;
    const service = await ChaosProcess.start(options);
    const waiting = service.post('held', { message: 'gate', stream: 'false', run_id: 'waiting' });
    await until('the run is there', () => service.get('held', 'waiting'));
    const stream = await service.stream('held', { message: 'gate' });
    await stream.until(() => stream.content === 'Begun');

    service.signal('SIGTERM');
    const refused = await until('new runs are refused', async () => {
      const response = await service.post('echo', { message: 'late', stream: 'false' });
      return response.status !== 200 && response;
    });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      error_code: 'service_stopping',
      request_id: expect.any(String),
    });
    expect(['pending', 'running']).toContain((await service.get('held', 'waiting')).status);

    folder.release('gate');
    expect(await (await waiting).json()).toMatchObject({ status: 'completed', content: 'Begun and done.' });
    await stream.end();
    expect(stream.names.at(-1)).toBe('RunCompleted');
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  test('serves on while it drains, and says on every connection that it is the last time', async () => {
    const options = { ...(await embedded()), settings: { drainMs: 600_000 } };
    const service = await ChaosProcess.start(options);
    const kept = await service.post('echo', { message: 'before', stream: 'false' });
    expect([kept.status, kept.headers.get('connection')]).toEqual([200, 'keep-alive']);

    service.signal('SIGTERM');
    await until('it is not ready', async () => (await fetch(`${service.url}/ready`)).status === 503);
    const served = await service.post('echo', { message: 'late', stream: 'false' });
    expect([served.status, served.headers.get('connection')]).toEqual([200, 'close']);
    expect(await served.json()).toMatchObject({ status: 'completed' });
    const health = await fetch(`${service.url}/health`);
    expect([health.status, health.headers.get('connection')]).toEqual([200, 'close']);
    // a second signal does not wait
    await until('it has ended', () => {
      service.signal('SIGTERM');
      return service.hasEnded;
    });
    expect(await service.ended).toEqual({ code: 1, signal: null });
  });
});

describe('what is still running when the time is up', () => {
  const settings = { stopGraceMs: 300, ...long };

  onEveryDatabase((place) => {
    test('is handed over, and the next process resumes it at once', async () => {
      const options = { ...(await place()), settings };
      const { folder } = options;
      const first = await ChaosProcess.start(options);
      const waiting = first.post('held', { message: 'gate', stream: 'false', run_id: 'waiting' });
      await until('the run is there', () => first.get('held', 'waiting'));
      const stream = await first.stream('planner', { message: 'plan: step, peek@gate' });
      const { run_id } = await stream.event('RunStarted');
      await until('the second step has begun', () => folder.effects('peek').length === 1);

      first.signal('SIGTERM');
      await stream.end();
      expect(stream.names).not.toContain('RunCompleted');
      expect(stream.names).not.toContain('RunError');
      const answer = await waiting;
      expect(answer.status).toBe(503);
      expect(answer.headers.get('x-run-id')).toBe('waiting');
      expect(await answer.json()).toEqual({
        error_code: 'run_handed_on',
        detail: expect.stringContaining('waiting'),
        request_id: expect.any(String),
        run_id: 'waiting',
        session_id: expect.any(String),
        agent_id: 'held',
      });
      expect(await first.ended).toEqual({ code: 0, signal: null });

      folder.release('gate');
      const second = await ChaosProcess.start(options);
      expect(await second.settled('held', 'waiting')).toMatchObject({
        status: 'completed',
        content: 'Begun and done.',
      });
      expect(await second.settled('planner', run_id)).toMatchObject({ content: 'All 2 steps are done.' });
      expect(folder.effects().map(({ name }) => name)).toEqual(['step', 'peek', 'peek']);
    });

    test('is not executed again if that could do harm', async () => {
      const options = { ...(await place()), settings };
      const { folder } = options;
      const first = await ChaosProcess.start(options);
      const { run_id } = await first.run('planner', { message: 'plan: charge@gate', background: 'true' });
      await until('the charge has begun', () => folder.effects('charge').length === 1);
      first.signal('SIGTERM');
      await first.ended;
      folder.release('gate');
      const run = await (await ChaosProcess.start(options)).settled('planner', run_id);
      expect(folder.effects('charge')).toHaveLength(1);
      expect(run.status).toBe('paused');
    });
  });

  test('is handed on too when there is no time at all', async () => {
    const options = { ...(await onPostgres()), settings: { stopGraceMs: 0, ...long } };
    const first = await ChaosProcess.start(options);
    const runs: Body[] = await Promise.all(
      Array.from({ length: 8 }, () => first.run('held', { message: 'gate', background: 'true' })),
    );
    first.signal('SIGTERM');
    await first.ended;
    options.folder.release('gate');
    const second = await ChaosProcess.start(options);
    for (const { run_id } of runs) {
      expect(await second.settled('held', run_id)).toMatchObject({
        status: 'completed',
        content: 'Begun and done.',
      });
    }
  });
});
