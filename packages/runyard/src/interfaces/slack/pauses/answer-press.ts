import { RunyardError } from '../../../core/errors/runyard-error.js';
import type { JsonObject } from '../../../core/json.js';
import type { RunKind } from '../../../core/runs/run.js';
import { PausedRun } from '../../common/answers/paused-run.js';
import { objectsIn, type Question, type SimpleAnswer } from '../../common/answers/question.js';
import { escaped } from '../escaped.js';
import type { PressJob, PressOutcome } from '../parts.js';
import { SlackCallError } from '../web/call-error.js';
import { decisionWord, isDecided, isSubmitted, pageBlocks, reasonBlockId, sections } from './blocks.js';
import { filledIn, reasonIn } from './inputs.js';
import { keyOf, type Page, type PauseNotes, pauseNotes, writePause } from './notes.js';
import { waitingLines } from './post-pause.js';
import { buttons, pressed } from './read-press.js';

const waits: PressOutcome = { kind: 'waits' };

interface Pause {
  readonly kind: RunKind;
  readonly run: PausedRun;
  readonly notes: PauseNotes;
  readonly page: Page;
  /** Approvals on which nobody has decided. */
  readonly pending: ReadonlySet<string>;
}

/** Takes what a person pressed. The run continues once nothing is left to answer. */
export async function answerPress(job: PressJob): Promise<PressOutcome> {
  const pause = await pauseOf(job);
  if (pause === undefined) {
    const { waitingTs } = pressed(job.press);
    if (job.press.channel === job.thread.channel) await removeLine(job, waitingTs);
    await whisper(job, 'This approval is no longer active.');
    return waits;
  }
  const { button, requirementId } = pressed(job.press);
  if (button === buttons.check) return settled(job, pause, new Set([requirementId]));
  if (button === buttons.submit) return submitted(job, pause);
  const question = pause.run.questions.find(({ about }) => about.requirementId === requirementId);
  const isOpen = question !== undefined && !question.needsApproval && isDecided(question.asked.kind);
  // what was decided before stays
  if (!isOpen || pause.notes.decisions[requirementId] !== undefined) return settled(job, pause);
  const confirmed = button === buttons.approve;
  const decision = { confirmed, by: job.press.userId };
  const decisions = { ...pause.notes.decisions, [requirementId]: decision };
  const isDone = !isSubmitted(question, decision);
  const answers = {
    ...pause.notes.answers,
    ...(isDone && { [requirementId]: answerOf(question, confirmed) }),
  };
  return settled(job, await noted(job, pause, { ...pause.notes, decisions, answers }));
}

/** Removes the line that says what the run waits for, and makes the messages a summary of what was decided. */
export async function showDecision(job: PressJob, shown: JsonObject): Promise<void> {
  const { api, thread, signal, site } = job;
  if (typeof shown.waitingTs === 'string') await removeLine(job, shown.waitingTs);
  for (const { ts, lines } of objectsIn(shown.pages)) {
    const texts = Array.isArray(lines) ? lines.map(String) : [];
    const text = texts.join('\n');
    await api
      .call(
        'chat.update',
        {
          channel: thread.channel,
          ts: String(ts),
          text: text.slice(0, 3_000),
          // what was escaped when the lines were made
          blocks: texts.flatMap((line) => sectionsOf(line)).slice(0, 50),
        },
        signal,
      )
      .catch((error) => {
        // the run has continued: its answer does not depend on a message that can no longer be edited
        if (!(error instanceof SlackCallError) || error.retryable) throw error;
        site.log.warn({ code: error.code, method: error.method }, 'A decision was not shown in Slack');
      });
  }
}

async function removeLine({ api, thread, signal, site }: PressJob, ts: string): Promise<void> {
  await api.call('chat.delete', { channel: thread.channel, ts }, signal).catch((error) => {
    // a message that is gone, or that the app may not delete, changes nothing for the run
    if (!(error instanceof SlackCallError) || error.retryable) throw error;
    site.log.debug({ code: error.code }, 'The line about a paused run was not deleted in Slack');
  });
}

async function pauseOf(job: PressJob): Promise<Pause | undefined> {
  const { caller, place, site, press, thread } = job;
  const { runs } = site.services;
  if (press.channel !== thread.channel) return undefined;
  const view = await runs.get(caller, place).catch((error) => {
    if (error instanceof RunyardError && error.status === 404) return undefined;
    throw error;
  });
  if (view?.run.status !== 'paused') return undefined;
  const body = await runs.body(view, 'runyard');
  const run = new PausedRun(view.run.kind, body);
  const notes = await pauseNotes(job);
  const page = notes?.pages.find(({ ts }) => ts === press.messageTs);
  if (notes === undefined || page === undefined || notes.key !== keyOf(run.questions)) return undefined;
  return { kind: view.run.kind, run, notes, page, pending: await pendingApprovals(job, run) };
}

/** The approvals of a run decide for themselves: a button in Slack only looks. */
async function pendingApprovals(
  { caller, place, site }: PressJob,
  run: PausedRun,
): Promise<ReadonlySet<string>> {
  const asked = run.questions.filter(({ needsApproval }) => needsApproval);
  if (asked.length === 0) return new Set();
  const { space } = await site.services.runs.find(caller, place);
  const resolutions = await space.approvals.resolutionsOf(caller.scope, place.runId);
  const isPending = [...resolutions.values()].some(({ status }) => status === 'pending');
  const isUnknown = resolutions.size < asked.length;
  return new Set(isPending || isUnknown ? asked.map(({ about }) => about.requirementId) : []);
}

/** Takes the fields of a message. */
async function submitted(job: PressJob, pause: Pause): Promise<PressOutcome> {
  const { state } = job.press.payload;
  const { run, notes, page } = pause;
  const answers: Record<string, SimpleAnswer> = { ...notes.answers };
  const faults: string[] = [];
  for (const question of run.questions.filter(({ about }) => page.ids.includes(about.requirementId))) {
    const { requirementId } = question.about;
    const decision = notes.decisions[requirementId];
    if (!isSubmitted(question, decision)) continue;
    if (isDecided(question.asked.kind)) {
      const note = reasonIn(reasonBlockId(question), state);
      answers[requirementId] = { ...answerOf(question, false), ...(note !== undefined && { note }) };
      continue;
    }
    const filled = filledIn(question, state);
    if ('faults' in filled) faults.push(...filled.faults);
    else answers[requirementId] = filled.answer;
  }
  if (faults.length > 0) {
    await whisper(
      job,
      `Please fix the following and submit again:\n${faults.map((fault) => `• ${escaped(fault)}`).join('\n')}`,
    );
    return waits;
  }
  return settled(job, await noted(job, pause, { ...notes, answers }));
}

async function noted(job: PressJob, pause: Pause, notes: PauseNotes): Promise<Pause> {
  await writePause(job, notes);
  return { ...pause, notes };
}

/** Continues the run if everything is answered; else the message shows what is. */
async function settled(job: PressJob, pause: Pause, looked?: ReadonlySet<string>): Promise<PressOutcome> {
  const { run, notes, pending } = pause;
  const isOpen = ({ about: { requirementId: id }, needsApproval }: Question) =>
    needsApproval ? pending.has(id) : notes.answers[id] === undefined;
  if (run.questions.some(isOpen)) {
    await showPage(job, pause, looked);
    return waits;
  }
  try {
    for (const question of run.questions)
      if (!question.needsApproval) question.put(notes.answers[question.about.requirementId] ?? {});
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    await whisper(job, `Please fix the following and submit again:\n• ${escaped(error.message)}`);
    return waits;
  }
  return { kind: 'continue', form: run.form(), shown: summaryOf(job, pause) };
}

async function showPage(job: PressJob, pause: Pause, looked: ReadonlySet<string> | undefined): Promise<void> {
  const { api, thread, signal, place } = job;
  const questions = pause.run.questions.filter(({ about }) => pause.page.ids.includes(about.requirementId));
  const { decisions, waitingTs = '' } = pause.notes;
  await api.call(
    'chat.update',
    {
      channel: thread.channel,
      ts: pause.page.ts,
      text: waitingLines(questions),
      blocks: pageBlocks(questions, { runId: place.runId, waitingTs, decisions, looked }),
    },
    signal,
  );
}

/** What the messages say once the run continues. */
function summaryOf({ press }: PressJob, { run, notes }: Pause): JsonObject {
  const lineOf = (question: Question) => {
    const { about, needsApproval } = question;
    const id = about.requirementId;
    const decision = notes.decisions[id];
    const answer = notes.answers[id];
    const what = escaped(question.message.slice(0, 500));
    if (needsApproval) return `☑️ Decided by an administrator: ${what}`;
    const reason = answer?.note === undefined ? '' : `\nReason: ${escaped(answer.note)}`;
    if (decision !== undefined)
      return `${decisionWord(question, decision.confirmed)} by <@${decision.by}>: ${what}${reason}`;
    const given = answer?.values ?? answer?.selected ?? answer?.result ?? null;
    const words = typeof given === 'string' ? given : JSON.stringify(given);
    return `☑️ Answered by <@${press.userId}>: ${what}\n${escaped(words.slice(0, 1_500))}`;
  };
  const pages = notes.pages.map(({ ts, ids }) => ({
    ts,
    lines: run.questions.filter(({ about }) => ids.includes(about.requirementId)).map(lineOf),
  }));
  return { pages, ...(notes.waitingTs !== undefined && { waitingTs: notes.waitingTs }) };
}

function sectionsOf(line: string): JsonObject[] {
  return line.length <= 3_000 ? [{ type: 'section', text: { type: 'mrkdwn', text: line } }] : sections(line);
}

function answerOf({ asked: { kind } }: Question, confirmed: boolean): SimpleAnswer {
  return kind === 'decision' ? { decision: confirmed ? 'retry' : 'skip' } : { confirmed };
}

/** Says something to the one who pressed. */
async function whisper({ api, thread, press, signal }: PressJob, text: string): Promise<void> {
  const { channel, threadTs } = thread;
  await api.call(
    'chat.postEphemeral',
    { channel, thread_ts: threadTs, user: press.userId, text: text.slice(0, 3_000) },
    signal,
  );
}
