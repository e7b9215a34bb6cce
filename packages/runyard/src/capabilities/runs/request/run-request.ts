import { verifyOutputSchema } from '../../../core/agents/answer/output-format.js';
import { errors, type ValidationItem } from '../../../core/errors/errors.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { Media } from '../../../core/media/media.js';
import { maxStateKeyLength } from '../../../core/runs/execution/session-state.js';
import type { ContinueRecord } from '../../../core/runs/resume/continuation.js';
import type { RunInput, RunKind, RunOptions } from '../../../core/runs/run.js';
import type { StreamOptions } from '../../../core/runs/run-options.js';
import { parseJson } from '../../../platform/http/request/json-text.js';
import type { MediaService } from '../../media/service.js';
import {
  type ContinueRunForm,
  type CreateForm,
  type CreateRunForm,
  type CreateWorkflowRunForm,
  continueRunForm,
  createRunForm,
  createWorkflowRunForm,
  type OptionFields,
} from '../schema.js';
import type { PreparedRun } from './prepared-run.js';

/** Turns the form of a new run into its input. Whatever is wrong is found before anything is done. */
export function newRunInput(
  kind: RunKind,
  form: CreateForm,
  media: MediaService,
  streaming: StreamOptions,
  factory: PreparedRun['factory'],
): Promise<RunInput> {
  return kind === 'workflow'
    ? workflowInputOf(form as CreateWorkflowRunForm, media, streaming)
    : runInputOf(form as CreateRunForm, media, streaming, factory);
}

/** What a workflow is told goes to its steps; how their agents answer is theirs to say. */
async function workflowInputOf(
  form: CreateWorkflowRunForm,
  media: MediaService,
  streaming: StreamOptions,
): Promise<RunInput> {
  const { additional_data: _toSteps, ...shape } = createWorkflowRunForm.shape;
  checkStateKeys(form.session_state ?? {});
  const options: RunOptions = {
    ...streaming,
    sessionState: form.session_state,
    version: form.version,
    dependencies: form.dependencies,
    metadata: form.metadata,
    addDependenciesToContext: form.add_dependencies_to_context,
    addSessionStateToContext: form.add_session_state_to_context,
    extra: extraFields({ ...form }, shape),
  };
  return { content: form.message, media: await mediaOf(form, media), options };
}

async function runInputOf(
  form: CreateRunForm,
  media: MediaService,
  streaming: StreamOptions,
  factory: PreparedRun['factory'],
): Promise<RunInput> {
  const options: RunOptions = {
    ...(await runOptionsOf(form, createRunForm.shape, streaming)),
    sessionState: form.session_state,
    version: form.version,
    ...factory,
  };
  checkStateKeys(form.session_state ?? {});
  return { content: form.message, media: await mediaOf(form, media), options };
}

/** What the request changes for the rest of a run that goes on. */
export async function continuedOptionsOf(
  form: ContinueRunForm,
  streaming: StreamOptions,
): Promise<ContinueRecord['options']> {
  const options = await runOptionsOf(form, continueRunForm.shape, streaming);
  const named = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(named) as ContinueRecord['options'];
}

async function runOptionsOf(
  form: OptionFields,
  shape: object,
  streaming: StreamOptions,
): Promise<RunOptions> {
  const options = {
    ...streaming,
    dependencies: form.dependencies,
    metadata: form.metadata,
    knowledgeFilters: knowledgeFilters(form.knowledge_filters),
    outputSchema: form.output_schema,
    useJsonSchema: form.use_json_schema,
    addHistoryToContext: form.add_history_to_context,
    addDependenciesToContext: form.add_dependencies_to_context,
    addSessionStateToContext: form.add_session_state_to_context,
    extra: extraFields({ ...form }, shape),
  };
  await checkOutputSchema(options);
  return options;
}

type MediaFields = Pick<CreateRunForm, 'files' | 'images' | 'audio' | 'videos' | 'input_files'>;

function checkStateKeys(state: JsonObject): void {
  const long = Object.keys(state).find((key) => key.length > maxStateKeyLength);
  if (long === undefined) return;
  const message = `keys have at most ${maxStateKeyLength} characters; '${long.slice(0, 40)}…' has ${long.length}`;
  throw valueError('session_state', message, `${long.slice(0, 40)}…`);
}

async function mediaOf(form: MediaFields, media: MediaService): Promise<Media[]> {
  const lists = await Promise.all([
    media.fromUploads(form.files ?? []),
    media.fromJson('image', 'images', form.images ?? []),
    media.fromJson('audio', 'audio', form.audio ?? []),
    media.fromJson('video', 'videos', form.videos ?? []),
    media.fromJson('file', 'input_files', form.input_files ?? []),
  ]);
  return lists.flat();
}

async function checkOutputSchema(options: RunOptions): Promise<void> {
  if (options.outputSchema === undefined) return;
  try {
    await verifyOutputSchema(options);
  } catch (error) {
    throw valueError(
      'output_schema',
      error instanceof Error ? error.message : String(error),
      options.outputSchema,
    );
  }
}

/** An object, one filter expression, or an array of expressions. */
function knowledgeFilters(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    const ctx = { error: error instanceof Error ? error.message : String(error) };
    throw invalid({
      type: 'json_invalid',
      loc: ['body', 'knowledge_filters'],
      msg: 'JSON decode error',
      input: text,
      ctx,
    });
  }
  if (typeof value !== 'object' || value === null) {
    throw valueError(
      'knowledge_filters',
      'it must be a JSON object or an array of filter expressions',
      value,
    );
  }
  return value;
}

/** Fields that Runyard does not know, as hooks see them. */
function extraFields(form: Readonly<Record<string, unknown>>, shape: object): JsonObject | undefined {
  const extra: JsonObject = {};
  for (const [name, value] of Object.entries(form)) {
    if (Object.hasOwn(shape, name) || ignoredFields.has(name)) continue;
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (typeof last === 'string')
      extra[name] = literals.get(last.toLowerCase()) ?? (isNull(last) ? null : last);
  }
  return Object.keys(extra).length === 0 ? undefined : extra;
}

/** Names that mean something inside older servers; they are nobody's business here. */
const ignoredFields = new Set(['input', 'run_context', 'yield_run_output']);
const literals = new Map([
  ['true', true],
  ['false', false],
]);

function isNull(text: string): boolean {
  return text === 'null' || text === 'none';
}

function valueError(field: string, message: string, input: unknown): Error {
  return invalid({ type: 'value_error', loc: ['body', field], msg: `Value error, ${message}`, input });
}

function invalid(item: ValidationItem): Error {
  return errors.invalidRequest([item]);
}
