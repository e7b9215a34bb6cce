import { handled } from '../../errors/handled.js';
import type { JsonObject } from '../../json.js';
import { RunPaused, type WithinCode } from '../../runs/context.js';
import { type Executable, RunFailed } from '../../runs/executable.js';
import { deepestRun, runChild, wasGivenUp } from '../../runs/execution/child-run.js';
import { read } from '../../runs/journal/codec.js';
import { eventWaitName } from '../../runs/journal/received-events.js';
import { anyQuestion, childInput, childOutcome } from '../../runs/journal/records.js';
import type { RunInput, StepRecord } from '../../runs/run.js';
import { pauseOf } from '../../runs/settled.js';
import { isComponent } from '../definition/node-options.js';
import type { StepCalls } from '../definition/step-calls.js';
import type { Flow, Scope } from '../execution/flow.js';
import { askInFunction } from './ask-in-function.js';
import { waitForEventInFunction } from './function-event.js';
import type { FunctionSite, WaitPlace } from './function-site.js';
import { sleepInFunction } from './function-sleep.js';
import { StepFault } from './step-fault.js';

/** One call of a function: the tries before it failed. */
export interface FunctionCall {
  readonly tries: number;
  readonly signal: AbortSignal;
  /** Whether its runs end with the signal while the workflow continues. */
  readonly isBounded: boolean;
}

const longestName = 200;
const tooDeep = 'nesting_too_deep';

/**
 * What one call of a function does through its context. All of it ends before the step does, also what the function
 * does not wait for. What waits pauses the run, whatever the function makes of the error that it saw.
 */
export class FunctionCalls implements StepCalls {
  private over = false;
  private readonly begun: Promise<unknown>[] = [];
  private readonly runs = new Set<string>();
  private readonly waits = new Set<string>();
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly site: FunctionSite,
    private readonly call: FunctionCall,
  ) {}

  readonly run: StepCalls['run'] = (component, input, name) => {
    const running = this.begin(() => this.runOne(component, input, name));
    // the type of the component says what its runs make
    return running as never;
  };

  readonly suspend: StepCalls['suspend'] = (question, schema, options) => {
    const asking = this.begin(() => {
      const wait = this.waitName('suspend', options?.name);
      return askInFunction(this.site, wait, question, schema, options);
    });
    // the schema says what the answer is
    return asking as never;
  };

  readonly waitForEvent: StepCalls['waitForEvent'] = (name, schema, options) => {
    const waiting = this.begin(() => {
      const wait = this.waitName('event', options?.name);
      return waitForEventInFunction(this.site, wait, name, schema, options);
    });
    // the schema says what the data is
    return waiting as never;
  };

  readonly sleep: StepCalls['sleep'] = (until, options) =>
    this.begin(() =>
      sleepInFunction(this.site, this.waitName('sleep', options?.name), until, this.call.signal),
    );

  /** Ends what the function can do, and waits for the end of what it has begun. Throws when something waits. */
  async settled(): Promise<void> {
    this.over = true;
    // what was begun may begin more until it sees that the function has ended
    const paused = pauseOf(await Promise.allSettled(this.begun));
    if (paused !== undefined) throw paused;
  }

  /** An answer to a question, or to a run, that the function no longer has would go unheard. */
  assertAllAskedFor(): void {
    const { context } = this.site.flow;
    const { parentKey } = this.site;
    // there is nothing of an earlier execution: a long loop would look at all its steps in each iteration
    if (context.entry === 'started' && this.call.tries === 0) return;
    const parts = context.partsOf(parentKey);
    const question = parts.find(
      ({ kind, name, key }) => kind === 'wait' && name === 'step_suspend' && !this.waits.has(key),
    );
    if (question !== undefined)
      throw context.definitionChanged({ key: question.key, was: 'a question of the function', is: null });
    const forgotten = parts.find(
      ({ kind, status, key }) =>
        kind === 'step' &&
        status === 'running' &&
        !this.runs.has(key) &&
        context.stepsInside(key).some((step) => step.kind === 'wait'),
    );
    if (forgotten === undefined) return;
    const { kind, componentId } = read(forgotten, childInput);
    throw context.definitionChanged({ key: forgotten.key, was: `${kind} '${componentId}'`, is: null });
  }

  private begin<T>(work: () => Promise<T>): Promise<T> {
    // what begins after the end of the function would not be waited for
    const running = handled(
      this.over ? Promise.reject(new Error(`The function of '${this.site.name}' has ended.`)) : called(work),
    );
    if (!this.over) this.begun.push(running);
    return running;
  }

  /** The part of a key in which the waits of a function differ. */
  private waitName(kind: string, given: string | undefined): WaitPlace {
    const number = (this.counts.get(kind) ?? 0) + (given === undefined ? 1 : 0);
    this.counts.set(kind, number);
    const name = given === undefined ? String(number) : encoded(this.checkedName(given));
    // a given name is never taken for a number
    const what = `${this.site.waitPrefix}${kind}:${given === undefined ? '' : '='}${name}`;
    return { what, name: given, asked: (key) => this.note(key, given ?? kind) };
  }

  private note(key: string, name: string): void {
    if (this.waits.has(key)) throw this.twice('waits for', name);
    this.waits.add(key);
  }

  private checkedName(name: unknown): string {
    if (typeof name === 'string' && name !== '' && name.length <= longestName) return name;
    const message = `The function of '${this.site.name}' gives a name that is not a text of 1 to ${longestName} characters.`;
    throw new StepFault({ type: 'workflow_failed', message });
  }

  private twice(does: string, name: string): StepFault {
    const message = `The function of '${this.site.name}' ${does} '${name}' twice. Give each its own name.`;
    return new StepFault({ type: 'workflow_failed', message });
  }

  private async runOne(component: Executable, given: string | JsonObject, called?: string): Promise<unknown> {
    const { site, call } = this;
    const { flow, scope } = site;
    const { context } = flow;
    if (!isComponent(component)) {
      const message = `The function of '${site.name}' calls run() with something other than an agent, a team or a workflow.`;
      throw new StepFault({ type: 'workflow_failed', message });
    }
    const name = this.checkedName(called ?? component.name ?? component.id);
    const key = this.keyOf(name);
    if (this.runs.has(key)) throw this.twice('runs', name);
    this.runs.add(key);
    flow.register(component);
    const isWorkflow = component.kind === 'workflow';
    const earlier = context.recorded(key);
    if (isWorkflow && earlier === undefined && context.depth >= deepestRun) {
      const message = `The function of '${site.name}' runs workflows that call each other ${deepestRun} levels deep.`;
      throw new StepFault({ type: tooDeep, message });
    }
    const { status, result } = await runChild(context, {
      key,
      kind: 'step',
      parentKey: site.parentKey,
      executable: component,
      // what it was given is in the journal once it has begun
      input: earlier === undefined ? await inputOf(flow, scope, component, given) : emptyInput,
      fields: isWorkflow ? {} : site.runFields(name),
      depth: isWorkflow ? context.depth + 1 : context.depth,
      ...(call.isBounded && { signal: call.signal }),
    });
    if (status === 'completed') return result.content;
    const { type = 'Error', message = 'It failed' } = result.error ?? {};
    const failure = { type, message: `'${name}' failed: ${message}` };
    // tries on each level would multiply
    throw type === tooDeep ? new StepFault(failure) : new RunFailed(failure);
  }

  /** A run that failed in an earlier try of the function is made again, any other is kept. */
  private keyOf(name: string): string {
    const { context } = this.site.flow;
    const base = this.site.runPrefix + encoded(name);
    const keyIn = (tries: number) => (tries === 0 ? base : `${base}:${tries + 1}`);
    for (let tries = this.call.tries; tries >= 0; tries -= 1) {
      const recorded = context.recorded(keyIn(tries));
      if (recorded === undefined) continue;
      return tries < this.call.tries && hasFailed(recorded) ? keyIn(this.call.tries) : keyIn(tries);
    }
    return keyIn(this.call.tries);
  }
}

/** What the function makes whose work is the step with the key: its runs and its waits, and no review of it. */
export function madeByFunction(parentKey: string): WithinCode {
  const isWait = (name: string) =>
    name === 'step_suspend' || name === 'sleep' || name.startsWith(eventWaitName(''));
  return { parentKey, includes: ({ kind, name }) => kind !== 'wait' || isWait(name) };
}

/**
 * What a function waits for when nothing has changed since it paused: it is then not executed again, because it would
 * come to the same place. Undefined for one that can continue.
 */
export function functionAtRest({ context }: Flow, parentKey: string): RunPaused | undefined {
  if (context.entry !== 'continued' || context.replay !== null) return undefined;
  const parts = context.partsOf(parentKey);
  const waits = parts.filter(({ kind }) => kind === 'wait');
  const open = waits.filter(({ status }) => status === 'running');
  if (open.length === 0) return undefined;
  const isNews = ({ attempt, status }: StepRecord) =>
    status === 'completed' && attempt >= context.continuedIn;
  const canContinue =
    waits.some(isNews) || parts.some(({ kind, status }) => kind !== 'wait' && status === 'running');
  if (canContinue) return undefined;
  return new RunPaused(
    open.map((step) => ({
      key: step.key.replace('wait:', ''),
      kind: step.name,
      data: read(step, anyQuestion),
    })),
  );
}

const emptyInput: RunInput = { content: '', media: [], options: { stream: false } };

async function inputOf(
  { context }: Flow,
  scope: Scope,
  component: Executable,
  given: string | JsonObject,
): Promise<RunInput> {
  const { sessionState: _state, version: _version, factoryInput: _input, ...options } = context.options;
  const text = typeof given === 'string' ? given : JSON.stringify(given, null, 2);
  const content = (await component.acceptInput?.(text, context.callApplication)) ?? text;
  return { content, media: scope.media, options };
}

function hasFailed(step: StepRecord): boolean {
  return wasGivenUp(step) || (step.status === 'completed' && read(step, childOutcome).status === 'error');
}

/** A name may have characters that mean something in a key. */
function encoded(name: string): string {
  return encodeURIComponent(name);
}

/** A throw before the first wait is a rejection as well. */
async function called<T>(work: () => Promise<T>): Promise<T> {
  return work();
}
