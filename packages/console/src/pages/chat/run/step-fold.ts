import { numberIn, objectIn, objectsIn, textIn } from './read-fields.js';
import type { Fields, RunStatus, RunView, StepView } from './run-view.js';

/** A run that executes a step. */
export interface NestedRun {
  view(): RunView;
  stopWith(status: RunStatus): void;
}

/** A step while it is executed. In a loop, each execution is one. */
class StepFold {
  readonly steps: StepFold[] = [];
  readonly runs: NestedRun[] = [];
  status: StepView['status'] = 'running';
  output: unknown;
  error: string | undefined;
  seconds: number | undefined;
  detail: string | undefined;
  readonly #began: number;

  constructor(
    readonly id: string,
    readonly name: string,
    readonly type: string,
    began: unknown,
  ) {
    this.#began = numberIn(began) ?? 0;
  }

  end(status: StepView['status'], at: unknown): void {
    this.status = status;
    // events have whole seconds
    this.seconds ??= (numberIn(at) ?? 0) - this.#began || undefined;
  }

  view(): StepView {
    const { id, name, type, status, output, error, seconds, detail } = this;
    return {
      ...{ id, name, type, status, output, error, seconds, detail },
      steps: this.steps.map((step) => step.view()),
      runs: this.runs.map((run) => run.view()),
    };
  }
}

const groups =
  /^(StepsExecution|ParallelExecution|ConditionExecution|LoopExecution|RouterExecution)(Started|Completed)$/;
const groupTypes: Readonly<Record<string, string>> = {
  StepsExecution: 'Steps',
  ParallelExecution: 'Parallel',
  ConditionExecution: 'Condition',
  LoopExecution: 'Loop',
  RouterExecution: 'Router',
};

/** The steps of a workflow, made of its events. */
export class StepFolds {
  readonly #top: StepFold[] = [];
  /** The last execution of each step. */
  readonly #byId = new Map<string, StepFold>();
  readonly #changed: () => void;
  #count = 0;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  views(): readonly StepView[] {
    return this.#top.map((step) => step.view());
  }

  /** Whether the event is about a step. */
  add(event: Fields): boolean {
    const name = String(event.event);
    const group = groups.exec(name);
    if (group) {
      const type = groupTypes[group[1] ?? ''] ?? 'Steps';
      if (group[2] === 'Started') this.#start(event, type).detail = startDetail(event);
      else this.#complete(event, endDetail(event));
      return true;
    }
    switch (name) {
      case 'StepStarted':
        this.#start(event, 'Step');
        return true;
      case 'StepContinued':
      case 'StepExecutorContinued':
        this.#of(event).status = 'running';
        return true;
      case 'StepOutput':
        this.#put(this.#of(event), objectIn(event.step_output));
        return true;
      case 'StepCompleted':
        this.#put(this.#of(event), objectIn(event.step_response));
        this.#complete(event, undefined);
        return true;
      case 'StepError':
        this.#of(event).error = textIn(event.error);
        this.#of(event).end('error', event.created_at);
        return true;
      case 'StepPaused':
      case 'RouterPaused':
      case 'StepOutputReview':
      case 'StepExecutorPaused':
        this.#of(event).status = 'paused';
        return true;
      case 'LoopIterationStarted':
        this.#of(event).detail =
          `round ${String(event.iteration)} of at most ${String(event.max_iterations)}`;
        return true;
      case 'LoopIterationCompleted':
        return true;
      default:
        return false;
    }
  }

  /** Whether there is such a step. */
  addRun(stepId: string, run: NestedRun): boolean {
    const step = this.#byId.get(stepId);
    step?.runs.push(run);
    return step !== undefined;
  }

  /** The run has ended: no step is in progress any longer. */
  stopWith(status: RunStatus): void {
    for (const step of this.#byId.values()) {
      for (const run of step.runs) run.stopWith(status);
      if (step.status === 'running' || (step.status === 'paused' && status !== 'paused'))
        step.status = status === 'completed' ? 'completed' : status === 'paused' ? 'paused' : 'error';
    }
    this.#changed();
  }

  #start(event: Fields, type: string): StepFold {
    const id = String(event.step_id);
    const known = this.#byId.get(id);
    // it was announced by a pause, continues after one, or is repeated after a failure
    if (known && known.status !== 'completed' && known.status !== 'skipped') {
      known.status = 'running';
      known.error = undefined;
      return known;
    }
    this.#count += 1;
    const step = new StepFold(`${id} ${this.#count}`, textIn(event.step_name) ?? id, type, event.created_at);
    this.#byId.set(id, step);
    const parent = this.#byId.get(String(event.parent_step_id));
    (parent?.steps ?? this.#top).push(step);
    return step;
  }

  /** The step of an event. A step that pauses before it starts is not known yet. */
  #of(event: Fields): StepFold {
    return this.#byId.get(String(event.step_id)) ?? this.#start(event, 'Step');
  }

  #complete(event: Fields, detail: string | undefined): void {
    const step = this.#of(event);
    if (detail !== undefined) step.detail = detail;
    if (step.status !== 'error' && step.status !== 'skipped') step.end('completed', event.created_at);
  }

  #put(step: StepFold, output: Fields): void {
    step.output = output.content;
    step.error = textIn(output.error);
    step.seconds = numberIn(objectIn(output.metrics).duration) ?? step.seconds;
    if (output.skipped === true) step.status = 'skipped';
    else if (output.success === false) step.status = 'error';
  }
}

function startDetail({ condition_result: met, selected_steps: selected }: Fields): string | undefined {
  if (typeof met === 'boolean') return met ? 'met' : 'not met';
  return Array.isArray(selected) ? selected.join(', ') : undefined;
}

function endDetail({ total_iterations: rounds }: Fields): string | undefined {
  if (typeof rounds !== 'number') return undefined;
  return rounds === 1 ? '1 round' : `${rounds} rounds`;
}

/** The steps of a stored run. */
export function storedSteps(results: unknown, runsOf: (stepId: string) => StepView['runs']): StepView[] {
  return objectsIn(results).map((result, at) => {
    const stepId = String(result.step_id);
    const hasFailed = result.success === false;
    return {
      id: `${stepId} ${at}`,
      name: textIn(result.step_name) ?? stepId,
      type: textIn(result.step_type) ?? 'Step',
      status:
        result.skipped === true
          ? 'skipped'
          : hasFailed
            ? 'error'
            : result.is_paused === true
              ? 'paused'
              : 'completed',
      output: result.content,
      error: textIn(result.error),
      seconds: numberIn(objectIn(result.metrics).duration),
      detail: undefined,
      steps: storedSteps(result.steps, runsOf),
      runs: runsOf(stepId),
    };
  });
}
