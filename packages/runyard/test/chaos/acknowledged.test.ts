import { beforeAll, expect, test } from 'vitest';
import { buildPackage } from '../cli/support.js';
import { ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { SseClient } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { onEveryDatabase } from './places.js';

beforeAll(buildPackage);

const callers = 24;
const wanted = 150;

/** What a client was told, and by what: from then on the run must not be lost. */
interface Acknowledgement {
  readonly runId: string;
  readonly message: string;
}

onEveryDatabase((place) => {
  test('a process that is killed under load loses no run that it acknowledged', async () => {
    const options = { ...(await place()), settings: { leaseMs: 1000 } };
    const service = await ChaosProcess.start(options);
    const told: Record<keyof typeof ways, Acknowledgement[]> = { answered: [], accepted: [], streamed: [] };
    const names = Object.keys(ways) as (keyof typeof ways)[];
    const clients = Array.from({ length: callers }, async (_, caller) => {
      const way = names[caller % names.length]!;
      for (let round = 0; !service.hasEnded; round += 1) {
        const message = `${way} ${caller} ${round}`;
        const runId = await ways[way](service, message).catch(() => undefined);
        if (runId === undefined) return;
        told[way].push({ runId, message });
      }
    });
    const count = () => Object.values(told).flat().length;
    await until(
      'enough was acknowledged, in every way',
      () => count() > wanted && names.every((way) => told[way].length > 10),
    );
    await service.kill();
    await Promise.all(clients);

    const next = await ChaosProcess.start(options);
    const found: Record<string, unknown> = {};
    for (const { runId } of [...told.answered, ...told.streamed]) {
      const run = await next.get('echo', runId);
      found[runId] = run && [run.status, run.content];
    }
    for (const { runId } of told.accepted) {
      const run = await next.settled('echo', runId);
      found[runId] = [run.status, run.content];
    }
    const expected = Object.values(told)
      .flat()
      .map(({ runId, message }) => [runId, ['completed', `Answer to: ${message}`]]);
    expect(found).toEqual(Object.fromEntries(expected));
  });
});

/** Each way of running something, up to what counts as an acknowledgement. */
const ways = {
  async answered(service: ChaosProcess, message: string): Promise<string> {
    const run: Body = await service.run('echo', { message });
    return run.run_id;
  },
  async accepted(service: ChaosProcess, message: string): Promise<string> {
    const response = await service.post('echo', { message, background: 'true' });
    expect(response.status).toBe(202);
    return ((await response.json()) as Body).run_id;
  },
  async streamed(service: ChaosProcess, message: string): Promise<string> {
    const stream = new SseClient(await service.post('echo', { message }));
    return (await stream.event('RunCompleted')).run_id;
  },
};
