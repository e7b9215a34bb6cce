import type { WorkflowStep } from '@runyard/client';

/** Settings of a step that depend on its type: the API describes them as further fields. */
export function settingOf(step: WorkflowStep, name: string): string | undefined {
  const value: unknown = Reflect.get(step, name);
  if (value === undefined || value === null || typeof value === 'object') return undefined;
  return String(value);
}

/** What executes a step, or how a group does its work. */
export function stepInWords(step: WorkflowStep): string {
  switch (step.type) {
    case 'Step':
      if (step.agent) return `agent ${step.agent.name ?? step.agent.id}`;
      if (step.team) return `team ${step.team.name ?? step.team.id}`;
      return 'function';
    case 'Workflow':
      return `workflow ${step.workflow_id ?? ''}`.trim();
    case 'Steps':
      return 'in order';
    case 'Parallel': {
      const most = settingOf(step, 'max_parallel');
      return most ? `in parallel, ${most} at once` : 'in parallel';
    }
    case 'Foreach': {
      const most = settingOf(step, 'concurrency');
      return most && most !== '1' ? `for each item, ${most} at once` : 'for each item';
    }
    case 'Loop': {
      const end = settingOf(step, 'end_condition');
      const most = `up to ${settingOf(step, 'max_iterations') ?? '?'} times`;
      // the default name of a function says nothing
      return end && end !== 'until' ? `${most}, until ${end}` : most;
    }
    case 'Condition':
      return `if ${settingOf(step, 'condition') ?? 'true'}`;
    case 'Router': {
      const selector = settingOf(step, 'selector') ?? 'a person';
      return `chosen by ${selector === 'select' ? 'a function' : selector}`;
    }
  }
}
