import { checkedChoice, chosenBy, settingsKey } from '../agents/context/settings-of-run.js';
import { currentValues } from '../agents/context/values-of-run.js';
import { settingsRecord } from '../agents/journal-records.js';
import { checkValue } from '../options/check-options.js';
import type { RunContext } from '../runs/context.js';
import { workflowLimits } from '../runs/limits/limit-options.js';
import type { WorkflowLimits } from '../runs/limits/run-limits.js';
import { storable } from '../storable-json.js';
import type { WorkflowSettings } from './workflow-options.js';

/** What the limits of a run are chosen for. */
export interface LimitedWorkflow {
  readonly owner: string;
  readonly settings: Pick<WorkflowSettings, 'limits' | 'metadata'>;
}

/**
 * Holds a run to the limits that a function chooses for it. They are recorded: an execution after a crash has the same
 * without another call.
 */
export async function limitRun(workflow: LimitedWorkflow, context: RunContext): Promise<void> {
  const spec = { kind: 'hook', name: settingsKey, record: settingsRecord } as const;
  // a journal fits whatever limits the code has by now
  if (context.replay !== null) context.recorded(settingsKey, spec);
  else if (typeof workflow.settings.limits === 'function') {
    const values = { ...currentValues(workflow, context), dependencies: context.options.dependencies ?? {} };
    const { state, dependencies, metadata } = values;
    const input = { state, dependencies, metadata };
    const record = await context.step(settingsKey, { ...spec, input }, async ({ signal }) => {
      const limits = await chosenBy(workflow, context, 'limits', { ...values, signal });
      checkedChoice(workflow.owner, { limits }, () =>
        checkValue(workflow.owner, 'limits', limits, workflowLimits),
      );
      return { chosen: { limits: storable(limits, 'limits') } };
    });
    // as it was checked before it was recorded
    context.guard?.limit(record.chosen.limits as WorkflowLimits);
  }
}
