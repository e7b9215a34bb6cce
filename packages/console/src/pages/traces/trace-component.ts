import type { Kind } from '@runyard/client';

/** What a trace belongs to, as summaries, details and totals of sessions name it. */
export interface ComponentIds {
  readonly agent_id?: string;
  readonly team_id?: string;
  readonly workflow_id?: string;
}

export function componentOf(ids: ComponentIds): { readonly kind: Kind; readonly id: string } | undefined {
  if (ids.agent_id !== undefined) return { kind: 'agent', id: ids.agent_id };
  if (ids.team_id !== undefined) return { kind: 'team', id: ids.team_id };
  if (ids.workflow_id !== undefined) return { kind: 'workflow', id: ids.workflow_id };
  return undefined;
}

/** The service writes `26ms`; the console puts a space between a number and its unit. */
export function spaced(duration: string): string {
  return duration.replace(/(?<=\d)(?=[a-z])/g, ' ');
}

/** Without the method that the contract puts behind it: `Clerk.arun` is `Clerk`. */
export function shortName(name: string): string {
  return name.replace(/\.(?:arun|aexecute|ainvoke)(?:_stream)?$/, '');
}
