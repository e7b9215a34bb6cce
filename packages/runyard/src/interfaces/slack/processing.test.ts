import { expect, test } from 'vitest';
import type { HeldDelivery } from '../../capabilities/slack/service.js';
import { silentLog } from '../../core/log.js';
import { cancelThread } from './cancel-thread.js';
import { Processing } from './processing.js';
import { RunJobs, type RunJobsOptions } from './run-jobs.js';
import { SlackCallError } from './web/call-error.js';

/** What is open in the thread, and what became of it. */
const thread = { open: [] as object[], drops: true, runs: [] as object[], status: undefined as unknown };
const done: unknown[] = [];

const jobs = new RunJobs({
  config: { prefix: '/slack', component: { kind: 'agent', componentId: 'a' } },
  services: {
    runs: {
      follow: async () => (thread.status === undefined ? undefined : { status: thread.status }),
      cancel: async (_caller: unknown, { runId }: { runId: string }) => void done.push(`cancelled ${runId}`),
    },
  },
  slack: {
    openBefore: async () => thread.open,
    runsOfThread: async () => thread.runs,
    drop: async () => thread.drops,
  },
  log: silentLog,
} as unknown as RunJobsOptions);

const api = {
  call: async (method: string, { text }: { text: string }) => void done.push(`${method} ${text}`),
};
const held = (fields: object = {}) =>
  ({
    ...{ progress: null, runId: null, isLast: true, signal: new AbortController().signal },
    save: async (progress: string) => void done.push(progress),
    ...fields,
  }) as unknown as HeldDelivery;
const failure = (code: string, retryable = true) => new SlackCallError('chat.update', code, retryable);

test.each([
  ['http-503', true, true],
  ['request-failed', true, true],
  ['ratelimited', true, true],
  ['internal_error', true, false],
])(
  'an attempt that fails with %s is repeated: %s; it does not count: %s',
  async (code, _again, unreachable) => {
    expect(new Processing(jobs).failed(failure(code))).toMatchObject({ kind: 'retry', unreachable });
    done.length = 0;
    const job = { api, thread: { channel: 'C1', threadTs: '1' } } as never;
    // the last attempt of a message
    const refused = jobs.refused(failure(code), held(), job);
    if (unreachable) await expect(refused).rejects.toMatchObject({ code });
    else expect(await refused).toMatchObject({ kind: 'done' });
    expect(done).toEqual(
      unreachable ? [] : ['chat.postMessage Sorry, there was an error processing your message.'],
    );
  },
);

test('what Slack refuses for good is not repeated', () => {
  expect(new Processing(jobs).failed(failure('channel_not_found', false))).toMatchObject({ kind: 'done' });
});

const run = { runId: 'r1', place: JSON.stringify({ userId: 'U1' }) };
const waits = { runId: null };
const saved = '{"cancels":true}';
const said = 'chat.postMessage _Cancelled._';
const retry = { kind: 'retry' };

test.each([
  ['nothing', {}, {}, undefined, []],
  ['nothing, since an earlier attempt cancelled it', {}, { progress: saved }, { kind: 'done' }, []],
  ['a run that has ended', { runs: [run], status: 'completed' }, {}, undefined, []],
  ['a run', { runs: [run], status: 'running' }, {}, { kind: 'done' }, [saved, 'cancelled r1']],
  ['a paused run', { runs: [run], status: 'paused' }, {}, { kind: 'done' }, [saved, 'cancelled r1', said]],
  ['a run that was deleted', { runs: [run] }, {}, undefined, []],
  ['a named run', { runs: [run], open: [{ runId: 'r1' }] }, {}, { kind: 'done' }, [saved, 'cancelled r1']],
  ['a message that waits', { open: [waits] }, {}, { kind: 'done' }, [saved, said]],
  ['a message that is being read', { open: [waits], drops: false }, {}, retry, [saved]],
])('a word that cancels finds %s', async (_what, state, fields, outcome, did) => {
  Object.assign(thread, { open: [], drops: true, runs: [], status: undefined }, state);
  done.length = 0;
  const message = { owner: { teamId: 'T1' }, channel: 'C1', threadTs: '1', ts: '2' } as never;
  const answered = await cancelThread(jobs, held(fields), { api } as never, message);
  if (outcome === undefined) expect(answered).toBeUndefined();
  else expect(answered).toMatchObject(outcome);
  expect(done).toEqual(did);
});
