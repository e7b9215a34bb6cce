import { expect } from 'vitest';
import type { RunLife } from '../components/run-life.js';
import type { Body, Form } from '../service.js';
import type { SseClient } from './sse-client.js';

/** What differs from run to run without a meaning: ids, times, durations. */
const accidental = new Set([
  'id',
  'run_id',
  'session_id',
  'parent_run_id',
  'child_run_id',
  'member_run_id',
  'step_run_id',
  'executor_run_id',
  'executor_session_id',
  'workflow_run_id',
  'workflow_step_id',
  'step_id',
  'parent_step_id',
  'tool_call_id',
  'run_ids',
  'key',
  'created_at',
  'started_at',
  'ended_at',
  'start_time',
  'end_time',
  'timeout_at',
  'duration',
  'time_to_first_token',
  'event_index',
  'approval_id',
  'updated_at',
  'resolved_at',
]);

/** The same without what differs from run to run. */
export function essence(value: Body): Body {
  if (Array.isArray(value)) return value.map(essence);
  if (typeof value === 'string') return value.replace(/ in [\d.]+s\b/g, ' in …s');
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !accidental.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, essence(inner)]));
}

export interface BothWays {
  /** The stored run that was not streamed. */
  readonly stored: Body;
  readonly stream: SseClient;
}

/**
 * Runs a component without a stream, with one, and in the background, and expects the same of all: in what is stored,
 * and in what is sent. `write` is called before each run.
 */
export async function bothWays(
  life: RunLife,
  form: Form,
  write: () => unknown = () => {},
): Promise<BothWays> {
  write();
  const answer = await life.post(form);
  expect(answer.status).toBe(200);
  const stored = await life.stored(answer.body.run_id);
  write();
  const stream = await (await life.stream(form)).end();
  const streamed = await life.stored(decodeURIComponent(stream.response.headers.get('x-run-id')!));
  write();
  const { body: accepted } = await life.post({ ...form, background: true });
  const inBackground = await life.rested(accepted.run_id);
  for (const other of [streamed, inBackground]) {
    expect(essence(compared(other))).toEqual(essence(compared(stored)));
  }
  // only a stored run shows its events, and leaves out that there were no calls
  const { events: _events, ...others } = stored;
  const { tools } = answer.body;
  const shown = { ...answer.body, tools: tools?.length ? tools : undefined };
  expect(essence(JSON.parse(JSON.stringify(shown)))).toEqual(essence(others));
  return { stored, stream };
}

/** How an answer is cut into chunks depends on the way; events of parallel runs come in any order. */
export function compared(run: Body): Body {
  const events: Record<string, Body[]> = {};
  for (const event of run.events as Body[]) {
    if (/^(Team)?RunContent$/.test(event.event)) continue;
    const teller = [event.agent_id ?? event.team_id ?? event.workflow_id, event.step_name].join(' ');
    events[teller] = [...(events[teller] ?? []), event];
  }
  return { ...run, events };
}
