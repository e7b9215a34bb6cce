import type { DeliveryOutcome, HeldDelivery } from '../../capabilities/slack/service.js';
import { terminalStatuses } from '../../core/runs/run.js';
import { type MessageEvent, threadKeyOf } from './deliveries.js';
import { placeIn, type RunJobs } from './run-jobs.js';
import type { Workspace } from './workspaces.js';

const done: DeliveryOutcome = { kind: 'done' };
/** How many runs and messages of a thread a word may cancel. */
const mostOfThread = 20;

/**
 * Cancels what is in progress in a thread: runs, and messages that have no run yet. Undefined when nothing is: then the
 * word is a message like any other.
 */
export async function cancelThread(
  jobs: RunJobs,
  delivery: HeldDelivery,
  { api }: Workspace,
  message: MessageEvent,
): Promise<DeliveryOutcome | undefined> {
  const { config, services, slack } = jobs.options;
  const threadKey = threadKeyOf(message);
  const open = await slack.openBefore(delivery, threadKey, message.ts, mostOfThread);
  const runs = await slack.runsOfThread(config.prefix, threadKey, mostOfThread);
  const found = await Promise.all(
    runs.map(async ({ runId, place }) => {
      const known = placeIn(place);
      if (known === undefined) return [];
      const caller = jobs.callerFor(known.userId);
      const at = { ...config.component, runId };
      const run = await services.runs.follow(caller, at, -1);
      // a run that is named, and about to begin, is cancelled when it does
      const isMeant =
        run === undefined ? open.some((one) => one.runId === runId) : !terminalStatuses.has(run.status);
      return isMeant ? [{ caller, at, status: run?.status }] : [];
    }),
  );
  const meant = found.flat();
  // the next attempt finds less to cancel, and must not take the word for a message
  if (delivery.progress === null) {
    if (meant.length === 0 && open.length === 0) return undefined;
    await delivery.save(JSON.stringify({ cancels: true }));
  }
  for (const { caller, at } of meant) await services.runs.cancel(caller, at);
  const unread = open.filter(({ runId }) => runId === null);
  const dropped = await Promise.all(unread.map((one) => slack.drop(one, 'It was cancelled.')));
  // nobody writes about a run that waits, and about a message without a run
  if (dropped.includes(true) || meant.some(({ status }) => status === 'paused'))
    await api.call(
      'chat.postMessage',
      { channel: message.channel, thread_ts: message.threadTs, text: '_Cancelled._' },
      delivery.signal,
    );
  // a process is about to name its run
  if (dropped.includes(false))
    return { kind: 'retry', reason: 'The run that is to be cancelled has no id yet.' };
  return done;
}
