import { type EvalType, evalTypes } from '../evals/eval-types.js';
import type { JsonObject } from '../json.js';
import { fieldsOf } from '../objects.js';
import {
  anyOf,
  count,
  flag,
  json,
  listOf,
  name,
  objectOf,
  recordOf,
  required,
  text,
  word,
} from '../options/kinds.js';

/** An eval that a schedule starts: what the body of `POST /eval-runs` says. */
export type ScheduledEval = {
  /** What is evaluated: exactly one of `agent_id`, `team_id` and `workflow_id`. */
  readonly agent_id?: string;
  readonly team_id?: string;
  readonly workflow_id?: string;
  /** The version of a stored component. Default: the current one. */
  readonly version?: number;
  readonly eval_type: EvalType;
  /** The cases: exactly one of `input`, `dataset_id`, `dataset` (the name of one) and `run_ids`. */
  readonly input?: string;
  readonly dataset_id?: string;
  readonly dataset?: string;
  readonly run_ids?: readonly string[];
  readonly name?: string;
  readonly model_id?: string;
  readonly model_provider?: string;
  /** How often each case is executed, 1 to 100. Default: 1. */
  readonly num_iterations?: number;
  /** For `performance`. */
  readonly warmup_runs?: number;
  readonly additional_guidelines?: string;
  readonly additional_context?: string;
  readonly expected_output?: string;
  /** For `agent_as_judge`. */
  readonly criteria?: string;
  readonly scoring_strategy?: 'numeric' | 'binary';
  readonly threshold?: number;
  /** For `reliability`. */
  readonly expected_tool_calls?: readonly string[];
  readonly allow_additional_tool_calls?: boolean;
  readonly expected_tool_call_arguments?: Readonly<Record<string, JsonObject | readonly JsonObject[]>>;
  /** For `custom`: names of scorers, or names with options. */
  readonly scorers?: readonly (string | { readonly name: string; readonly options?: JsonObject })[];
  readonly session_state?: JsonObject;
  readonly dependencies?: JsonObject;
  readonly factory_input?: JsonObject;
  readonly concurrency?: number;
  /** `true`: an attempt ends when the eval has started. Default: it ends with the eval. */
  readonly background?: boolean;
};

/** The request checks its values; names are checked here, because a request ignores those that it does not know. */
const fields = objectOf<ScheduledEval>({
  agent_id: name,
  team_id: name,
  workflow_id: name,
  version: count(1),
  eval_type: required(word(...evalTypes)),
  input: name,
  dataset_id: name,
  dataset: name,
  run_ids: listOf(name, 1),
  name: text,
  model_id: text,
  model_provider: text,
  num_iterations: count(1),
  warmup_runs: count(0),
  additional_guidelines: text,
  additional_context: text,
  expected_output: text,
  criteria: text,
  scoring_strategy: word('numeric', 'binary'),
  threshold: count(1, 10),
  expected_tool_calls: listOf(name),
  allow_additional_tool_calls: flag,
  expected_tool_call_arguments: recordOf(anyOf(json, listOf(json))),
  scorers: listOf(anyOf(name, json), 1),
  session_state: json,
  dependencies: json,
  factory_input: json,
  concurrency: count(1),
  background: flag,
});

export const scheduledEval = {
  ...fields,
  allowed: 'the fields of POST /eval-runs as a plain object: a schedule cannot start an eval of code',
  takes: (value: unknown) => fields.takes(value) && typeof fieldsOf(value).run !== 'function',
};

/** What an eval lacks, or says twice. */
export function scheduledEvalFault(given: ScheduledEval): string | undefined {
  const counted = (...names: readonly (keyof ScheduledEval)[]) =>
    names.filter((one) => given[one] !== undefined).length;
  const components = counted('agent_id', 'team_id', 'workflow_id');
  // stored runs say themselves whose they are
  if (components > 1 || (components === 0 && given.run_ids === undefined))
    return 'evaluation needs exactly one of agent_id, team_id and workflow_id';
  return counted('input', 'dataset_id', 'dataset', 'run_ids') === 1
    ? undefined
    : 'evaluation needs exactly one of input, dataset_id, dataset and run_ids';
}
