import { errors } from '../../core/errors/errors.js';
import { evaluatedRunOf } from '../../core/evals/evaluated-run.js';
import type { JsonObject } from '../../core/json.js';
import type { RunKind } from '../../core/runs/run.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { RunsService } from '../runs/service.js';

/** What of a run becomes a case. */
export interface TakenFields {
  readonly output: boolean;
  readonly toolCalls: boolean;
}

const kinds: readonly RunKind[] = ['agent', 'team', 'workflow'];

/**
 * The fields of a case for a run that the caller may read: any other one does not exist for them. What a failed or
 * cancelled run said is expected of nobody.
 */
export async function fieldsOfRun(
  runs: RunsService,
  caller: Caller,
  runId: string,
  taken: TakenFields,
): Promise<JsonObject> {
  const { kind, componentId } = await placeOf(runs, caller, runId);
  const { run, steps } = await runs.get(caller, { kind, componentId, runId });
  if (run.status === 'pending' || run.status === 'running') throw errors.runNotEnded(runId);
  const { input, status, output, toolCalls } = evaluatedRunOf(run, steps);
  const isGood = status === 'completed';
  return {
    id: runId,
    input,
    ...(taken.output && isGood && { expected_output: output }),
    ...(taken.toolCalls &&
      isGood && {
        expected_tool_calls: toolCalls
          .filter(({ outcome }) => outcome === 'succeeded')
          .map((call) => ({ name: call.name, arguments: call.arguments })),
      }),
    metadata: { run_id: runId, [`${kind}_id`]: componentId },
  };
}

async function placeOf(
  runs: RunsService,
  caller: Caller,
  runId: string,
): Promise<{ readonly kind: RunKind; readonly componentId: string }> {
  for (const kind of kinds) {
    const componentId = await runs.componentOf(caller, kind, runId);
    if (componentId === undefined) continue;
    const { rights } = caller;
    // callers who may start a run may see its outcome
    if (rights.may(`${kind}s:read`, componentId) || rights.may(`${kind}s:run`, componentId))
      return { kind, componentId };
  }
  throw errors.runNotFound();
}
