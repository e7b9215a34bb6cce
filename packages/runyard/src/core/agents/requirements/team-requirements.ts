import { childrenOf } from '../../runs/execution/child-run.js';
import { childPrefix, ownSteps } from '../../runs/journal/child-steps.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { memberOf, requirementsOf, type ToolRequirementState } from './tool-requirements.js';

/**
 * Everything that a run and its nested runs wait or waited for, however deep. The keys are those of the
 * outermost journal, so that an answer reaches the call that it is for; the innermost run is named as whose it is.
 */
export function teamRequirementsOf(run: Run, steps: readonly StepRecord[]): readonly ToolRequirementState[] {
  const inside = childrenOf(run, steps).flatMap((child) => {
    const prefix = childPrefix(child.step.key);
    return teamRequirementsOf(child.run, child.steps).map((state) => ({
      ...state,
      waitKey: prefix + state.waitKey,
      toolKey: prefix + state.toolKey,
      member: state.member ?? memberOf(child.run),
    }));
  });
  return [...requirementsOf(ownSteps(steps)), ...inside];
}
