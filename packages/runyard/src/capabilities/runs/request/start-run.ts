import { withinTime } from '../../../core/async/abort.js';
import { isPromise } from '../../../core/async/promises.js';
import type { RunOrigin } from '../../../core/components/code-runs.js';
import { onModel } from '../../../core/components/on-model.js';
import { errors } from '../../../core/errors/errors.js';
import { type AnyFactory, ComponentFactory, originOf } from '../../../core/factories/component-factory.js';
import { newId } from '../../../core/ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { Log } from '../../../core/log.js';
import type { Media } from '../../../core/media/media.js';
import { type Executable, unlessRefused } from '../../../core/runs/executable.js';
import { type CallApplication, runAsOwner } from '../../../core/runs/execution/code-owner.js';
import type { RunHandle } from '../../../core/runs/execution/run-handle.js';
import type { AnyLimits } from '../../../core/runs/limits/run-limits.js';
import { ownSession, type RunKey } from '../../../core/runs/run-request.js';
import { systemTimers } from '../../../platform/engine/local/timers.js';
import { parseUntrustedJson } from '../../../platform/http/request/json-text.js';
import type { RunSpace } from '../../capability.js';
import type { Component } from '../../components/service.js';
import type { MediaService } from '../../media/service.js';
import type { FoundComponent } from '../run-lookup.js';
import type { CreateForm } from '../schema.js';
import { checkCallerInput } from './caller-input.js';
import { mayBeSecond, runUnderKey } from './idempotency.js';
import type { FormRequest } from './run-request.js';
import { type StartedRun, startedRun } from './started-run.js';

/** The longest time that application code may take before there is a run that a client could cancel. */
const longestMs = 60_000;

export interface BeforeRunOptions {
  readonly log: Log;
  /** What the service allows each run: application code may not take longer before it either. */
  readonly limits?: AnyLimits;
}

/** Starts the run of a request, unless one was started under its key: then that one. */
export function startOnce(
  space: RunSpace,
  request: FormRequest,
  start: () => Promise<StartedRun>,
): Promise<StartedRun> {
  const { idempotency: key } = request;
  return key === undefined ? start() : startUnderKey(space, request, key, start);
}

async function startUnderKey(
  space: RunSpace,
  request: FormRequest,
  key: RunKey,
  start: () => Promise<StartedRun>,
): Promise<StartedRun> {
  const known = await runUnderKey(space, key);
  if (known !== undefined) return startedRun(space, known, request);
  try {
    return await start();
  } catch (error) {
    // another request with this key came at the same time
    const first = mayBeSecond(error) ? await runUnderKey(space, key) : undefined;
    if (first === undefined) throw error;
    return startedRun(space, first, request);
  }
}

/** Starts the run that a form asks for, once application code has prepared it. */
export async function startRun(
  options: BeforeRunOptions,
  { component, space }: FoundComponent,
  request: FormRequest,
): Promise<RunHandle> {
  const preparing = beforeRun(
    options,
    component,
    request.disconnected,
    (call) => prepare(component, space, request, call),
    ({ executable }) => executable.done?.(),
  );
  const prepared = isPromise(preparing) ? await preparing : preparing;
  const handle = await unlessRefused(prepared.executable, () => begin(space, request, prepared));
  // the head of a stream names the run: a client that has read it must find the run again, whatever happens here
  if (request.stream) await handle.stored();
  return handle;
}

async function begin(
  space: RunSpace,
  request: FormRequest,
  { executable, content, sessionId, origin }: PreparedRun,
): Promise<RunHandle> {
  const newRunId = request.runId === undefined ? (request.newRunId ?? newId()) : undefined;
  const owner = executable.forgets?.media ? (request.runId ?? newRunId) : undefined;
  const media = hasMedia(request.form) ? await storedMedia(request.form, space.media, owner) : [];
  const { options: asked } = request.input;
  const input = { content, media, options: origin === undefined ? asked : { ...asked, ...origin } };
  const { userId, askers = [], runId, background, idempotency, traceParent } = request;
  return await space.engine.start(executable, {
    input,
    userId,
    askers,
    sessionId,
    runId,
    newRunId,
    background,
    idempotency,
    traceParent,
  });
}

interface PreparedRun {
  readonly executable: Executable;
  readonly content: string;
  readonly sessionId: string | undefined;
  /** What must be kept to build the same component, or to call the same functions, again. */
  readonly origin: RunOrigin | undefined;
}

/** What executes the run, the component or what a factory builds for this caller and session, and what it accepts. */
function prepare(
  component: Component,
  space: RunSpace,
  request: FormRequest,
  call: CallApplication,
): PreparedRun | Promise<PreparedRun> {
  if (component instanceof ComponentFactory) return build(component, space, request, call);
  const { input, claims, sessionId } = request;
  const { model } = input.options;
  const executable = (model === undefined ? undefined : onModel(component, model)) ?? component;
  const origin = claims !== null && executable.readsClaims ? { claims } : undefined;
  const prepared = (content: string): PreparedRun => ({ executable, content, sessionId, origin });
  const content = accepted(executable, request, call);
  return isPromise(content) ? content.then(prepared) : prepared(content);
}

function accepted(
  executable: Executable,
  { input }: FormRequest,
  call: CallApplication,
): string | Promise<string> {
  checkCallerInput(executable, input.options.callerInput);
  return executable.acceptInput?.(input.content, call) ?? input.content;
}

async function build(
  component: AnyFactory,
  { runs }: RunSpace,
  request: FormRequest,
  call: CallApplication,
): Promise<PreparedRun> {
  const { input, userId, claims, form } = request;
  const { model } = input.options;
  const { sessionId = newId() } = request;
  const factoryInput = factoryInputOf(form.factory_input);
  // only the state of a session of the user's own reaches the factory
  const session = request.sessionId === undefined ? undefined : await ownSession(runs, sessionId, userId);
  const state = { ...session?.state, ...input.options.sessionState };
  const asked = { input: factoryInput, userId, claims, sessionId, state };
  const built = await component.build(asked, call, model);
  const origin = originOf(factoryInput, state, claims);
  const content = await unlessRefused(built, () => accepted(built, request, call));
  return { executable: built, content, sessionId, origin };
}

/** Reads the `factory_input` of a form. Only a factory asks for it. */
function factoryInputOf(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  let value: Json;
  try {
    value = parseUntrustedJson(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw errors.invalidFactoryInput(`factory_input is not JSON: ${reason}`);
  }
  if (!isJsonObject(value)) throw errors.invalidFactoryInput('factory_input must be a JSON object.');
  return value;
}

function hasMedia({ files, images, audio, videos, input_files }: CreateForm): boolean {
  return Boolean(files || images || audio || videos || input_files);
}

async function storedMedia(
  form: CreateForm,
  media: MediaService,
  owner: string | undefined,
): Promise<Media[]> {
  const { files, images, audio, videos, input_files } = form;
  const lists = await Promise.all([
    media.fromUploads(files ?? [], owner),
    media.fromJson('image', 'images', images ?? [], owner),
    media.fromJson('audio', 'audio', audio ?? [], owner),
    media.fromJson('video', 'videos', videos ?? [], owner),
    media.fromJson('file', 'input_files', input_files ?? [], owner),
  ]);
  return lists.flat();
}

/**
 * Prepares a run with functions of the application: a factory, the checks of an input schema. Their owner is
 * the component. The request waits for them within a bound, and no longer than its client does; `late` receives what is
 * prepared after that.
 */
export function beforeRun<T>(
  { log, limits }: BeforeRunOptions,
  component: Component,
  disconnected: (() => AbortSignal) | undefined,
  prepare: (call: CallApplication) => T | Promise<T>,
  late: (prepared: T) => void,
): T | Promise<T> {
  let at = 'inputSchema';
  const call: CallApplication = (what, work) => {
    at = what;
    return runAsOwner({ log, facts: { component: component.id, step: what } }, work);
  };
  const isFactory = component instanceof ComponentFactory;
  if (!isFactory && component.settings.inputSchema === undefined) return prepare(call);
  const withinMs = Math.min(longestMs, limits?.timeMs ?? longestMs);
  const timeout = () => {
    const what = at === 'build' ? `The factory '${component.id}'` : `The input schema of '${component.id}'`;
    return errors.preparationTimeout(what, withinMs);
  };
  const bound = { timeoutMs: withinMs, signal: disconnected?.(), timers: systemTimers, timeout };
  const preparing = Promise.resolve(prepare(call));
  return withinTime(bound, () => preparing).catch((error: unknown) => {
    preparing.then(late, () => {});
    throw error;
  });
}
