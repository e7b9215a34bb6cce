import type { RunContext } from '../runs/context.js';
import type { RunEnd } from '../runs/executable.js';
import type { RemoteComponent } from './remote-component.js';
import { unreachable } from './remote-failures.js';

/** Ends the remote run of a run that is over. One that lost its service can be continued: it finds the remote run again. */
export function leaveRemote(component: RemoteComponent, context: RunContext, end: RunEnd): void {
  const isOutermost = context.run.runId === context.root.runId;
  if (isOutermost && end.status === 'error' && end.failure.type === unreachable) return;
  void import('./leave-remote.js').then(({ leave }) => leave(component, context));
}
