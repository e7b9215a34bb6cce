import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { onPostgres } from './places.js';

const entry = fileURLToPath(new URL('./versions-yard.ts', import.meta.url));
const left = 'a run of other code is left to other processes';

test('a process leaves a run of the other version to the processes of that version', async () => {
  const place = { ...(await onPostgres()), entry };
  // so long that no lease ends: what is taken over was handed on
  const version = (name: string) => ({ ...place, settings: { name, leaseMs: 600_000, stopGraceMs: 0 } });
  const older = await ChaosProcess.start(version('old'));
  const newer = await ChaosProcess.start(version('new'));
  const begun = await fetch(`${newer.url}/workflows/flow/runs`, {
    method: 'POST',
    body: new URLSearchParams({ message: 'go', background: 'true', stream: 'false' }),
  });
  const { run_id } = (await begun.json()) as Body;
  const read = async (one: ChaosProcess): Promise<Body> =>
    (await fetch(`${one.url}/workflows/flow/runs/${run_id}`)).json();
  await until('its first step has ended', async () =>
    (await read(older)).events?.some(({ event }: Body) => event === 'StepCompleted'),
  );

  newer.signal('SIGTERM');
  expect(await newer.ended).toEqual({ code: 0, signal: null });
  await until('the old process has looked at it', () => older.output.includes(left));
  expect(['pending', 'running']).toContain((await read(older)).status);

  place.folder.release('gate');
  const next = await ChaosProcess.start(version('new'));
  const run = await until('it has ended', async () => {
    const seen = await read(next);
    return !['pending', 'running'].includes(seen.status) && seen;
  });
  expect([run.status, run.content]).toEqual(['completed', 'done by new, and the rest']);
});
