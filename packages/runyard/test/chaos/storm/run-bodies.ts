import type { Body } from '../../support/service.js';

/** A run and all its nested runs, as its body lists them. */
export function withRunsInside(run: Body): Body[] {
  const inside = [...(run.member_responses ?? []), ...(run.step_executor_runs ?? [])] as Body[];
  return [run, ...inside.flatMap(withRunsInside)];
}

/** The input of a run. */
export function messageOf({ input }: Body): string {
  return typeof input === 'string' ? input : input.input_content;
}

export function isCopy(run: Body): boolean {
  return !!run.forked_from_run_id || !!run.regenerated_from;
}

/** The innermost step results of a run. */
export function leavesOf(results: readonly Body[]): Body[] {
  return results.flatMap((result) => (result.steps ? leavesOf(result.steps) : [result]));
}

/** The names of steps, and in brackets what they contain. */
export function shapeOf(results: readonly Body[]): string {
  return results.map(({ step_name: name, steps }) => (steps ? `${name}[${shapeOf(steps)}]` : name)).join(' ');
}

/** Which execution of a step made this. */
export function executionIn(content: unknown): string | undefined {
  return typeof content === 'string' ? /did it: (\S+)$/.exec(content)?.[1] : undefined;
}
