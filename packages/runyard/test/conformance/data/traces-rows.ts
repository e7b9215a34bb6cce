import type { TracesTable } from '../../../src/capabilities/traces/tables.js';
import { newId } from '../../../src/core/ids.js';
import type { Database } from '../../../src/platform/storage/database.js';

export const noon = Date.UTC(2026, 2, 1, 12);

/** A recorded run with all columns filled in. */
export function aTrace(given: Partial<TracesTable> = {}): TracesTable {
  const runId = given.run_id ?? newId();
  const start = given.start_time ?? noon;
  return {
    run_id: runId,
    trace_id: runId.replaceAll('-', ''),
    name: 'Writer.arun',
    status: 'OK',
    kind: 'agent',
    component_id: 'writer',
    session_id: 'session-1',
    user_id: null,
    start_time: start,
    end_time: start + 100,
    ...given,
  };
}

/** Stores them as they are: what the runs did does not matter to lists. */
export async function storeTraces(database: Database, traces: readonly TracesTable[]): Promise<void> {
  for (let from = 0; from < traces.length; from += 500) {
    const piece = traces.slice(from, from + 500);
    await database.query.insertInto('traces').values(piece).execute();
  }
}
