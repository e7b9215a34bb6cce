import { z } from 'zod';
import { evalBounds } from '../../core/evals/eval-plan.js';
import { evalTypes } from '../../core/evals/eval-types.js';
import type { Json } from '../../core/json.js';
import { maxStateKeyLength } from '../../core/runs/execution/session-state.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { databaseQuery } from '../../platform/http/request/database-query.js';
import { identifier } from '../../platform/http/request/fields.js';
import { pageBody, pageQuery } from '../../platform/http/request/pagination.js';

/** How many stored runs one eval grades. */
const mostRuns = 1_000;
const mostDeleted = 1_000;
const mostScorers = 50;

const addition = { 'x-addition': true } as const;

const object = () => z.record(z.string(), z.custom<Json>());

export const evalParams = lazyObject(() => ({
  eval_run_id: z.string().meta({ description: 'The identifier of the eval run.' }),
}));

export const evalQuery = lazyObject(databaseQuery);

export const eventsHeaders = lazyObject(() => ({
  'last-event-id': z
    .string()
    .regex(/^-?\d{0,15}$/)
    .optional()
    .meta({ description: 'The index of the last event that you received. An EventSource sends it.' }),
}));

const component = (kind: string) =>
  identifier()
    .nullish()
    .meta({ description: `The ${kind} to evaluate. Exactly one of agent_id, team_id and workflow_id.` });

const scorer = lazySchema(() =>
  z.union([
    z.string().min(1).max(200),
    z.object({ name: z.string().min(1).max(200), options: object().optional() }),
  ]),
);

export const evalBody = lazyObject(
  () => ({
    agent_id: component('agent').meta({ examples: ['assistant'] }),
    team_id: component('team'),
    workflow_id: component('workflow').meta(addition),
    version: z
      .int()
      .min(1)
      .nullish()
      .meta({
        ...addition,
        description:
          'The version of a stored component, a draft included. Left out: the current one. All runs of the eval have this version, also when another one is published in the meantime.',
      }),
    eval_type: z.enum(evalTypes).meta({
      description:
        'accuracy: a judge compares the output with expected_output. agent_as_judge: a judge decides by criteria. performance: time and memory of runs. reliability: which tools were called. custom: the given scorers.',
    }),
    input: z
      .string()
      .min(1)
      .optional()
      .meta({
        description: 'The message to the component. Exactly one of input, dataset_id, dataset and run_ids.',
        examples: ['What is 2+2?'],
      }),
    dataset_id: z
      .string()
      .min(1)
      .nullish()
      .meta({ ...addition, description: 'Evaluates all cases of this stored dataset.' }),
    dataset: z
      .string()
      .min(1)
      .nullish()
      .meta({ ...addition, description: "The same, by the name of the caller's dataset." }),
    run_ids: z
      .array(z.string())
      .min(1)
      .max(mostRuns)
      .nullish()
      .meta({
        ...addition,
        description: 'Grades these stored runs that the caller may read, and executes nothing.',
      }),
    name: z.string().max(255).nullish().meta({ description: 'A name for lists.' }),
    model_id: z.string().max(200).nullish().meta({
      description:
        'With model_provider: a copy of the component runs on this model, and its own model judges.',
    }),
    model_provider: z
      .string()
      .max(200)
      .nullish()
      .meta({ description: 'The provider of model_id, such as openai.' }),
    num_iterations: z
      .int()
      .min(1)
      .max(evalBounds.iterations)
      .default(1)
      .meta({ description: 'How often each case is executed and judged.' }),
    warmup_runs: z
      .int()
      .min(0)
      .max(evalBounds.warmups)
      .default(0)
      .meta({ description: 'Runs before those that are measured. Only for performance.' }),
    additional_guidelines: z.string().nullish().meta({ description: 'What the judge has to observe.' }),
    additional_context: z
      .string()
      .nullish()
      .meta({ description: 'What the judge has to know. Only for accuracy.' }),
    expected_output: z
      .string()
      .nullish()
      .meta({ description: 'Required for accuracy, unless each case of the dataset has its own.' }),
    criteria: z.string().nullish().meta({ description: 'Required for agent_as_judge.' }),
    scoring_strategy: z.enum(['numeric', 'binary']).nullish().meta({
      description: 'numeric: a score from 1 to 10; binary: passed or not. For agent_as_judge.',
      default: 'binary',
    }),
    threshold: z
      .int()
      .min(1)
      .max(10)
      .nullish()
      .meta({ description: 'The least numeric score with which a case passes.', default: 7 }),
    expected_tool_calls: z.array(z.string()).max(1_000).nullish().meta({
      description:
        'Required for reliability, unless each case of the dataset has its own. An empty list: no tool may be called.',
    }),
    allow_additional_tool_calls: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether other tools may be called. For reliability.' }),
    expected_tool_call_arguments: z
      .record(z.string(), z.union([object(), z.array(object()).max(1_000)]))
      .nullish()
      .meta({ description: 'By tool: a part of the arguments that one of its calls must have.' }),
    scorers: z
      .array(scorer)
      .min(1)
      .max(mostScorers)
      .nullish()
      .meta({
        ...addition,
        description:
          'For custom: names of scorers, or objects with name and options. Ready scorers, and those that the service registers.',
      }),
    session_state: object()
      .refine((state) => Object.keys(state).every((key) => key.length <= maxStateKeyLength), {
        error: `a key of session_state has at most ${maxStateKeyLength} characters`,
      })
      .nullish()
      .meta({ ...addition, description: 'The state that the session of each run begins with.' }),
    dependencies: object()
      .nullish()
      .meta({ ...addition, description: 'Values that each run is given.' }),
    factory_input: object()
      .nullish()
      .meta({
        ...addition,
        description: 'For a component that a factory builds for each run; others ignore it.',
      }),
    concurrency: z
      .int()
      .min(1)
      .max(evalBounds.concurrency)
      .nullish()
      .meta({
        ...addition,
        description:
          'How many runs are executed at once. Default: 1 for one input and for performance, else 4.',
      }),
    background: z
      .boolean()
      .nullish()
      .meta({
        ...addition,
        description:
          'true: the answer is 202 with the eval as it is now; poll it, or follow its events. false: the answer comes with the result, and the eval is cancelled when the client disconnects.',
      }),
  }),
  {
    id: 'EvalRequest',
    description: 'What to evaluate, and how.',
    examples: [{ agent_id: 'assistant', eval_type: 'accuracy', input: 'What is 2+2?', expected_output: '4' }],
  },
);

export type EvalBody = z.output<typeof evalBody>;

const componentFilter = (kind: string) =>
  z
    .string()
    .optional()
    .meta({ description: `Only evals of this ${kind}.` });

export const listEvalsQuery = lazyObject(() => ({
  agent_id: componentFilter('agent'),
  team_id: componentFilter('team'),
  workflow_id: componentFilter('workflow'),
  model_id: z.string().optional().meta({ description: 'Only evals with this model.' }),
  type: z
    .enum(['agent', 'team', 'workflow'])
    .optional()
    .meta({ description: 'Only evals of components of this kind.' }),
  eval_types: z
    .string()
    .optional()
    .meta({
      description: `Only these types, separated by commas: ${evalTypes.join(', ')}. Empty: all.`,
    }),
  dataset_id: z
    .string()
    .optional()
    .meta({ ...addition, description: 'Only evals of this stored dataset.' }),
  status: z
    .enum(['pending', 'running', 'completed', 'error', 'cancelled'])
    .optional()
    .meta({ ...addition, description: 'Only evals with this status.' }),
  ...pageQuery({ default: 20, firstPage: 0 }),
  sort_by: z.string().default('created_at').meta({
    description:
      'A field of the eval, such as created_at, updated_at, name or eval_type. Others mean created_at.',
  }),
  sort_order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'Ascending or descending.' }),
  ...databaseQuery(),
}));

export type ListEvalsQuery = z.output<typeof listEvalsQuery>;

export const resultsQuery = lazyObject(() => ({
  ...pageQuery({ default: 100, max: 1_000, firstPage: 0 }),
  ...databaseQuery(),
}));

export const renameBody = lazyObject(() => ({ name: z.string().min(1).max(255) }), {
  id: 'RenameEval',
  examples: [{ name: 'Arithmetic, second attempt' }],
});

export const deleteBody = lazyObject(
  () => ({
    eval_run_ids: z
      .array(z.string())
      .min(1)
      .max(mostDeleted)
      .meta({ description: 'The evals to delete; unknown ids are skipped.' }),
    delete_sessions: z
      .boolean()
      .default(true)
      .meta({
        ...addition,
        description: 'Whether the sessions that the evals created are deleted with them.',
      }),
  }),
  { id: 'EvalsToDelete', examples: [{ eval_run_ids: ['019a8502-7f3e-7cc1-8d40-5a7b1a6f2c11'] }] },
);

const time = () => z.string().meta({ description: 'ISO 8601, UTC, whole seconds.' });

const progress = lazyObject(() => ({
  done: z.int().meta({ description: 'How many results there are.' }),
  total: z.int().meta({ description: 'How many there will be: cases times iterations.' }),
  failed: z.int().meta({ description: 'How many of them have no complete verdict.' }),
}));

export const evalRun = lazyObject(
  () => ({
    id: z.string(),
    agent_id: z.string().nullable(),
    model_id: z.string().nullable().meta({
      description:
        'The model of the component; of agent_as_judge that of the judge, null for the default judge.',
    }),
    model_provider: z.string().nullable(),
    team_id: z.string().nullable(),
    workflow_id: z.string().nullable(),
    name: z.string().nullable(),
    evaluated_component_name: z.string().nullable(),
    eval_type: z.enum(evalTypes),
    eval_data: z.looseObject({}).meta({
      description:
        'What came out, in a form that depends on eval_type. errors lists executions without a verdict, which no statistic counts.',
    }),
    eval_input: z.looseObject({}).nullable().meta({ description: 'What was asked for.' }),
    created_at: time().nullable(),
    updated_at: time().nullable(),
    status: z.enum(['pending', 'running', 'completed', 'error', 'cancelled']).meta(addition),
    error: z
      .string()
      .nullable()
      .meta({ ...addition, description: 'Why the eval as a whole failed.' }),
    progress: progress.meta(addition),
    dataset_id: z.string().nullable().meta(addition),
    user_id: z
      .string()
      .nullable()
      .meta({ ...addition, description: 'Who started it.' }),
  }),
  { id: 'EvalRun', description: 'An eval and what came out.' },
);

export const evalsPage = pageBody(evalRun, 'EvalRunsPage');

const score = lazyObject(() => ({
  score: z.number().nullable(),
  passed: z.boolean().nullable(),
  reason: z.string().optional(),
  details: z.unknown().optional(),
}));

const usage = lazyObject(() => ({
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  cost: z.number().nullable().meta({ description: 'In US dollars; null where a price is not known.' }),
}));

const evalResult = lazyObject(
  () => ({
    case_id: z.string(),
    iteration: z.int().meta({ description: 'From 1.' }),
    input: z.string(),
    expected_output: z.string().nullable(),
    output: z.string().nullable(),
    status: z
      .enum(['completed', 'paused', 'error', 'cancelled', 'failed'])
      .meta({ description: 'Of the run; failed: it could not be started.' }),
    scores: z.record(z.string(), score).meta({ description: 'By the name of the scorer.' }),
    error: z.string().nullable().meta({ description: 'Why there is no score, or not from every scorer.' }),
    run_id: z.string().nullable(),
    session_id: z.string().nullable(),
    duration: z.number().nullable().meta({ description: 'How long the run was executed, in seconds.' }),
    usage: usage.nullable(),
    created_at: time(),
  }),
  { id: 'EvalResult', description: 'One execution of one case.' },
);

export const resultsPage = pageBody(evalResult, 'EvalResultsPage');
