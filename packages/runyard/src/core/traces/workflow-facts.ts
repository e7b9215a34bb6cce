import type { AnyWorkflow } from '../workflows/workflow.js';
import type { WorkflowFacts } from './trace-source.js';

/** What a workflow is declared as, for its spans; undefined for one that is a function of its own. */
export function workflowFactsOf({ settings, nodes, whole }: AnyWorkflow): WorkflowFacts | undefined {
  if (whole !== undefined) return undefined;
  const { description } = settings;
  return {
    ...(description !== undefined && { description }),
    steps: nodes.map(({ name, type }) => ({ name, type })),
  };
}
