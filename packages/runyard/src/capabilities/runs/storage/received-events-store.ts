import { parseJson } from '../../../core/json.js';
import {
  mostEvents,
  type ReceivedEvent,
  type ReceivedEvents,
} from '../../../core/runs/journal/received-events.js';
import type { Run } from '../../../core/runs/run.js';
import { canonicalJson } from '../../../core/tools/call/canonical-json.js';
import { type Database, statement } from '../../../platform/storage/database.js';
import { runTables } from './journal-tables-store.js';
import { type Page, runList } from './run-list-store.js';

interface EventRow {
  readonly event_id: string;
  readonly name: string;
  readonly data: string;
}

// Those of runs that have ended are looked at no more.
const close = statement(
  'close_received_events',
  `UPDATE received_events SET open = 0 WHERE open = 1 AND EXISTS (
     SELECT 1 FROM runs WHERE runs.run_id = received_events.run_id
       AND runs.status IN ('completed', 'error', 'cancelled', 'regenerated'))`,
);

const add = statement(
  'add_received_event',
  `INSERT INTO received_events (run_id, event_id, name, data, position, open, received_at)
   SELECT CAST(? AS text), CAST(? AS text), CAST(? AS text), CAST(? AS text),
     (SELECT coalesce(max(position), 0) + 1 FROM received_events WHERE run_id = ?), 1, CAST(? AS bigint)
   WHERE (SELECT count(*) FROM received_events WHERE run_id = ?) < ${mostEvents}
   ON CONFLICT (run_id, event_id) DO NOTHING RETURNING event_id`,
);

const find = statement(
  'received_event',
  'SELECT event_id, name, data FROM received_events WHERE run_id = ? AND event_id = ?',
);

// What the wait took before a crash comes first.
const take = statement(
  'take_received_event',
  `UPDATE received_events SET taken_by = ? WHERE run_id = ? AND (taken_by IS NULL OR taken_by = ?) AND event_id = (
     SELECT event_id FROM received_events WHERE run_id = ? AND name = ? AND (taken_by IS NULL OR taken_by = ?)
     ORDER BY CASE WHEN taken_by IS NULL THEN 1 ELSE 0 END, position, event_id LIMIT 1)
   RETURNING event_id, name, data`,
);

const readAnswerable = runList(
  'runs_with_awaited_events',
  () => `status = 'paused' AND run_id IN (
    SELECT events.run_id FROM received_events AS events CROSS JOIN steps AS waits
    WHERE events.open = 1 AND waits.run_id = events.run_id AND waits.kind = 'wait' AND waits.status = 'running'
      AND waits.name = 'event:' || events.name AND (events.taken_by IS NULL OR events.taken_by = waits.key))`,
  // the order of the few runs that the condition finds, so that none is sorted
  'run_id',
);

/** The events that runs were sent: rows that go with their run. */
export class ReceivedEventStore implements ReceivedEvents {
  constructor(private readonly database: Database) {}

  async add(runId: string, { eventId, name, data }: ReceivedEvent): ReturnType<ReceivedEvents['add']> {
    await this.database.change(close, []);
    const text = JSON.stringify(data);
    const row = [runId, eventId, name, text, runId, Date.now(), runId];
    const [added] = await this.database.change(add, row);
    if (added !== undefined) return 'added';
    const [known] = await this.database.read<EventRow>(find, [runId, eventId]);
    if (known === undefined) return 'full';
    const isSame = known.name === name && canonicalJson(parseJson(known.data)) === canonicalJson(data);
    return isSame ? 'known' : 'differs';
  }

  async take(runId: string, name: string, waitKey: string): Promise<ReceivedEvent | undefined> {
    const parameters = [waitKey, runId, waitKey, runId, name, waitKey];
    const [row] = await this.database.change<EventRow>(take, parameters);
    return row && { eventId: row.event_id, name: row.name, data: parseJson(row.data) };
  }

  answerable(...page: Page): Promise<Run[]> {
    return readAnswerable(this.database, runTables, page);
  }
}
