import { verifyOutputSchema } from '../../../core/agents/answer/output-format.js';
import { errors, type ValidationItem } from '../../../core/errors/errors.js';
import type { Json, JsonObject } from '../../../core/json.js';
import { parseFilter } from '../../../core/knowledge/filter-parse.js';
import { maxStateKeyLength } from '../../../core/runs/execution/session-state.js';
import type { RunOptions } from '../../../core/runs/run.js';
import type { RunRequest } from '../../../core/runs/run-request.js';
import { parseTraceParent, traceParentLength } from '../../../core/traces/trace-parent.js';
import type { BoundValues, Caller } from '../../../platform/auth/caller.js';
import { userFor } from '../../../platform/auth/named-user.js';
import { personsBehind } from '../../../platform/auth/persons.js';
import { assertMayPrioritize } from '../../../platform/auth/rights.js';
import { parseUntrustedJson } from '../../../platform/http/request/json-text.js';
import type { FoundComponent, RunsPlace } from '../run-lookup.js';
import { type CreateForm, runForms } from '../schema.js';
import { bindOptions, boundFor, claimsFor } from './bound-values.js';
import { runKeyOf } from './idempotency.js';
import type { Following } from './started-run.js';

/** What comes with a form, beside its fields. */
export interface FormContext {
  /** A key of the client's: the same key and the same form stand for the same run. */
  readonly idempotencyKey?: string | undefined;
  /** The trace that the client's own system began, as its header says; ignored when it is malformed. */
  readonly traceParent?: string | undefined;
  /** How many services have passed the run on, as the header of the last one says; ignored when it is malformed. */
  readonly hops?: string | string[] | undefined;
  /** The id of the new run, made by an interface that has to know it before; a client chooses `run_id` of the form. */
  readonly newRunId?: string | undefined;
  /** What the message of the client looked like, where a form does not say it all. */
  readonly clientMessage?: RunOptions['clientMessage'];
  /** Tools and a conversation of the client, from an interface whose clients have them. */
  readonly callerInput?: RunOptions['callerInput'];
  /** Called only when application code has to prepare a run: aborted when the client is gone. */
  readonly disconnected?: (() => AbortSignal) | undefined;
  /** The model that a copy of the component runs on: an eval says so, and no form. */
  readonly model?: string | undefined;
  /** The states of stored components that an eval began with: all of its runs have the same. */
  readonly configs?: RunOptions['configs'];
}

/** The request for a new run, read from a form. */
export interface FormRequest extends RunRequest, Following, Pick<FormContext, 'disconnected'> {
  /** What the caller's token says, for a factory. */
  readonly claims: JsonObject | null;
  /** What is read when the run begins: media, which are stored then, and the input of a factory. */
  readonly form: CreateForm;
}

/** Reads the form of a new run. Whatever is wrong with it is found before anything is done. */
export async function runRequestOf(
  caller: Caller,
  place: RunsPlace & Partial<Pick<FoundComponent, 'component'>>,
  form: CreateForm,
  following: Following,
  {
    idempotencyKey,
    traceParent,
    hops,
    newRunId,
    clientMessage,
    callerInput,
    disconnected,
    model,
  }: FormContext,
): Promise<FormRequest> {
  assertMayPrioritize(caller, form.priority);
  const userId = userFor(caller, form.user_id);
  const bound = boundFor(caller, userId, place.component);
  const { sessionId = form.session_id } = bound;
  const options = optionsOf(form, runForms[place.kind].create.shape, following, bound);
  const checked = checkOptions(options);
  if (checked !== undefined) await checked;
  const keyOf = (key: string) => {
    const { dependencies, sessionState } = options;
    // what the token says is a part of the request: the same form with another token is another one
    const said = lastingClaims(bound.claims ?? {});
    const claims = Object.keys(said).length > 0 ? { claims: said } : {};
    const given = callerInput === undefined ? {} : { callerInput };
    const fixed = { session_id: sessionId, session_state: sessionState, dependencies };
    return runKeyOf(userId, place, key, { ...form, ...fixed, ...claims, ...given });
  };
  if (model !== undefined) options.model = model;
  if (clientMessage !== undefined) options.clientMessage = clientMessage;
  if (callerInput !== undefined) options.callerInput = callerInput;
  if (typeof hops === 'string' && /^\d{1,4}$/.test(hops)) options.hops = Number(hops);
  // no form says this: only the service itself acts for a schedule
  if (caller.schedule !== undefined) options.schedule = caller.schedule;
  const { stream, background, contentOnly, cancelsOnDisconnect } = following;
  // field by field: every run has one, and an object that begins with those of another takes longer to make
  return {
    stream,
    background,
    contentOnly,
    cancelsOnDisconnect,
    input: {
      content: form.message,
      media: [],
      options,
    },
    userId,
    askers: personsBehind(caller),
    claims: claimsFor(caller, userId),
    sessionId,
    runId: form.run_id,
    newRunId,
    idempotency: idempotencyKey === undefined ? undefined : keyOf(idempotencyKey),
    traceParent: parseTraceParent(traceParent ?? '') && traceParent?.slice(0, traceParentLength),
    disconnected,
    form,
  };
}

/** What a token says about its holder: the next token of the same holder says it again. */
function lastingClaims({ exp: _exp, iat: _iat, nbf: _nbf, jti: _jti, ...lasting }: JsonObject): JsonObject {
  return lasting;
}

/** Form fields that are options of a run, with the names that a run has for them. */
const optionNames = new Map<string, keyof RunOptions>([
  ['session_state', 'sessionState'],
  ['dependencies', 'dependencies'],
  ['metadata', 'metadata'],
  ['knowledge_filters', 'knowledgeFilters'],
  ['output_schema', 'outputSchema'],
  ['use_json_schema', 'useJsonSchema'],
  ['add_history_to_context', 'addHistoryToContext'],
  ['add_dependencies_to_context', 'addDependenciesToContext'],
  ['add_session_state_to_context', 'addSessionStateToContext'],
  ['version', 'version'],
  ['priority', 'priority'],
]);

/** Options that are added one by one: most runs have one, and are kept in memory with it. */
type GrowingOptions = JsonObject & { -readonly [Name in keyof RunOptions]: RunOptions[Name] };

/**
 * Reads the options of a run from a form of this shape. Where the token fixes a value, the form does not count.
 * `checkOptions` finds what is wrong with them.
 */
export function optionsOf(
  form: Readonly<Record<string, unknown>>,
  shape: object,
  { stream, background }: Following,
  bound: BoundValues,
): GrowingOptions {
  const given: Record<string, unknown> = {};
  const extra: JsonObject = {};
  for (const field of Object.keys(form)) {
    const value = form[field];
    const name = optionNames.get(field);
    if (!Object.hasOwn(shape, field) || field === 'additional_data') addExtra(extra, field, value);
    else if (value !== undefined && name !== undefined) given[name] = value;
  }
  // it describes the schema beside it, never one that another request gave the run
  if (given.outputSchema !== undefined) given.useJsonSchema ??= false;
  else if (given.useJsonSchema !== undefined) delete given.useJsonSchema;
  // the schema of the form gave each field the type of its option
  // a run in the background streams too: others may follow it
  const options = { stream: stream || background } as GrowingOptions;
  if (background && !stream) options.streamed = false;
  Object.assign(options, bindOptions(given, bound, Object.hasOwn(shape, 'session_state')));
  if ('knowledgeFilters' in given)
    options.knowledgeFilters = knowledgeFilters(String(given.knowledgeFilters));
  if (Object.keys(extra).length > 0) options.extra = extra;
  return options;
}

/** Throws when the run cannot have these options. A schema of its output takes time: then the answer rejects. */
export function checkOptions(options: RunOptions): Promise<void> | undefined {
  if (options.outputSchema !== undefined)
    return checkOutputSchema(options).then(() => checkStateKeys(options.sessionState));
  checkStateKeys(options.sessionState);
  return undefined;
}

/** Names that older servers use internally. */
const ignoredFields = new Set(['input', 'run_context', 'yield_run_output']);
const literals = new Map([
  ['true', true],
  ['false', false],
]);

/** Keeps a field that Runyard does not know, as hooks and the steps of a workflow see it. */
function addExtra(extra: JsonObject, field: string, value: unknown): void {
  const last = Array.isArray(value) ? value.at(-1) : value;
  if (typeof last !== 'string' || ignoredFields.has(field)) return;
  extra[field] = literals.get(last.toLowerCase()) ?? (last === 'null' || last === 'none' ? null : last);
}

function checkStateKeys(state: JsonObject | undefined): void {
  if (state === undefined) return;
  const long = Object.keys(state).find((key) => key.length > maxStateKeyLength);
  if (long === undefined) return;
  const message = `keys have at most ${maxStateKeyLength} characters; '${long.slice(0, 40)}…' has ${long.length}`;
  throw valueError('session_state', message, `${long.slice(0, 40)}…`);
}

async function checkOutputSchema(options: RunOptions): Promise<void> {
  try {
    await verifyOutputSchema(options);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw valueError('output_schema', message, options.outputSchema);
  }
}

/** An object, one filter expression, or an array of expressions. */
function knowledgeFilters(text: string): Json {
  let value: Json;
  try {
    value = parseUntrustedJson(text);
  } catch (error) {
    const ctx = { error: error instanceof Error ? error.message : String(error) };
    const loc = ['body', 'knowledge_filters'];
    throw invalid({ type: 'json_invalid', loc, msg: 'JSON decode error', input: text, ctx });
  }
  // before anything is done: a filter that cannot be read must not let more be found
  parseFilter(value, ['body', 'knowledge_filters']);
  return value;
}

function valueError(field: string, message: string, input: unknown): Error {
  return invalid({ type: 'value_error', loc: ['body', field], msg: `Value error, ${message}`, input });
}

function invalid(item: ValidationItem): Error {
  return errors.invalidRequest([item]);
}
