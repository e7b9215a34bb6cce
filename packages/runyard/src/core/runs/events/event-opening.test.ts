import { expect, it } from 'vitest';
import type { RunEvent } from '../../events/run-event.js';
import { LongTexts } from '../journal/long-texts.js';
import { EventOpening } from './event-opening.js';
import { type EventOrigin, eventHead } from './event-origin.js';
import { serialiseEvent } from './logged-event.js';

const at = 1_700_000_000_123;
const origins: EventOrigin[] = [
  { runId: 'run "1"', fields: { agent_id: 'a', agent_name: 'Line\u2028end' }, depth: 0 },
  { runId: 'r', fields: { team_id: 't' }, prefix: 'Team', depth: 2 },
  { runId: 'j', fields: {}, depth: 0, isJob: true },
  { runId: 'j\u2029', fields: { kind: 'k' }, depth: 0, isJob: true },
  { runId: 'r', fields: {}, depth: 1 },
];
const session = 'session "1"\u2028';
const short: RunEvent[] = [
  { event: 'RunContinued' },
  { event: 'CustomEvent', tool: { args: 'a\u2029b', text: 'ü"\n' } },
];

const unusual: RunEvent[] = [
  { event: 'CustomEvent', agent_id: 'b' },
  { event: 'CustomEvent', created_at: 1 },
  { event: 'CustomEvent', run_id: 'other' },
  { event: 'CustomEvent', session_id: 'other' },
  { event: 'CustomEvent', nested_depth: 7 },
  { event: 'CustomEvent', job_id: 'other' },
  { event: 'CustomEvent', event_index: 9 },
  { event: 'CustomEvent', 'key\u2028': 1 },
  { tool: 1, event: 'CustomEvent' },
  { event: 'CustomEvent', tool: 'x'.repeat(100_000) },
];

it.each(origins)('an event from parts is the event as a whole: %o', (origin) => {
  const opening = new EventOpening(origin, session);
  for (const event of [...short, ...unusual]) {
    const whole = serialiseEvent(7, event, eventHead(event, origin, session, at), 'key', new LongTexts(1));
    const made = opening.serialised(7, event, at, 'key', new LongTexts(1));
    expect(JSON.stringify(made)).toBe(JSON.stringify(whole));
    if (made.texts === null) expect(JSON.parse(made.data)).toMatchObject({ event_index: 7 });
  }
});
