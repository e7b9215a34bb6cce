import type { Kind, Schedule } from '@runyard/client';

/** What a schedule runs, if it runs a component. */
export interface Target {
  readonly kind: Kind;
  readonly id: string;
}

const kinds: readonly Kind[] = ['agent', 'team', 'workflow'];
const runEndpoint = /^\/(agent|team|workflow)s\/([^/]+)\/runs$/;

export function targetOf({ endpoint, method }: Pick<Schedule, 'endpoint' | 'method'>): Target | undefined {
  const [, kind, id = ''] = runEndpoint.exec(endpoint) ?? [];
  const known = kinds.find((one) => one === kind);
  if (known === undefined || method.toUpperCase() !== 'POST') return undefined;
  try {
    return { kind: known, id: decodeURIComponent(id) };
  } catch {
    // an address with a wrong escape runs nothing
    return undefined;
  }
}

export function endpointOf({ kind, id }: Target): string {
  return `/${kind}s/${encodeURIComponent(id)}/runs`;
}
