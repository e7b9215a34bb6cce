import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { isJsonObject } from '../../../../core/json.js';
import type { Caller } from '../../../../platform/auth/caller.js';
import { assertMayRun, kinds } from './run-place.js';

/** Tools whose run continues with the answer of a person, and ends when their request is cancelled. */
const runTools: ReadonlySet<unknown> = new Set(['run_agent', 'run_team', 'run_workflow', 'continue_run']);

/** A session has one user and may see several tokens: what decides about a run needs the right to run the component. */
export function assertMayAnswer(caller: Caller, { params }: Pick<JSONRPCRequest, 'params'>): void {
  const { name, arguments: args } = params ?? {};
  if (!runTools.has(name) || !isJsonObject(args)) return;
  for (const kind of kinds) {
    const componentId = args[`${kind}_id`];
    if (typeof componentId === 'string' && componentId !== '') assertMayRun(caller, { kind, componentId });
  }
}
