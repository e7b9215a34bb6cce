import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { RunKind } from '../../../core/runs/run.js';
import { PausedRun } from '../../common/answers/paused-run.js';
import { objectsIn, type Question } from '../../common/answers/question.js';
import { escaped } from '../escaped.js';
import type { RunJob } from '../parts.js';
import { pageBlocks, pagesOf } from './blocks.js';
import { keyOf, pauseNotes, writePause } from './notes.js';

const pauseEvent = 'runyard_pause';

/** Posts what a paused run waits for, with buttons and fields. It may be repeated: what is there is not posted again. */
export async function postPause(
  job: RunJob,
  kind: RunKind,
  body: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { questions } = new PausedRun(kind, body);
  if (questions.length === 0) return;
  const key = keyOf(questions);
  const known = await pauseNotes(job);
  const fresh = { key, pages: [], beginning: false, decisions: {}, answers: {} };
  let notes = known?.key === key ? known : fresh;
  const pages = pagesOf(questions, job.place.runId);
  for (const page of pages.slice(notes.pages.length)) {
    const ids = page.map(({ id }) => id);
    const lost = notes.beginning ? await findLost(job, key, notes.pages.length) : undefined;
    if (lost === undefined) {
      notes = { ...notes, beginning: true };
      await writePause(job, notes);
    }
    const ts = lost ?? (await post(job, page, { key, page: notes.pages.length }));
    notes = { ...notes, beginning: false, pages: [...notes.pages, { ts, ids }] };
    await writePause(job, notes);
  }
  const left = questions.length - pages.flat().length;
  if (left > 0) await announceRest(job, left);
}

function waitingLine({ message, asked: { kind }, needsApproval }: Question): string {
  const what = needsApproval || kind === 'confirmation' ? 'Awaiting approval' : 'Awaiting an answer';
  return `⏸ ${what}: ${escaped(message.slice(0, 300))}`;
}

/** What notifications and screen readers have. */
export function pageText(page: readonly Question[]): string {
  return page.map(waitingLine).join('\n').slice(0, 3_000);
}

async function post(job: RunJob, page: readonly Question[], about: JsonObject): Promise<string> {
  const { api, thread, place, signal } = job;
  const { ts } = await api.call(
    'chat.postMessage',
    {
      channel: thread.channel,
      thread_ts: thread.threadTs,
      text: pageText(page),
      blocks: pageBlocks(page, { runId: place.runId, decisions: {} }),
      metadata: { event_type: pauseEvent, event_payload: { run_id: place.runId, ...about } },
    },
    signal,
  );
  return String(ts);
}

/** The message that a process posted before it ended. */
async function findLost(
  { api, thread, place, signal }: RunJob,
  key: string,
  page: number,
): Promise<string | undefined> {
  const { messages } = await api.call(
    'conversations.replies',
    { channel: thread.channel, ts: thread.threadTs, limit: 999, include_all_metadata: true },
    signal,
  );
  const found = objectsIn(messages).find(({ metadata }) => {
    if (!isJsonObject(metadata) || metadata.event_type !== pauseEvent) return false;
    const { event_payload: payload } = metadata;
    return (
      isJsonObject(payload) && payload.run_id === place.runId && payload.key === key && payload.page === page
    );
  });
  return found && String(found.ts);
}

async function announceRest({ api, thread, place, signal }: RunJob, left: number): Promise<void> {
  const text = `⏸ ${left} of the questions of run ${place.runId} ${left === 1 ? 'does' : 'do'} not fit into a message of Slack. Answer them through the API of the service: the run continues when all are answered.`;
  await api.call('chat.postMessage', { channel: thread.channel, thread_ts: thread.threadTs, text }, signal);
}
