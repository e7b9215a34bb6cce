import { AgentFactory } from '../../../core/agents/agent-factory.js';
import { nextTurn } from '../../../core/agents/continuation/continuation.js';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { Executable } from '../../../core/runs/executable.js';
import type { CallApplication } from '../../../core/runs/execution/code-owner.js';
import type { RunHandle } from '../../../core/runs/execution/executor.js';
import type { Continuation, ContinueRecord } from '../../../core/runs/resume/continuation.js';
import type { Run, RunLineage, StepRecord } from '../../../core/runs/run.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { personsBehind } from '../../../platform/auth/persons.js';
import type { RunSpace } from '../../capability.js';
import type { Component } from '../../components/service.js';
import type { FoundComponent, FoundRun } from '../run-lookup.js';
import type { ContinueRequest } from './continue-request.js';
import { matchAnswers } from './matched-answers.js';
import { matchStepAnswers } from './matched-step-answers.js';

/** A run that goes on: itself, or a copy of it. */
export interface ContinuedRun {
  readonly handle: RunHandle;
  /** The first event that came of the request. */
  readonly fromIndex: number;
}

interface StoredRun {
  readonly space: RunSpace;
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** Lets a run go on, in the way that its status asks for. */
export class RunContinuation {
  constructor(
    private readonly found: FoundRun & FoundComponent,
    private readonly caller: Caller,
    private readonly request: ContinueRequest,
    private readonly background: boolean,
    private readonly prepare: <T>(
      component: Component,
      work: (call: CallApplication) => Promise<T>,
    ) => Promise<T>,
  ) {}

  async begin(): Promise<ContinuedRun> {
    const { space, run: found } = this.found;
    const { runId } = found;
    const live = space.engine.handle(runId)?.run.status;
    if (live === 'pending' || live === 'running') throw cannotContinue({ ...found, status: live });
    const loaded = await space.runs.load(runId);
    if (loaded === undefined) throw errors.runNotFound();
    const stored = { space, ...loaded };
    const { run } = stored;
    switch (run.status) {
      case 'cancelled':
        throw cannotContinue(run);
      case 'pending':
      case 'running':
        return this.abandoned(stored);
      case 'paused':
        return this.copies() ? this.copy(stored) : this.answered(stored);
      case 'error':
        this.refuseAnswers(run);
        return this.copies() ? this.copy(stored) : this.retried(stored);
      default:
        this.refuseAnswers(run);
        return this.copy(stored);
    }
  }

  private copies(): boolean {
    return this.request.fork || this.request.regenerate;
  }

  /** An answer is used once: a run that no longer waits has received it. */
  private refuseAnswers(run: Run): void {
    const { tools, requirements, stepRequirements, errorRequirements } = this.request;
    const given = [tools, requirements, stepRequirements, errorRequirements];
    if (given.some((answers) => answers.length > 0)) throw cannotContinue(run);
  }

  /** A run that no process executes continues in place; a run in progress accepts no input. */
  private async abandoned({ space, run }: StoredRun): Promise<ContinuedRun> {
    const { input, from } = this.request;
    this.refuseAnswers(run);
    const asItIs = input === null && from === 'end' && !this.copies();
    // the database decides whether a process executes it
    const handle = asItIs ? await space.engine.resume(run, personsBehind(this.caller)) : undefined;
    if (handle === undefined) throw cannotContinue(run);
    return { handle, fromIndex: run.nextEventIndex };
  }

  private async answered({ space, run, steps }: StoredRun): Promise<ContinuedRun> {
    const { input, options, from } = this.request;
    if (from !== 'end')
      throw errors.invalidContinue(
        `Run ${run.runId} waits for an answer: continue_from requires fork=true, which continues a copy.`,
      );
    const resolutions = await space.approvals.resolutionsOf(this.caller.scope, run.runId);
    const sources = { ...this.request, resolutions, now: Date.now() };
    const matched =
      run.kind === 'workflow' ? matchStepAnswers(run, steps, sources) : matchAnswers(run, steps, sources);
    if (matched.answers.size === 0) throw await this.nothingAnswered(space, run);
    const continuation: ContinueRecord = { turn: nextTurn(steps), input, options };
    const handle = await space.engine.answer(run.runId, {
      ...matched,
      attempt: run.attempt,
      continuation,
      askers: personsBehind(this.caller),
    });
    return { handle, fromIndex: run.nextEventIndex };
  }

  /** Either no open question was answered, or another caller answered it meanwhile. */
  private async nothingAnswered({ runs }: RunSpace, run: Run): Promise<Error> {
    const status = (await runs.progress(run.runId))?.status ?? 'paused';
    if (status !== 'paused') return cannotContinue({ ...run, status });
    return errors.unresolvedRequirements(run.kind === 'workflow' ? 'step_requirements' : 'requirements');
  }

  private async retried(stored: StoredRun): Promise<ContinuedRun> {
    const { space, run } = stored;
    const kept = continuationIn(stored, await this.executableOf(stored), this.request);
    const handle = await space.engine.retry(run.runId, kept, this.recordAt(kept), personsBehind(this.caller));
    return { handle, fromIndex: run.nextEventIndex };
  }

  private async copy(stored: StoredRun): Promise<ContinuedRun> {
    const { space, run } = stored;
    // the steps of a workflow are those of one run: nothing can begin with them
    if (run.kind === 'workflow') throw cannotContinue(run);
    const executable = await this.executableOf(stored);
    const kept = continuationIn(stored, executable, this.request);
    const { sessionState: _stored, ...options } = run.input.options;
    const claims = this.claimsFor(run) ?? undefined;
    const handle = await space.engine.start(executable, {
      // the state that came with the source is in the session already
      input: { ...run.input, options: { ...options, claims } },
      userId: run.userId,
      askers: [...new Set([...run.askers, ...personsBehind(this.caller)])],
      sessionId: run.sessionId,
      background: this.background,
      copy: { steps: kept.steps, lineage: this.lineageOf(run, kept), continuation: this.recordAt(kept) },
    });
    return { handle, fromIndex: 0 };
  }

  private lineageOf(run: Run, { messageIndex }: Continuation): RunLineage {
    const { regenerate, replaceOriginal } = this.request;
    const replaces = regenerate && replaceOriginal && run.status === 'completed';
    return {
      forkedFromRunId: run.runId,
      forkedFromMessageIndex: messageIndex,
      ...(regenerate && { regeneratedFrom: run.runId }),
      ...(replaces && { replaces: run.runId }),
    };
  }

  private recordAt({ turn }: Continuation): ContinueRecord {
    const { input, options } = this.request;
    return { turn, input, options };
  }

  /** What a copy is executed by; a factory builds it for the one whose run it was. */
  private async executableOf({ space, run }: StoredRun): Promise<Executable> {
    const { component } = this.found;
    if (!(component instanceof AgentFactory)) return component;
    const { sessionId, userId } = run;
    const { factoryInput: input = {} } = run.input.options;
    const { fixed = run.input.options.fixed } = this.request.options;
    const state = { ...(await space.runs.session(sessionId))?.state, ...fixed?.state };
    const request = { input, userId, claims: this.claimsFor(run), sessionId, state };
    return this.prepare(component, (call) => component.build(request, call));
  }

  /** A run that its owner copies is built for who they are by now; for anybody else, for who its owner was then. */
  private claimsFor({ userId, input }: Run): JsonObject | null {
    const { caller, found } = this;
    if (!(found.component instanceof AgentFactory)) return null;
    const isOwner = caller.claims !== null && caller.userId === userId;
    return isOwner ? caller.claims : (input.options.claims ?? null);
  }
}

function continuationIn(
  { run, steps }: StoredRun,
  executable: Executable,
  { from }: ContinueRequest,
): Continuation {
  if (executable.continuation === undefined) throw cannotContinue(run);
  return executable.continuation(run, steps, from);
}

function cannotContinue({ runId, kind, status }: Run): Error {
  if (kind !== 'workflow') return errors.cannotContinue(runId, status);
  return errors.cannotContinue(runId, status, status === 'error' ? 'has errored' : `is already ${status}`);
}
