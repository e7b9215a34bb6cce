import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { RunKind } from '../../../core/runs/run.js';
import { PausedRun } from '../../common/answers/paused-run.js';
import { objectsIn, type Question } from '../../common/answers/question.js';
import { escaped } from '../escaped.js';
import type { RunJob } from '../parts.js';
import { callText, pageBlocks, pagesOf } from './blocks.js';
import { keyOf, type PauseNotes, pauseNotes, writePause } from './notes.js';

const pauseEvent = 'runyard_pause';
/** More of them are not read. A message has 40 000 characters. */
const mostLines = 20;

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
  let notes: PauseNotes = known?.key === key ? known : fresh;
  const posted = async (page: number, message: () => JsonObject): Promise<string> => {
    const lost = notes.beginning ? await findLost(job, key, page) : undefined;
    if (lost !== undefined) return lost;
    notes = { ...notes, beginning: true };
    await writePause(job, notes);
    return post(job, message(), { key, page });
  };
  const waitingTs = notes.waitingTs ?? (await posted(0, () => ({ text: waitingLines(questions) })));
  if (notes.waitingTs === undefined) {
    notes = { ...notes, beginning: false, waitingTs };
    await writePause(job, notes);
  }
  const pages = pagesOf(questions);
  for (const page of pages.slice(notes.pages.length)) {
    const ids = page.map(({ about }) => about.requirementId);
    const asked = { runId: job.place.runId, waitingTs, decisions: {} };
    const ts = await posted(notes.pages.length + 1, () => ({
      text: waitingLines(page),
      blocks: pageBlocks(page, asked),
    }));
    notes = { ...notes, beginning: false, pages: [...notes.pages, { ts, ids }] };
    await writePause(job, notes);
  }
  const left = questions.length - pages.flat().length;
  if (left > 0) await announceRest(job, left);
}

const awaited = {
  confirmation: 'approval of',
  input: 'input for',
  choice: 'an answer for',
  result: 'the result of',
  decision: 'a decision on',
} as const;

function waitingLine({ about, asked: { kind }, needsApproval }: Question): string {
  const what = awaited[needsApproval ? 'confirmation' : kind];
  return `⏸ *Awaiting ${what}* ${escaped(callText(about).slice(0, 300))}`;
}

/** What a run waits for, a line each. It is also what notifications and screen readers have of the messages that ask. */
export function waitingLines(questions: readonly Question[]): string {
  const lines = questions.slice(0, mostLines).map(waitingLine);
  const others = questions.length - lines.length;
  return [...lines, ...(others > 0 ? [`⏸ and ${others} more`] : [])].join('\n');
}

async function post(job: RunJob, message: JsonObject, about: JsonObject): Promise<string> {
  const { api, thread, place, signal } = job;
  const { ts } = await api.call(
    'chat.postMessage',
    {
      channel: thread.channel,
      thread_ts: thread.threadTs,
      ...message,
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
