import { childrenOf, wasGivenUp } from '../../runs/execution/child-run.js';
import { childPrefix, ownSteps } from '../../runs/journal/child-steps.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { memberOf, requirementsOf, type ToolRequirementState } from './tool-requirements.js';
import { workflowQuestionsOf } from './workflow-questions.js';

/**
 * Everything that a run and its nested runs wait or waited for, however deep. The keys are those of the
 * outermost journal, so that an answer reaches the call that it is for; the innermost run is named as whose it is.
 */
export function teamRequirementsOf(run: Run, steps: readonly StepRecord[]): readonly ToolRequirementState[] {
  const inside = childrenOf(run, steps).flatMap((child) => {
    const prefix = childPrefix(child.step.key);
    const own = child.run.kind === 'workflow' ? workflowQuestionsOf(child.run, ownSteps(child.steps)) : [];
    // a run that was given up has no open questions
    const stands = ({ answer }: ToolRequirementState) => answer !== null || !wasGivenUp(child.step);
    return [...own.filter(stands), ...teamRequirementsOf(child.run, child.steps)].map((state) => ({
      ...state,
      waitKey: prefix + state.waitKey,
      toolKey: prefix + state.toolKey,
      member: state.member ?? memberOf(child.run),
    }));
  });
  return [...requirementsOf(ownSteps(steps)), ...inside];
}
