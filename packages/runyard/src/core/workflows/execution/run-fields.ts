import type { StepFields } from '../../events/workflow-event.js';
import type { JsonObject } from '../../json.js';
import type { Flow } from './flow.js';

/** What ties the events of a run inside to the step that it executes. */
export function runFields({ context, workflow }: Flow, fields: StepFields): JsonObject {
  const { step_id, step_name, step_index } = fields;
  return {
    workflow_id: workflow.id,
    workflow_run_id: context.run.runId,
    step_id,
    step_name,
    step_index,
  };
}
