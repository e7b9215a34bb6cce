import { expect, test } from 'vitest';
import { ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { onEveryDatabase } from './places.js';

onEveryDatabase((place) => {
  test('parallel runs of one session are all stored, and survive', async () => {
    const options = { ...(await place()), settings: { leaseMs: 1000 } };
    const service = await ChaosProcess.start(options);
    const messages = Array.from({ length: 5 }, (_, index) => `parallel ${index}`);
    const runs: Body[] = await Promise.all(
      messages.map((message) => service.run('echo', { message, session_id: 'shared', user_id: 'ada' })),
    );
    expect(runs.map(({ status }) => status)).toEqual(messages.map(() => 'completed'));
    await service.kill();
    const next = await ChaosProcess.start(options);
    const listed = (await (await fetch(`${next.url}/agents/echo/runs?session_id=shared`)).json()) as Body[];
    expect(listed.map(({ run_id }) => run_id).sort()).toEqual(runs.map(({ run_id }) => run_id).sort());
    expect(listed.map(({ content }) => content).sort()).toEqual(
      messages.map((message) => `Answer to: ${message}`),
    );
  });
});
