import { fileURLToPath } from 'node:url';
import { EdgeVM } from '@edge-runtime/vm';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { agent, tool } from '../../runyard/src/index.js';
import { ScriptBook } from '../../runyard/test/support/providers/script-book.js';
import { ServerBetween } from '../../runyard/test/support/server-between.js';
import { startService } from '../../runyard/test/support/service.js';
import { gate } from '../../runyard/test/support/until.js';

test('the built client works on an edge runtime, which has nothing of Node', async () => {
  const book = new ScriptBook();
  const cut = gate();
  const emitting = tool({
    name: 'emit',
    description: 'Sends events',
    execute: async (_input, { emit }) => {
      for (let number = 0; number < 50; number += 1) await emit({ number });
      await cut.opened;
      for (let number = 0; number < 50; number += 1) await emit({ number });
      return 'sent';
    },
  });
  for (const message of ['Cut', 'Left'])
    book.write(message, { toolCalls: [{ name: 'emit', arguments: {} }] }, 'Done.');
  const service = await startService({
    agents: [
      agent({ id: 'talker', model: book.model, tools: [emitting] }),
      agent({ id: 'reader', model: 'offline' }),
    ],
    routes: (server) =>
      void server.post('/cut', () => {
        between.breakAll();
        cut.open();
        return {};
      }),
  });
  const between = await ServerBetween.before(service.url);
  const entry = fileURLToPath(new URL('support/edge-page.ts', import.meta.url));
  const build = await rolldown({ input: entry, platform: 'neutral' });
  const { output } = await build.generate({ format: 'iife', name: 'program' });
  await build.close();
  const runtime = new EdgeVM();
  const absent = ['process', 'require', 'Buffer', 'XMLHttpRequest', 'document', 'setImmediate'];
  for (const name of absent) expect(runtime.evaluate(`typeof ${name}`), name).toBe('undefined');
  runtime.evaluate(output[0].code);
  const done = JSON.parse(await runtime.evaluate(`program.run(${JSON.stringify(between.url)})`));
  expect(done.statuses).toEqual(['completed', 'completed', 'completed']);
  expect(done.indices.length).toBeGreaterThan(100);
  expect(done.indices).toEqual(done.indices.map((_index: number, at: number) => at));
  expect(done.reconnects).toBeGreaterThan(0);
  expect(done.lastReport).toEqual({ loaded: 200_000, total: 200_000 });
  expect(done).toMatchObject({ aborted: true, errorCode: 'session_not_found' });
});
