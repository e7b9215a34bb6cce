import { errors } from '../../errors/errors.js';
import type { JsonObject } from '../../json.js';
import type { ApprovalWrite, Resolutions } from '../approval.js';
import type { RunEngine } from '../engine.js';
import { type Executable, unlessRefused } from '../executable.js';
import type { RunHandle } from '../execution/run-handle.js';
import type { RunJournal } from '../journal/ports.js';
import type { ContinueRecord } from '../journal/records.js';
import type { Run, RunKind, RunLineage, StepRecord } from '../run.js';
import type { Continuation, ContinueFrom } from './continuation.js';
import type { ContinuedBy } from './resting-runs.js';

/** What the answers of a caller come to. */
export interface MatchedAnswers {
  /** By the keys of the steps that wait. */
  readonly answers: ReadonlyMap<string, unknown>;
  readonly approvals: readonly ApprovalWrite[];
  /** The turn that comes next: a message of the user stands before it. */
  readonly turn: number;
}

/** The answers that a caller brings. Each kind of component matches them with its own questions. */
export interface AnswerSource {
  /** Whether there are any: only a paused run takes them. */
  readonly given: boolean;
  /** Finds the question to each answer. Throws for an answer to something that the run did not ask. */
  match(run: Run, steps: readonly StepRecord[], resolutions: Resolutions): MatchedAnswers;
  /** The error when no open question of the run is answered. */
  unanswered(run: Run, steps: readonly StepRecord[]): Error;
}

/** What a caller asks of a run. */
export interface ResumeRequest {
  readonly answers: AnswerSource;
  readonly from: ContinueFrom;
  /** Continues a copy and leaves the run as it is. */
  readonly fork: boolean;
  /** Answers again, in a copy. */
  readonly regenerate: boolean;
  /** Whether that copy takes the place of a completed run. */
  readonly replaceOriginal: boolean;
  /** The user's new message. */
  readonly input: string | null;
  readonly options: ContinueRecord['options'];
}

/** Where the run is, and on whose behalf it continues. */
export interface ResumeSite {
  readonly engine: RunEngine;
  readonly journal: RunJournal;
  readonly component: { readonly kind: RunKind; readonly id: string };
  /** What executes the run, or a copy of it. */
  executable(run: Run): Executable | Promise<Executable>;
  /** What was built for this very run, and executes it. Left out: the engine finds what does. */
  readonly built?: Executable;
  /** How the approvals of the run were decided. */
  resolutions?(run: Run): Promise<Resolutions>;
  /** As `Run.askers`; empty when left out. */
  readonly askers?: readonly string[];
  /** No caller waits for a copy: it is stored before it is acknowledged. */
  readonly background?: boolean;
  /** The claims that a copy is built with. */
  claims?(run: Run): JsonObject | undefined;
  /** The error for a run that cannot continue in this way, in other words than those of the catalogue. */
  refusal?(run: Run): Error;
}

/** A run that continues: itself, or a copy of it. */
export interface ResumedRun {
  readonly handle: RunHandle;
  /** The first event that followed from the request. */
  readonly fromIndex: number;
}

interface StoredRun {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/**
 * Continues a run of any kind, in the way that its status asks for: the one place that decides, for requests and for
 * code. A paused or failed run continues as itself, a completed one as a copy.
 */
export async function resumeRun(
  site: ResumeSite,
  runId: string,
  request: ResumeRequest,
): Promise<ResumedRun> {
  const { engine, journal, component } = site;
  const live = engine.handle(runId)?.run;
  const isExecuted = live?.status === 'pending' || live?.status === 'running';
  const stored = isExecuted ? { run: live, steps: [] } : await journal.load(runId);
  if (stored === undefined || !isRunOf(component, stored.run)) throw errors.runNotFound();
  const { run } = stored;
  const isCopied = request.fork || request.regenerate;
  // an answer is used once: a run that no longer waits has received it
  const isRefused =
    isExecuted || run.status === 'cancelled' || (request.answers.given && run.status !== 'paused');
  if (isRefused) throw refusal(site, run);
  if (run.status === 'pending' || run.status === 'running') return takeOver(site, run, request);
  if (run.status === 'paused' && !isCopied) return answer(site, stored, request);
  if (run.status === 'error' && !isCopied) return retry(site, stored, request);
  return copy(site, stored, request);
}

function continuedBy({ askers, built }: ResumeSite): ContinuedBy {
  return { ...(askers !== undefined && { askers }), ...(built !== undefined && { executable: built }) };
}

function refusal(site: ResumeSite, run: Run): Error {
  return site.refusal?.(run) ?? errors.cannotContinue(run.runId, run.status);
}

function isRunOf({ kind, id }: ResumeSite['component'], run: Run): boolean {
  return run.kind === kind && run.componentId === id;
}

/** A run that no process executes continues in place; a run in progress accepts no input. */
async function takeOver(site: ResumeSite, run: Run, request: ResumeRequest): Promise<ResumedRun> {
  const { input, from, fork, regenerate } = request;
  const asItIs = input === null && from === 'end' && !fork && !regenerate;
  // the journal decides whether a process executes it
  const handle = asItIs ? await site.engine.resume(run, continuedBy(site)) : undefined;
  if (handle === undefined) throw refusal(site, run);
  return { handle, fromIndex: run.nextEventIndex };
}

async function answer(
  site: ResumeSite,
  { run, steps }: StoredRun,
  { answers, input, options }: ResumeRequest,
): Promise<ResumedRun> {
  const { engine, journal } = site;
  const resolutions = (await site.resolutions?.(run)) ?? new Map();
  const { turn, ...matched } = answers.match(run, steps, resolutions);
  if (matched.answers.size === 0) {
    // another caller may have answered in between
    const status = (await journal.progress(run.runId))?.status ?? 'paused';
    throw status === 'paused' ? answers.unanswered(run, steps) : refusal(site, { ...run, status });
  }
  const continuation = { turn, input, options };
  const { attempt } = run;
  const handle = await engine.answer(run.runId, { ...matched, attempt, continuation, ...continuedBy(site) });
  return { handle, fromIndex: run.nextEventIndex };
}

async function retry(site: ResumeSite, stored: StoredRun, request: ResumeRequest): Promise<ResumedRun> {
  const { run } = stored;
  const executable = await site.executable(run);
  let kept: Continuation;
  try {
    kept = keptOf(site, stored, executable, request);
  } finally {
    // the engine executes the run with another one
    if (executable !== site.built) executable.done?.();
  }
  const handle = await site.engine.retry(run.runId, kept, recordAt(kept, request), continuedBy(site));
  return { handle, fromIndex: run.nextEventIndex };
}

async function copy(site: ResumeSite, stored: StoredRun, request: ResumeRequest): Promise<ResumedRun> {
  const { run } = stored;
  const executable = await site.executable(run);
  return unlessRefused(executable, () => copyBy(executable, site, stored, request));
}

async function copyBy(
  executable: Executable,
  site: ResumeSite,
  stored: StoredRun,
  request: ResumeRequest,
): Promise<ResumedRun> {
  const { run } = stored;
  const kept = keptOf(site, stored, executable, request);
  // the state that came with the source is in the session already; its caller's right to be urgent is not that of this one
  const { sessionState: _stored, priority: _asked, ...options } = run.input.options;
  const handle = await site.engine.start(executable, {
    input: { ...run.input, options: { ...options, claims: site.claims?.(run) } },
    userId: run.userId,
    askers: [...new Set([...run.askers, ...(site.askers ?? [])])],
    sessionId: run.sessionId,
    background: site.background ?? false,
    copy: {
      steps: kept.steps,
      lineage: lineageOf(run, kept, request),
      continuation: recordAt(kept, request),
    },
  });
  return { handle, fromIndex: 0 };
}

/** What the run, or a copy of it, continues with. */
function keptOf(
  site: ResumeSite,
  { run, steps }: StoredRun,
  executable: Executable,
  { from, regenerate }: ResumeRequest,
): Continuation {
  const place = regenerate && from === 'end' ? 'last_answer' : from;
  const kept = executable.continuation?.(run, steps, place);
  if (kept === undefined) throw refusal(site, run);
  return kept;
}

function recordAt({ turn }: Continuation, { input, options }: ResumeRequest): ContinueRecord {
  return { turn, input, options };
}

function lineageOf(
  run: Run,
  { messageIndex }: Continuation,
  { regenerate, replaceOriginal }: ResumeRequest,
): RunLineage {
  const replaces = regenerate && replaceOriginal && run.status === 'completed';
  return {
    forkedFromRunId: run.runId,
    forkedFromMessageIndex: messageIndex,
    ...(regenerate && { regeneratedFrom: run.runId }),
    ...(replaces && { replaces: run.runId }),
  };
}
