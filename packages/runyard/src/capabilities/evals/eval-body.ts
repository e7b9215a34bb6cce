import { emptyData, shownScores } from './eval-data.js';
import type { StoredEval, StoredResult } from './stored-eval.js';

export function evalBodyOf(stored: StoredEval) {
  const { component, model } = stored;
  return {
    id: stored.id,
    agent_id: component?.kind === 'agent' ? component.id : null,
    model_id: model?.id ?? null,
    model_provider: model?.provider ?? null,
    team_id: component?.kind === 'team' ? component.id : null,
    workflow_id: component?.kind === 'workflow' ? component.id : null,
    name: stored.name,
    evaluated_component_name: component?.name ?? null,
    eval_type: stored.evalType,
    eval_data: stored.evalData ?? emptyData(stored.id, stored.evalType),
    eval_input: stored.evalInput,
    created_at: wholeSeconds(stored.createdAt),
    updated_at: wholeSeconds(stored.updatedAt),
    status: stored.status,
    error: stored.error,
    progress: { done: stored.done, total: stored.total, failed: stored.failed },
    dataset_id: stored.datasetId,
    user_id: stored.userId,
  };
}

export function resultBodyOf(result: StoredResult) {
  const { usage, durationMs } = result;
  return {
    case_id: result.caseId,
    iteration: result.iteration,
    input: result.input,
    expected_output: result.expectedOutput,
    output: result.output,
    status: result.status,
    scores: shownScores(result),
    error: result.error,
    run_id: result.runId,
    session_id: result.sessionId,
    duration: durationMs === null ? null : durationMs / 1000,
    usage: usage && {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      total_tokens: usage.totalTokens,
      cost: usage.cost,
    },
    created_at: wholeSeconds(result.createdAt),
  };
}

function wholeSeconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, -5)}Z`;
}
