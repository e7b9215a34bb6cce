import { errors, RunyardError, type ValidationItem } from '../../core/errors/errors.js';
import type { RunKind } from '../../core/runs/run.js';
import type { StreamEvent } from '../../platform/http/response/event-reader.js';
import type { ClientFrame } from './client-frame.js';

/** How events of runs look in a text frame. */
export type EventFormat = (event: StreamEvent) => string;

/** Only the JSON. */
export const plainEvent: EventFormat = ({ data }) => data;

/** As in an event stream: what clients of the connection that started a run have learnt to read. */
export const streamedEvent: EventFormat = ({ name, data }) => `event: ${name}\ndata: ${data}\n\n`;

const componentNames = { agent: 'Agent', team: 'Team', workflow: 'Workflow' } as const;

/** What went wrong, in the words of this interface. Unexpected errors show nothing of the inside. */
export function errorFrame(
  error: unknown,
  kind: RunKind,
  frame: ClientFrame | null,
  requestId: string,
): object {
  const known = error instanceof RunyardError ? error : errors.internal();
  return {
    event: 'error',
    error: textOf(known, kind, frame),
    error_code: known.code,
    ...(frame !== null && { action: frame.action }),
    ...(typeof frame?.fields.run_id === 'string' && { run_id: frame.fields.run_id }),
    ...known.options.fields,
    ...(known.status >= 500 && { request_id: requestId }),
  };
}

function textOf(error: RunyardError, kind: RunKind, frame: ClientFrame | null): string {
  const { items } = error.options;
  if (items !== undefined) return items.map(faultText).join('; ');
  if (error.code === `${kind}_not_found`)
    return `${componentNames[kind]} ${frame?.fields[`${kind}_id`]} not found`;
  if (error.code === 'run_not_found')
    return `Run ${frame?.fields.run_id} not found${frame?.action === 'reconnect' ? ' in buffer or database' : ''}`;
  return error.message;
}

function faultText({ type, loc, msg }: ValidationItem): string {
  const field = loc.slice(1).join('.');
  return type === 'missing' ? `${field} is required` : `${field}: ${msg}`;
}
