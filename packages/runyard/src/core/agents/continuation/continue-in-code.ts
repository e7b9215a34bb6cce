import { errors } from '../../errors/errors.js';
import type { Json, JsonObject } from '../../json.js';
import type { ApprovalWrite } from '../../runs/approval.js';
import type { RunEngine } from '../../runs/engine.js';
import type { Executable } from '../../runs/executable.js';
import type { RunHandle } from '../../runs/execution/executor.js';
import type { RunJournal } from '../../runs/journal/ports.js';
import type { Continuation, ContinueFrom, ContinueRecord } from '../../runs/resume/continuation.js';
import type { Run, RunLineage, RunStatus, StepRecord } from '../../runs/run.js';
import { auditRecordOf } from '../requirements/approvals.js';
import { answerInCode, type GivenAnswer } from '../requirements/read-answer.js';
import { teamRequirementsOf } from '../requirements/team-requirements.js';
import type { ToolRequirementState } from '../requirements/tool-requirements.js';
import { toWaitOutput } from '../requirements/wait-output.js';
import { nextTurn } from './continuation.js';

/** What comes with `agent.continue()`. */
export interface AgentContinueOptions {
  /** Answers to what a paused run waits for, by the ids of the tool calls or of the requirements. */
  readonly answers?: Readonly<Record<string, GivenAnswer>>;
  /** What the user says before the model goes on. */
  readonly input?: string;
  /**
   * Where a run that is not paused goes on: at its `end` (as it does when left out), after the `last_user` message,
   * or after so many messages.
   */
  readonly from?: 'end' | 'last_user' | number;
  /** Works on a copy of the run and leaves the run as it is. A completed run always stays as it is. */
  readonly fork?: boolean;
  /** Answers again, in a copy of the run that takes its place in the session. */
  readonly regenerate?: boolean;
  readonly dependencies?: JsonObject;
  readonly metadata?: JsonObject;
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
}

/** Statuses of runs that can be continued as a copy. */
const copiedStatuses: ReadonlySet<RunStatus> = new Set(['completed', 'regenerated', 'error', 'paused']);

export interface Continued {
  readonly engine: RunEngine;
  readonly journal: RunJournal;
  readonly agent: Executable;
}

/** Lets a run of the agent go on: a paused or failed one as itself, any other as a copy. */
export async function continueInCode(
  { engine, journal, agent }: Continued,
  runId: string,
  options: AgentContinueOptions,
): Promise<RunHandle> {
  checkTogether(options);
  const stored = await journal.load(runId);
  if (stored === undefined || stored.run.componentId !== agent.id || stored.run.kind !== agent.kind)
    throw errors.runNotFound();
  const { run, steps } = stored;
  const copies = options.fork === true || options.regenerate === true;
  if (run.status === 'paused' && !copies) return answer(engine, run, steps, options);
  if (options.answers !== undefined) throw errors.cannotContinue(runId, run.status);
  const kept = agent.continuation!(run, steps, placeOf(options));
  const record = recordOf(kept.turn, options);
  if (run.status === 'error' && !copies) return engine.retry(runId, kept, record);
  if (!copiedStatuses.has(run.status)) throw errors.cannotContinue(runId, run.status);
  const copy = { steps: kept.steps, lineage: lineageOf(run, kept, options), continuation: record };
  const { sessionId, userId, askers } = run;
  // the state that came with the source is in the session already
  const { sessionState: _stored, ...rest } = run.input.options;
  const input = { ...run.input, options: rest };
  return engine.start(agent, { input, sessionId, userId, askers, background: false, copy });
}

function checkTogether({ answers, from, fork, regenerate }: AgentContinueOptions): void {
  if (regenerate && (fork || typeof from === 'number'))
    throw errors.invalidContinue(
      'regenerate always copies the run and starts at an answer: omit fork and a numeric from.',
    );
  if (answers !== undefined && (from !== undefined || fork || regenerate))
    throw errors.invalidContinue('answers cannot be combined with from, fork or regenerate.');
}

function placeOf({ from = 'end', regenerate }: AgentContinueOptions): ContinueFrom {
  return regenerate && from === 'end' ? 'last_answer' : from;
}

function recordOf(
  turn: number,
  { input, dependencies, metadata }: Pick<AgentContinueOptions, 'input' | 'dependencies' | 'metadata'>,
): ContinueRecord {
  const options = {
    stream: false,
    ...(dependencies !== undefined && { dependencies }),
    ...(metadata !== undefined && { metadata }),
  };
  return { turn, input: input ?? null, options };
}

function lineageOf(run: Run, kept: Continuation, { regenerate }: AgentContinueOptions): RunLineage {
  const { runId } = run;
  return {
    forkedFromRunId: runId,
    forkedFromMessageIndex: kept.messageIndex,
    ...(regenerate && { regeneratedFrom: runId }),
    ...(regenerate && run.status === 'completed' && { replaces: runId }),
  };
}

function answer(
  engine: RunEngine,
  run: Run,
  steps: readonly StepRecord[],
  options: AgentContinueOptions,
): Promise<RunHandle> {
  const open = openRequirements(run, steps);
  const answers = new Map<string, Json>();
  const approvals: ApprovalWrite[] = [];
  for (const [callId, given] of Object.entries(options.answers ?? {})) {
    const state = openCall(open, callId);
    if (state === undefined)
      throw errors.invalidAnswer(`Run ${run.runId} does not wait for an answer to the call '${callId}'.`);
    const read = answerInCode(state, given);
    answers.set(state.waitKey, toWaitOutput(state, read));
    const audit = auditRecordOf(run, state, read, Date.now());
    if (audit !== undefined) approvals.push({ kind: 'record', approval: audit });
  }
  if (answers.size === 0) throw errors.invalidAnswer(waitingText(run, open));
  return engine.answer(run.runId, { answers, approvals, continuation: recordOf(nextTurn(steps), options) });
}

function waitingText({ runId }: Run, open: readonly ToolRequirementState[]): string {
  const calls = open.map(({ requirement }) => `'${requirement.callId}' (${requirement.toolName})`);
  return `Run ${runId} waits for answers. Give one to at least one of its calls: ${calls.join(', ')}.`;
}

/** By the id of the call, or by that of the requirement: calls of two members may have the same id. */
function openCall(open: readonly ToolRequirementState[], id: string): ToolRequirementState | undefined {
  return (
    open.find(({ requirement }) => requirement.id === id) ??
    open.find(({ requirement }) => requirement.callId === id)
  );
}

/** What the calls of a run and of its nested runs wait for now. */
export function openRequirements(run: Run, steps: readonly StepRecord[]): readonly ToolRequirementState[] {
  return teamRequirementsOf(run, steps).filter(({ answer: given }) => given === null);
}
