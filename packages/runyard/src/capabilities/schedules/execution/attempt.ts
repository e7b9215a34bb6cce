import { pause, untilAborted } from '../../../core/async/abort.js';
import { backOffMs } from '../../../core/async/back-off.js';
import { errorCode } from '../../../core/errors/error-code.js';
import { RunyardError } from '../../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../core/json.js';
import type { JobContext } from '../../../core/runs/jobs/job.js';
import type { RunKind } from '../../../core/runs/run.js';
import { segmentsOf } from '../../../core/schedules/endpoint.js';
import { anonymousCaller, type Caller } from '../../../platform/auth/caller.js';
import type { OwnCalls } from '../../../platform/own-calls.js';
import type { RunsService } from '../../runs/service.js';
import type { Schedule } from '../schedule.js';
import { type AttemptOutcome, type BegunAttempt, keptOutput, outcomeOf } from './tick-records.js';

/** What attempts are made with. */
export interface AttemptSite {
  readonly ownCalls: Pick<OwnCalls, 'caller' | 'call'>;
  readonly runs: Pick<RunsService, 'settled' | 'cancel' | 'inputOf'>;
  /** The time by which all processes go. */
  readonly now: () => Promise<number>;
}

/** One attempt to execute a schedule. */
export interface Attempt {
  readonly schedule: Schedule;
  readonly recordId: string;
  readonly begun: BegunAttempt;
}

interface RunPath {
  readonly kind: RunKind;
  readonly componentId: string;
}

const kinds: ReadonlyMap<string, RunKind> = new Map([
  ['agents', 'agent'],
  ['teams', 'team'],
  ['workflows', 'workflow'],
]);

/** The component whose runs an endpoint starts; undefined for any other endpoint. */
function runPathOf({ method, endpoint }: Pick<Schedule, 'method' | 'endpoint'>): RunPath | undefined {
  const [group = '', componentId = '', runs, ...more] = segmentsOf(endpoint);
  const kind = kinds.get(group);
  const isRunPath = method === 'POST' && componentId !== '' && runs === 'runs' && more.length === 0;
  return kind !== undefined && isRunPath ? { kind, componentId } : undefined;
}

/** Whether a call may be repeated when it is not known whether it took effect. */
export function isRepeatable(schedule: Pick<Schedule, 'method' | 'endpoint'>): boolean {
  const { method } = schedule;
  return method === 'GET' || method === 'PUT' || method === 'DELETE' || runPathOf(schedule) !== undefined;
}

/** Rights that a creator has lost do not come back by themselves: the schedule is disabled. */
const lostRights = new Set(['rights_lost', 'insufficient_scope']);

class TimedOut extends Error {}

/** Makes an attempt. It rejects only when the signal aborts: then another process makes it, or nobody does. */
export async function makeAttempt(
  site: AttemptSite,
  attempt: Attempt,
  context: Pick<JobContext, 'signal' | 'timers' | 'idle' | 'log' | 'callApplication'>,
): Promise<AttemptOutcome> {
  const { schedule, recordId, begun } = attempt;
  const { signal, timers, idle, log, callApplication } = context;
  const bound = new AbortController();
  const onAbort = (): void => bound.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const leftMs = begun.at + schedule.timeoutSeconds * 1000 - (await site.now());
  const stopTimer = timers.after(Math.max(0, leftMs), () => bound.abort(new TimedOut()));
  try {
    signal.throwIfAborted();
    const caller = await untilAborted(site.ownCalls.caller(schedule.creator, callApplication), bound.signal);
    const acting = { ...caller, schedule: { scheduleId: schedule.id, scheduleRunId: recordId } };
    const path = runPathOf(schedule);
    const call = new ScheduledCall(site, attempt, acting, bound.signal, timers);
    return path === undefined ? await call.once() : await call.run(path, idle);
  } catch (error) {
    signal.throwIfAborted();
    if (bound.signal.reason instanceof TimedOut) return await timedOut(site, attempt, context);
    if (!(error instanceof RunyardError))
      log.error(
        { err: error, schedule: schedule.name, schedule_id: schedule.id },
        'a call of a schedule failed',
      );
    return failedWith(error, await site.now());
  } finally {
    stopTimer();
    signal.removeEventListener('abort', onAbort);
  }
}

/** The time is up: the run that the attempt started is cancelled. One that has ended by itself counts all the same. */
async function timedOut(
  site: AttemptSite,
  { schedule, begun }: Attempt,
  { signal, log }: Pick<JobContext, 'signal' | 'log'>,
): Promise<AttemptOutcome> {
  const error = `Timed out after ${schedule.timeoutSeconds}s`;
  const path = runPathOf(schedule);
  try {
    // a run that is just being started is cancelled too: a request to cancel waits for it
    const place = path && { ...path, runId: begun.run_id };
    const left = place && (await site.runs.cancel(anonymousCaller, place));
    const settled = place && left === undefined ? await site.runs.settled(place, signal) : undefined;
    const at = await site.now();
    if (settled !== undefined && settled.run.status !== 'cancelled')
      return outcomeOfRun(settled, await site.runs.inputOf(settled.run), at);
    const run = left ?? settled?.run;
    if (run !== undefined)
      return outcomeOf({
        status: 'failed',
        at,
        run_id: run.runId,
        error: `${error}; run ${run.runId} was cancelled`,
      });
  } catch (failure) {
    signal.throwIfAborted();
    log.warn({ err: failure, run_id: begun.run_id }, 'a run of a schedule could not be cancelled');
  }
  return outcomeOf({ status: 'failed', at: await site.now(), error });
}

function failedWith(error: unknown, at: number): AttemptOutcome {
  const isKnown = error instanceof RunyardError;
  const message = isKnown ? error.message : 'The call failed. The log says why.';
  const disables = lostRights.has(errorCode(error) ?? '') ? { disables: message } : {};
  return outcomeOf({
    status: 'failed',
    at,
    status_code: isKnown ? error.status : null,
    error: message,
    ...disables,
  });
}

/** How long to wait before a run is started again that the service had no room for. */
const noRoom = { delayMs: 500, maximumMs: 15_000 };

class ScheduledCall {
  constructor(
    private readonly site: AttemptSite,
    private readonly attempt: Attempt,
    private readonly caller: Caller,
    private readonly signal: AbortSignal,
    private readonly timers: JobContext['timers'],
  ) {}

  /** Any endpoint but those that start runs: its status is the result, and of an eval where to find it. */
  async once(): Promise<AttemptOutcome> {
    const { method, payload } = this.attempt.schedule;
    const isEmpty = payload === null || Object.keys(payload).length === 0 || method === 'GET';
    const answer = await this.send(
      isEmpty
        ? { method }
        : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(payload) },
    );
    const at = await this.site.now();
    if (!answer.ok) return refused(answer, at);
    const { evalRun } = answer;
    const output = evalRun === undefined ? null : keptOutput(evalRun, 'dict');
    return outcomeOf({ status: 'success', at, status_code: answer.status, output });
  }

  /** Starts a run, or finds the one that it started before a crash, and waits for its end. */
  async run({ kind, componentId }: RunPath, idle: JobContext['idle']): Promise<AttemptOutcome> {
    const { site, signal } = this;
    const { begun } = this.attempt;
    const place = { kind, componentId, runId: begun.run_id };
    const refusal = await this.start(idle);
    if (refusal !== undefined) return refused(refusal, await site.now());
    const settled = await idle(() => site.runs.settled(place, signal));
    if (settled === undefined) throw new Error(`The run ${begun.run_id} is gone.`);
    return outcomeOfRun(settled, await site.runs.inputOf(settled.run), await site.now());
  }

  /** Starts the run when the service has room for it. Answers with what keeps it from being started. */
  private async start(idle: JobContext['idle']): Promise<Answer | undefined> {
    const { attempt, signal, timers } = this;
    const body = formOf(attempt.schedule.payload, attempt.begun.run_id);
    for (let failures = 0; ; failures += 1) {
      const answer = await this.send({ method: 'POST', body });
      // the run of this id is the one that an earlier execution of this attempt started
      if (answer.ok || answer.code === 'run_exists') return undefined;
      const isBusy = answer.status === 503 || answer.status === 429;
      if (!isBusy) return answer;
      await idle(() => pause(backOffMs(noRoom, failures), signal, timers));
    }
  }

  private async send(init: RequestInit): Promise<Answer> {
    const { schedule } = this.attempt;
    const response = await this.site.ownCalls.call(this.caller, schedule.endpoint, {
      ...init,
      signal: this.signal,
    });
    const { ok, status } = response;
    if (ok && startsEval(schedule)) return { ok, status, evalRun: await evalRunIn(response) };
    return { ok, status, ...faultIn(await beginningOf(response, keptBytes)) };
  }
}

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly code?: string | undefined;
  readonly text?: string;
  /** Which eval it started, and how that is. */
  readonly evalRun?: JsonObject | undefined;
}

function refused({ status, text = '', code }: Answer, at: number): AttemptOutcome {
  const disables = lostRights.has(code ?? '') ? { disables: text } : {};
  return outcomeOf({
    status: 'failed',
    at,
    status_code: status,
    error: text || `HTTP ${status}`,
    ...disables,
  });
}

/** What of an answer is kept as the reason of a failure. */
const keptBytes = 4096;

/** The beginning of a body. The rest is not wanted: an endpoint may answer with megabytes, or with a stream. */
async function beginningOf({ body }: Response, bytes: number): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
    if (length < bytes) continue;
    await reader.cancel();
    break;
  }
  return Buffer.concat(chunks).subarray(0, bytes).toString('utf8');
}

const evalsPath = /^\/eval-runs\/*(?:\?.*)?$/;

function startsEval({ method, endpoint }: Pick<Schedule, 'method' | 'endpoint'>): boolean {
  return method === 'POST' && evalsPath.test(endpoint);
}

/** More than an eval is: it leaves long results out. */
const largestEval = 2_097_152;

/** What leads from the history to the eval, and not its results: those are stored with it. */
async function evalRunIn(response: Response): Promise<JsonObject | undefined> {
  const text = await beginningOf(response, largestEval);
  try {
    const body = parseJson(text);
    if (!isJsonObject(body)) return undefined;
    const { id = null, status = null, progress = null } = body;
    return { eval_run_id: id, status, progress };
  } catch {
    return undefined;
  }
}

function faultIn(text: string): Pick<Answer, 'code' | 'text'> {
  try {
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body)) return { code: undefined, text };
    const { error_code: code, detail, hint } = body;
    const reason = typeof hint === 'string' ? `. ${hint}` : '';
    const shown = typeof detail === 'string' ? `${detail}${reason}` : text;
    return { code: typeof code === 'string' ? code : undefined, text: shown };
  } catch {
    return { code: undefined, text };
  }
}

/** What the executor itself decides. */
const ownFields = new Set(['stream', 'background', 'run_id']);

/** The payload as the fields of a form: booleans and numbers as text, objects and arrays as JSON. */
function formOf(payload: JsonObject | null, runId: string): URLSearchParams {
  const form = new URLSearchParams({ stream: 'false', background: 'true', run_id: runId });
  for (const [name, value] of Object.entries(payload ?? {}))
    if (!ownFields.has(name) && value !== null && value !== undefined) form.append(name, fieldText(value));
  return form;
}

function fieldText(value: Json): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

type Settled = NonNullable<Awaited<ReturnType<RunsService['settled']>>>;

function outcomeOfRun({ run, requirements }: Settled, input: Json, at: number): AttemptOutcome {
  const { kind, status, result, runId, sessionId } = run;
  const known = {
    at,
    status_code: 200,
    run_id: runId,
    session_id: sessionId,
    input: kind === 'workflow' ? null : { input_content: input },
    output: result === null ? null : keptOutput(result.content, result.contentType),
  };
  if (status === 'completed') return outcomeOf({ ...known, status: 'success' });
  if (status === 'paused') return outcomeOf({ ...known, status: 'paused', requirements: [...requirements] });
  const failure = result?.error?.message ?? 'Run failed with status ERROR';
  return outcomeOf({
    ...known,
    status: 'failed',
    error: status === 'cancelled' ? 'Run was cancelled' : failure,
  });
}
