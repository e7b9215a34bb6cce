import type { ContinueForm } from '../../capabilities/runs/schema.js';
import type { DeliveryOutcome, HeldDelivery } from '../../capabilities/slack/service.js';
import { RunyardError } from '../../core/errors/errors.js';
import { isJsonObject, type JsonObject, parseJson } from '../../core/json.js';
import { escaped } from './escaped.js';
import type { SlackConfig } from './options.js';
import type { Press, PressJob, SlackThread } from './parts.js';
import { answerPress, showDecision } from './pauses/answer-press.js';
import { readPress } from './pauses/read-press.js';
import type { RunJobs } from './run-jobs.js';

const done: DeliveryOutcome = { kind: 'done' };
const notActive = 'This approval is no longer active.';

/** What was decided, kept in the row before the run continues: another process repeats it, and decides nothing anew. */
interface Decision {
  readonly after: number;
  readonly form: ContinueForm;
  readonly shown: JsonObject;
}

/** Answers a run with a button that a person pressed. */
export async function processPress(
  jobs: RunJobs,
  delivery: HeldDelivery,
  payload: JsonObject,
): Promise<DeliveryOutcome> {
  const { config, services } = jobs.options;
  const press = readPress(payload);
  if (press === undefined) return done;
  const runJob = await jobs.jobOf(press.runId, delivery.signal);
  if (runJob === undefined) return { kind: 'done', note: 'The run is not known here.' };
  const job: PressJob = { ...runJob, press };
  const stored = delivery.progress === null ? undefined : parseJson(delivery.progress);
  let decision = isJsonObject(stored) ? decisionIn(stored) : undefined;
  if (decision === undefined) {
    if (press.kind === 'decide' && !(await isApprover(config, press, job.thread))) {
      await tell(job, 'Only the people who may approve this can answer it.');
      return done;
    }
    const outcome = await answerPress(job);
    if (outcome.kind === 'waits') return done;
    const { run } = await services.runs.journal(job.caller, job.place);
    decision = { after: run.nextEventIndex - 1, form: outcome.form, shown: outcome.shown };
    await delivery.save(JSON.stringify({ decision }));
  }
  const { run } = await services.runs.journal(job.caller, job.place);
  // it may have continued before the process of the last attempt ended
  if (run.status === 'paused' && run.nextEventIndex - 1 === decision.after) {
    try {
      await services.runs.continueRun(job.caller, job.place, {
        ...decision.form,
        stream: true,
        background: true,
      });
    } catch (error) {
      if (!(error instanceof RunyardError) || error.status === 429 || error.status >= 500) throw error;
      await tell(job, error.status === 409 ? notActive : escaped(error.message));
      return { kind: 'done', note: error.message };
    }
  }
  await showDecision(job, decision.shown);
  // it was checked when it was stored, and holds JSON alone
  const kept = { decision } as unknown as JsonObject;
  return jobs.write(delivery, job, { after: decision.after, kept });
}

function decisionIn({ decision }: JsonObject): Decision | undefined {
  // only this file writes it
  return isJsonObject(decision) ? (decision as unknown as Decision) : undefined;
}

async function isApprover(
  { approvers }: SlackConfig,
  { userId, teamId, channel, runId }: Press,
  { askerId }: SlackThread,
): Promise<boolean> {
  if (approvers === 'anyone') return true;
  if (approvers === 'asker') return userId === askerId;
  if (typeof approvers === 'function')
    return (await approvers({ userId, teamId, channel, runId, askerId })) === true;
  return approvers.includes(userId);
}

/** Only the person who pressed sees it. */
async function tell({ api, press, thread }: PressJob, text: string): Promise<void> {
  const { channel, userId: user } = press;
  await api.call('chat.postEphemeral', { channel, user, thread_ts: thread.threadTs, text });
}
