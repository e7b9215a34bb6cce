import { errors } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { RunKind } from '../../core/runs/run.js';
import type { EvalBody } from './schema.js';
import type { ChosenScorer, Evaluation } from './stored-eval.js';

/** Where the cases of an eval come from. */
export type CaseSource =
  | { readonly input: string }
  | { readonly dataset: { readonly id: string } | { readonly name: string } }
  | { readonly runIds: readonly string[] };

const defaultThreshold = 7;

/** The one component that a request names; undefined for none. */
export function namedComponent(body: EvalBody): { kind: RunKind; id: string } | undefined {
  const named = (['agent', 'team', 'workflow'] as const).flatMap((kind) => {
    const id = body[`${kind}_id`];
    return id ? [{ kind, id }] : [];
  });
  if (named.length > 1) throw errors.evalComponentAmbiguous();
  return named[0];
}

export function caseSource(body: EvalBody): CaseSource {
  const { input, dataset_id: id, dataset: name, run_ids: runIds } = body;
  const given = Object.entries({ input, dataset_id: id, dataset: name, run_ids: runIds }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  if (given.length > 1) throw errors.evalInputAmbiguous(given.map(([field]) => field));
  if (id) return { dataset: { id } };
  if (name) return { dataset: { name } };
  if (runIds) return { runIds: [...new Set(runIds)] };
  if (input !== undefined) return { input };
  const loc = ['body', 'input'];
  throw errors.invalidRequest([{ type: 'missing', loc, msg: 'Field required', input: body }]);
}

/** How the runs are judged. Cases of a dataset may say themselves what is expected of them. */
export function evaluationOf(body: EvalBody, hasOwnExpectations: boolean): Evaluation {
  const { eval_type: evalType, expected_output: expectedOutput, criteria, scorers } = body;
  const { expected_tool_calls: toolCalls, expected_tool_call_arguments: toolArguments } = body;
  if (evalType === 'accuracy' && !expectedOutput && !hasOwnExpectations)
    throw errors.expectedOutputRequired();
  if (evalType === 'agent_as_judge' && !criteria) throw errors.criteriaRequired();
  if (evalType === 'reliability' && !toolCalls && !hasOwnExpectations)
    throw errors.expectedToolCallsRequired();
  if (evalType === 'custom' && !scorers) throw errors.scorersRequired();
  const { additional_guidelines: guidelines, additional_context: context } = body;
  return {
    evalType,
    ...(expectedOutput && { expectedOutput }),
    ...(guidelines && { guidelines }),
    ...(context && { context }),
    ...(criteria && { criteria }),
    strategy: body.scoring_strategy ?? 'binary',
    threshold: body.threshold ?? defaultThreshold,
    ...(toolCalls && { expectedToolCalls: toolCalls }),
    allowAdditionalToolCalls: body.allow_additional_tool_calls,
    ...(toolArguments && { expectedArguments: toolArguments }),
    ...(scorers && { scorers: scorers.map(chosenScorer) }),
  };
}

function chosenScorer(given: NonNullable<EvalBody['scorers']>[number]): ChosenScorer {
  if (typeof given === 'string') return { name: given };
  const { name, options } = given;
  return { name, ...(options !== undefined && { options }) };
}

/** What was asked for, as it is shown with the eval. */
export function evalInputOf(body: EvalBody, source: CaseSource): JsonObject {
  const from = sourceOf(source);
  const nullable = <T>(value: T | undefined | null) => value ?? null;
  const iterations = { num_iterations: body.num_iterations };
  switch (body.eval_type) {
    case 'accuracy':
      return {
        additional_guidelines: nullable(body.additional_guidelines),
        additional_context: nullable(body.additional_context),
        ...iterations,
        expected_output: nullable(body.expected_output),
        ...from,
      };
    case 'agent_as_judge': {
      const strategy = body.scoring_strategy ?? 'binary';
      return {
        criteria: nullable(body.criteria),
        scoring_strategy: strategy,
        threshold: strategy === 'binary' ? null : (body.threshold ?? defaultThreshold),
        additional_guidelines: nullable(body.additional_guidelines),
        ...iterations,
        ...from,
      };
    }
    case 'performance':
      return { ...iterations, warmup_runs: body.warmup_runs, ...from };
    case 'reliability':
      return {
        expected_tool_calls: nullable(body.expected_tool_calls),
        allow_additional_tool_calls: body.allow_additional_tool_calls,
        expected_tool_call_arguments: nullable(body.expected_tool_call_arguments),
        ...iterations,
        ...from,
      };
    case 'custom':
      return { scorers: (body.scorers ?? []).map(shownScorer), ...iterations, ...from };
  }
}

function shownScorer(given: NonNullable<EvalBody['scorers']>[number]): string | JsonObject {
  return typeof given === 'string' ? given : { ...chosenScorer(given) };
}

function sourceOf(source: CaseSource): JsonObject {
  if ('input' in source) return { input: source.input };
  if ('runIds' in source) return { run_ids: [...source.runIds] };
  return 'id' in source.dataset ? { dataset_id: source.dataset.id } : { dataset: source.dataset.name };
}
