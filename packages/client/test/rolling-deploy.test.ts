import { expect, test } from 'vitest';
import { onPostgres } from '../../runyard/test/chaos/places.js';
import { Balancer } from '../../runyard/test/support/balancer.js';
import { ChaosProcess } from '../../runyard/test/support/chaos-process.js';
import { readExposition } from '../../runyard/test/support/clients/exposition.js';
import { until } from '../../runyard/test/support/until.js';
import { type AgentEvent, createClient } from '../src/index.js';

/** No lease ends in the time of a test: what another process continues was handed on. */
const settings = { leaseMs: 600_000, drainMs: 500, stopGraceMs: 200, probePort: 0 };

test('a client streams through a rolling deploy and loses nothing', async () => {
  const options = { ...(await onPostgres()), settings };
  const { folder } = options;
  const balancer = await Balancer.listen();
  // the first one migrates
  const old = [await ChaosProcess.start(options)];
  old.push(...(await Promise.all([ChaosProcess.start(options), ChaosProcess.start(options)])));
  for (const { url } of old) await balancer.add(url);
  const client = createClient({ baseUrl: balancer.url, retries: 20 });

  /** Streams a run to its end, with all its events. */
  const followed = (id: string, message: string) => {
    const events: AgentEvent[] = [];
    let reconnects = 0;
    const stream = client.agents.stream(id, { message }, { onReconnect: () => (reconnects += 1) });
    const read = async () => {
      for await (const event of stream) events.push(event);
      return stream.result();
    };
    return { stream, events, result: read(), reconnects: () => reconnects };
  };
  const streams = Array.from({ length: 4 }, (_, at) =>
    at % 2 === 0 ? followed('planner', 'plan: step, peek@deployed') : followed('held', 'deployed'),
  );
  let isDeployed = false;
  const shortRuns = async () => {
    const contents: unknown[] = [];
    while (!isDeployed)
      contents.push((await client.agents.run('echo', { message: String(contents.length) })).content);
    return contents;
  };
  const said = shortRuns();
  await until('all have begun', () => streams.every(({ events }) => events.length > 2));

  const replacements: ChaosProcess[] = [];
  for (const one of old) {
    const replacement = await ChaosProcess.start(options);
    replacements.push(replacement);
    await balancer.add(replacement.url);
    one.signal('SIGTERM');
    expect(await one.ended).toEqual({ code: 0, signal: null });
    balancer.remove(one.url);
  }
  isDeployed = true;
  folder.release('deployed');

  for (const { stream, events, result } of streams) {
    const { status, content } = await result;
    expect([status, content]).toEqual([
      'completed',
      expect.stringMatching(/^(All 2 steps are done\.|Begun and done\.)$/),
    ]);
    // every event that is stored, once and in order
    const id = events[0]!.agent_id;
    const stored: number[] = [];
    for await (const event of client.agents.follow(String(id), stream.runId)) stored.push(event.event_index!);
    expect(events.map(({ event_index }) => event_index)).toEqual(stored);
    expect(stored).toEqual([...new Set(stored)].sort((one, other) => one - other));
    expect(events.filter(({ event }) => event === 'RunCompleted')).toHaveLength(1);
  }
  // all processes of the runs have stopped
  for (const { reconnects } of streams) expect(reconnects()).toBeGreaterThan(0);
  expect(folder.effects('step')).toHaveLength(2);
  const last = folder.effects('peek').slice(-2);
  expect(last.every(({ pid }) => replacements.some((one) => one.pid === pid))).toBe(true);
  const contents = await said;
  expect(contents.length).toBeGreaterThan(old.length);
  expect(contents).toEqual(contents.map((_, at) => `Answer to: ${at}`));

  const metrics = await Promise.all(
    replacements.map(async ({ output }) => {
      const probe = /Probe\s+(http:\S+)/.exec(output)![1];
      return readExposition(await (await fetch(`${probe}/metrics`)).text());
    }),
  );
  const recovered = metrics.map(
    ({ value }) => value('runyard_runs_began_total', { entry: 'recovered' }) ?? 0,
  );
  expect(Math.max(...recovered)).toBeGreaterThan(0);
  for (const { value } of metrics) {
    const max = value('runyard_pool_max', { database: 'default', pool: 'runs' })!;
    expect(max).toBeGreaterThan(0);
    expect(value('runyard_pool_in_use', { pool: 'runs' })).toBeLessThanOrEqual(max);
    expect(value('runyard_leases_ended_total', { reason: 'lost' })).toBeUndefined();
  }
});
