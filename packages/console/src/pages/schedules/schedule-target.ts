import type { Kind, Schedule } from '@runyard/client';

/** What a schedule runs, if it runs a component. */
export interface Target {
  readonly kind: Kind;
  readonly id: string;
}

const runEndpoint = /^\/(agent|team|workflow)s\/([^/]+)\/runs$/;

export function targetOf({ endpoint, method }: Pick<Schedule, 'endpoint' | 'method'>): Target | undefined {
  const found = runEndpoint.exec(endpoint);
  if (found === null || method.toUpperCase() !== 'POST') return undefined;
  return { kind: found[1] as Kind, id: decodeURIComponent(found[2] ?? '') };
}

export function endpointOf({ kind, id }: Target): string {
  return `/${kind}s/${encodeURIComponent(id)}/runs`;
}
