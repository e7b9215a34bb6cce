import { define, RunyardError } from './runyard-error.js';

const componentNames = { agent: 'Agent', team: 'Team', workflow: 'Workflow' } as const;

/** Evals, what they are about and what they are judged by. */
export const evalErrors = {
  evalNotFound: define('eval_run_not_found', 404, (id: string) => `Eval run with id '${id}' not found`),
  evalComponentRequired: define(
    'eval_component_required',
    400,
    () => 'One of agent_id or team_id must be provided',
  ),
  evalComponentAmbiguous: define(
    'eval_component_ambiguous',
    400,
    () => 'Only one of agent_id or team_id must be provided',
  ),
  evalComponentNotFound: (kind: keyof typeof componentNames, id: string, hint?: string) =>
    new RunyardError(`${kind}_not_found`, 404, `${componentNames[kind]} with id '${id}' not found`, {
      ...(hint !== undefined && { fields: { hint } }),
    }),
  expectedOutputRequired: define(
    'eval_expectation_required',
    400,
    () => 'expected_output is required for accuracy evaluation',
  ),
  criteriaRequired: define(
    'eval_expectation_required',
    400,
    () => 'criteria is required for agent-as-judge evaluation',
  ),
  expectedToolCallsRequired: define(
    'eval_expectation_required',
    400,
    () => 'expected_tool_calls is required for reliability evaluations',
  ),
  scorersRequired: define(
    'eval_expectation_required',
    400,
    () => 'scorers is required for custom evaluations: a list of names, or of objects with name and options.',
  ),
  scorerUnknown: define(
    'scorer_unknown',
    400,
    (name: string, known: readonly string[]) =>
      `Unknown scorer '${name}'. Known: ${known.join(', ')}. Register your own with new Runyard({ scorers: [...] }).`,
  ),
  scorerInvalid: define(
    'scorer_invalid',
    400,
    (name: string, reason: string) => `Scorer '${name}': ${reason}`,
  ),
  evalInputAmbiguous: define(
    'eval_input_ambiguous',
    400,
    (fields: readonly string[]) =>
      `The request has several inputs: ${fields.join(', ')}. Send exactly one of input, dataset_id, dataset and run_ids.`,
  ),
  evalOfStoredRuns: define(
    'eval_of_stored_runs',
    400,
    (what: string) =>
      `${what} cannot be combined with run_ids: stored runs are graded, and nothing is executed.`,
  ),
  evalRunNotEnded: define(
    'eval_run_not_ended',
    409,
    (runId: string) => `Run ${runId} has not ended. Grade it when it has ended.`,
  ),
  evalRunElsewhere: define(
    'eval_run_elsewhere',
    400,
    (runId: string, kind: string, id: string) => `Run ${runId} is not a run of the ${kind} '${id}'.`,
  ),
  evalTooLarge: define('eval_too_large', 400, (reason: string) => reason),
  evalWithoutCases: define(
    'eval_without_cases',
    400,
    () => 'The dataset has no cases. Add one, and start the eval again.',
  ),
  evalModelFixed: define(
    'eval_model_fixed',
    400,
    () => 'A workflow has no model of its own: leave out model_id and model_provider.',
  ),
  judgeRequired: define(
    'judge_required',
    400,
    () =>
      'No model can judge: the component has none, and there are no settings evalJudge and defaultModel. Set one of them.',
  ),
  evalTypeUnknown: (type: string, known: readonly string[]) =>
    new RunyardError(
      'invalid_eval_type',
      422,
      `Invalid eval_type: '${type}' is not a valid EvalType. Valid types: ${known.join(', ')}`,
    ),
  evalFailed: define(
    'eval_failed',
    500,
    (type: string, reason: string) => `Failed to run ${type} evaluation: ${reason}`,
  ),
};
