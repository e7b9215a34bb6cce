/** The kinds of evals over HTTP. */
export const evalTypes = ['accuracy', 'agent_as_judge', 'performance', 'reliability', 'custom'] as const;
export type EvalType = (typeof evalTypes)[number];
