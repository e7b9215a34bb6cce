import { untilAborted } from '../../core/async/abort.js';
import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import {
  type EvalSubject,
  type EvaluatedRun,
  evaluatedRunOf,
  type SubjectRun,
} from '../../core/evals/evaluated-run.js';
import type { JsonObject } from '../../core/json.js';
import type { ModelPrices } from '../../core/models/prices.js';
import { RunReleased } from '../../core/runs/executable.js';
import type { EndedRun, RunOptions } from '../../core/runs/run.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { RunSpace } from '../capability.js';
import type { RunsService } from '../runs/service.js';
import type { EvaluatedComponent, StoredRunReference } from './stored-eval.js';

interface ComponentSubjectOptions {
  readonly runs: RunsService;
  readonly caller: Caller;
  readonly component: EvaluatedComponent;
  /** The model that a copy of it runs on. */
  readonly model?: string | undefined;
  /** The states of stored components that its runs have. */
  readonly configs?: RunOptions['configs'];
  readonly factoryInput?: JsonObject | undefined;
  readonly prices: ModelPrices;
}

/** A component of the service: its runs are runs like any others, and belong to who started the eval. */
export class ComponentSubject implements Pick<EvalSubject, 'run'> {
  constructor(private readonly options: ComponentSubjectOptions) {}

  async run(request: SubjectRun): Promise<EvaluatedRun> {
    const { signal, runId } = request;
    const place = { ...this.place, runId };
    try {
      const { run, steps } = await untilAborted(this.ended(request), signal);
      // an eval answers no questions: what is asked must not wait for ever
      if (run.status === 'paused') await this.cancel(runId);
      return evaluatedRunOf(run, steps, this.options.prices);
    } catch (error) {
      // a process that stops hands the run over together with the eval
      if (signal.aborted && !(signal.reason instanceof RunReleased)) await this.cancel(place.runId);
      throw error;
    }
  }

  /** The end of a run that is started now, or was started before a crash. */
  private async ended(request: SubjectRun): Promise<EndedRun> {
    const { runs, caller, model, configs } = this.options;
    const { runId } = request;
    try {
      await runs.create(caller, this.place, this.formOf(request), { model, configs });
    } catch (error) {
      if (errorCode(error) !== 'run_exists') throw error;
    }
    return runs.end(caller, { ...this.place, runId });
  }

  private formOf({ runId, sessionId, input, sessionState, dependencies }: SubjectRun) {
    const { factoryInput } = this.options;
    return {
      message: input,
      stream: false,
      run_id: runId,
      session_id: sessionId,
      ...(sessionState !== undefined && { session_state: sessionState }),
      ...(dependencies !== undefined && { dependencies }),
      ...(factoryInput !== undefined && { factory_input: JSON.stringify(factoryInput) }),
    };
  }

  private async cancel(runId: string): Promise<void> {
    const { runs, caller } = this.options;
    await runs.cancel(caller, { ...this.place, runId });
  }

  private get place() {
    const { kind, id } = this.options.component;
    return { kind, componentId: id };
  }
}

/** Runs that are stored: they are read, and nothing is executed. */
export class StoredRunsSubject implements Pick<EvalSubject, 'run'> {
  constructor(
    private readonly space: RunSpace,
    private readonly caller: Caller,
    private readonly references: readonly StoredRunReference[],
    private readonly prices: ModelPrices,
  ) {}

  async run({ caseId }: SubjectRun): Promise<EvaluatedRun> {
    const { space, caller } = this;
    const isNamed = this.references.some(({ runId }) => runId === caseId);
    // it may have been deleted, or continued, in the meantime
    const isVisible = isNamed && (await space.runs.find(caller.scope, caseId)) !== undefined;
    const stored = isVisible ? await space.runs.load(caseId) : undefined;
    if (stored === undefined) throw errors.runNotFound();
    if (stored.run.status === 'pending' || stored.run.status === 'running')
      throw errors.evalRunNotEnded(caseId);
    return evaluatedRunOf(stored.run, stored.steps, this.prices);
  }
}
