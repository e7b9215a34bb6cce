import { endEvents as agentEndEvents } from '../agents/agent-events.js';
import type { Executable } from '../runs/executable.js';
import type { Run } from '../runs/run.js';
import { endEvents } from './end-events.js';

/**
 * Something that a function ran in another process. Which component that was only the function knows; how the run of
 * it ends can be told without.
 */
export function stranger({ kind, componentId: id, componentName: name }: Run): Executable {
  return {
    kind,
    id,
    name,
    model: null,
    initialState: {},
    eventFields: {},
    execute: () => Promise.reject(new Error(`'${id}' is not known here.`)),
    inside: stranger,
    endEvents: (end, context) => (kind === 'workflow' ? endEvents(end, context, false) : agentEndEvents(end)),
  };
}
