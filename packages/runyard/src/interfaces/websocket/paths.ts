import type { RunKind } from '../../core/runs/run.js';

/** Where the endpoints are, and what a client runs there. */
export const webSocketPaths: readonly { readonly path: string; readonly kind: RunKind }[] = [
  { path: '/agents/ws', kind: 'agent' },
  { path: '/teams/ws', kind: 'team' },
  { path: '/workflows/ws', kind: 'workflow' },
];
