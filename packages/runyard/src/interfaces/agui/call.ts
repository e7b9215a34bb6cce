import type { Services } from '../../capabilities/capability.js';
import { assertMay } from '../../platform/auth/authenticator.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { ComponentName } from '../common/exposed-components.js';
import type { RunInput } from './run-input.js';

/** One request of a client. */
export interface AguiCall {
  readonly services: Services;
  readonly caller: Caller;
  readonly target: ComponentName;
  readonly input: RunInput;
  readonly traceParent: string | undefined;
  /** Aborts when the client disconnects. */
  readonly disconnected: () => AbortSignal;
}

/** What a caller needs for the component of a call: the scopes of the REST routes that do the same. */
export function assertMayWith(
  { caller, target: { kind, componentId } }: Pick<AguiCall, 'caller' | 'target'>,
  ...actions: readonly ('read' | 'run')[]
): void {
  const scope = actions.map((action) => `${kind}s:${action}`);
  assertMay(caller, { scope, params: { [`${kind}_id`]: componentId } });
}
