import { expect, test } from 'vitest';
import { untilAborted } from '../../../core/async/abort.js';
import { silentLog } from '../../../core/log.js';
import type { Run } from '../../../core/runs/run.js';
import { anonymousCaller } from '../../../platform/auth/caller.js';
import { systemTimers } from '../../../platform/engine/local/timers.js';
import type { Schedule } from '../schedule.js';
import { type AttemptSite, makeAttempt } from './attempt.js';

const schedule = {
  ...{ id: 's', name: 'report', method: 'POST', endpoint: '/agents/writer/runs', payload: null },
  ...{ timeoutSeconds: 60, creator: { by: 'open' } },
} as unknown as Schedule; // an attempt reads nothing else
const runIs = (status: Run['status']) =>
  // what the outcome is made of
  ({ kind: 'agent', status, result: null, runId: 'r', sessionId: 'q', input: { content: 'hi' } }) as Run;

const hanging = new Promise<never>(() => {});
const neverAborted = new AbortController().signal;

/** An attempt that another process began, long ago. */
async function continued(run: Run | undefined, caller: AttemptSite['ownCalls']['caller']) {
  const cancelled: string[] = [];
  const site: AttemptSite = {
    ownCalls: { caller, call: (_caller, _path, { signal }) => untilAborted(hanging, signal ?? neverAborted) },
    runs: {
      cancel: async (_caller, { runId }) => {
        cancelled.push(runId);
        return undefined;
      },
      settled: async () => run && { run, requirements: [] },
      inputOf: async ({ input }) => input.content,
    },
    now: async () => 100_000_000,
  };
  const outcome = await makeAttempt(
    site,
    { schedule, recordId: 'a', begun: { run_id: 'r', at: 0 } },
    {
      signal: neverAborted,
      timers: systemTimers,
      log: silentLog,
      idle: (work) => work(),
      callApplication: (_what, work) => work(),
    },
  );
  return { outcome, cancelled };
}

test.each([
  ['a call', async () => anonymousCaller],
  ['scheduleRights', () => hanging],
])('when the time is up during %s, the run of an earlier process is cancelled', async (_what, caller) => {
  expect(await continued(runIs('cancelled'), caller)).toMatchObject({
    outcome: { status: 'failed', run_id: 'r', error: 'Timed out after 60s; run r was cancelled' },
    cancelled: ['r'],
  });
  const never = await continued(undefined, caller);
  expect(never.outcome).toMatchObject({ status: 'failed', run_id: null, error: 'Timed out after 60s' });
});

test('a run that ended while no process looked counts as it ended', async () => {
  const { outcome } = await continued(runIs('completed'), async () => anonymousCaller);
  expect(outcome).toMatchObject({ status: 'success', run_id: 'r', error: null });
});
