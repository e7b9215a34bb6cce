import { expect, test } from 'vitest';
import type { Model } from '../../src/core/models/model.js';
import { agent } from '../../src/index.js';
import { freshPostgres } from '../support/databases.js';
import { openRedis, redisServer } from '../support/redis.js';
import { ServerBetween } from '../support/server-between.js';
import { startService, type TestService } from '../support/service.js';
import { gate, until } from '../support/until.js';

const words = (content: string) => ({
  content,
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  finishReason: 'stop' as const,
});

/** Says the words of each part when the test lets it. */
function talking(parts: readonly (readonly string[])[]) {
  const gates = parts.map(() => gate());
  const model: Model = {
    id: 'talking',
    provider: 'Test',
    name: 'Talking',
    capabilities: { structuredOutput: 'native', tools: true },
    generate: async () => words(parts.flat().join('')),
    async *stream({ messages }, { signal }) {
      const silent = messages.at(-1)?.content === 'wait';
      if (silent)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      for (const [position, part] of parts.entries()) {
        await gates[position]?.opened;
        for (const text of part) {
          yield { type: 'text', text } as const;
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      yield { type: 'response', response: words(parts.flat().join('')) } as const;
    },
  };
  return { model, say: (part: number) => gates[part]?.open() };
}

/** Removes what Redis holds of the services, as emptying it would. */
async function emptied(prefix: string): Promise<void> {
  const { client } = await openRedis();
  const keys = await client.keys(`${prefix.replace(/[{}]/g, '?')}*`);
  if (keys.length > 0) await client.del(...keys);
}

const faults: Record<
  string,
  (between: ServerBetween, empty: () => Promise<void>) => { begin(): unknown; isNoticed: boolean }
> = {
  stopped: (between) => ({ begin: () => between.refuse(), isNoticed: true }),
  emptied: (_between, empty) => ({ begin: empty, isNoticed: false }),
  'cut off': (between) => ({ begin: () => between.silence(), isNoticed: true }),
  slow: (between) => ({ begin: () => between.slow(200), isNoticed: true }),
  'restarted without its data': (between, empty) => ({
    begin: async () => {
      await between.refuse();
      await empty();
    },
    isNoticed: true,
  }),
};

test.each(Object.keys(faults))('a stream through another process is whole when Redis is %s', async (name) => {
  const between = await ServerBetween.before(redisServer());
  const place = await freshPostgres();
  const parts = ['a', 'b', 'c', 'd'].map((letter) => Array.from({ length: 20 }, (_, i) => `${letter}${i} `));
  const { model, say } = talking(parts);
  const start = () =>
    startService({
      database: place.url,
      redis: between.url,
      agents: [agent({ id: 'talker', name: 'Talker', model })],
    });
  const [executing, followed, third] = [await start(), await start(), await start()];
  const all = [executing, followed, third];
  const redisOf = async (service: TestService) => (await service.get('/ready')).body.checks.redis.status;
  const allAre = (status: string) =>
    until(`Redis is ${status} for all`, async () => {
      const found = await Promise.all(all.map(redisOf));
      return found.every((one) => one === status);
    });
  await allAre('ok');

  const begun = await executing.run('talker', { message: 'talk', background: true });
  const path = `/agents/talker/runs/${begun.body.run_id}/events`;
  const stream = await followed.follow(path);
  say(0);
  await until('the first part is there', () => stream.content.includes('a19 '));
  const probe = await place.openUnprepared(redisServer());
  const fault = faults[name]!(between, () => emptied(probe.redis?.name('events') ?? ''));
  await fault.begin();
  if (fault.isNoticed) await allAre('failed');
  say(1);
  await until('the second part is there', () => stream.content.includes('b19 '));

  const waiting = await executing.run('talker', { message: 'wait', background: true });
  const cancelled = await third.call('POST', `/agents/talker/runs/${waiting.body.run_id}/cancel`);
  expect(cancelled.status).toBe(200);
  for (const service of all) {
    expect((await service.get('/health')).status).toBe(200);
    expect((await service.get('/ready')).status).toBe(200);
  }

  await between.open();
  await allAre('ok');
  say(2);
  await until('the third part is there', () => stream.content.includes('c19 '));
  const last = stream.events.at(-1)?.event_index ?? 0;
  await until('Redis is used again', async () => {
    const blocks = await probe.relay?.blocks(begun.body.run_id, last, 1);
    return blocks !== undefined && blocks.length > 0;
  });
  say(3);
  await stream.over;
  const indices = stream.events.flatMap(({ event_index }) => event_index ?? []);
  expect(indices).toEqual(indices.map((_, position) => position));
  expect(stream.content).toBe(parts.flat().join(''));
  expect(stream.names.at(-1)).toBe('RunCompleted');
  for (const { logged } of all) {
    const about = logged.flatMap(({ message, level }) =>
      message.startsWith('Redis') && level !== 'debug' ? message : [],
    );
    // a busy machine may make Redis slow once more: a line when it is lost, one when it is back, and no flood
    for (const [position, message] of about.entries())
      expect(message).toMatch(position % 2 === 0 ? /^Redis cannot be used/ : /^Redis is back$/);
    expect(about.length).toBeGreaterThanOrEqual(fault.isNoticed ? 2 : 0);
    expect(about.length).toBeLessThan(20);
  }
});
