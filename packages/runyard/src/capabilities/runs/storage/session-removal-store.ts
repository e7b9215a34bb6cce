import type { DataScope } from '../../../platform/auth/caller.js';
import type { Database } from '../../../platform/storage/database.js';
import { ownerParameters } from '../../../platform/storage/scope.js';
import { isUndoneByPostgres } from '../../../platform/storage/transient.js';
import { cancelApprovalsOfSessions } from '../../approvals/write-store.js';
import { removeResponsesOfSessions } from '../../response-cache/removal-store.js';
import { removeSessionRows, sessionsToRemove } from '../../sessions/removal-store.js';
import { endTracesOfSessions } from '../../traces/write-store.js';

/** PostgreSQL undoes a transaction that a run's writes and it itself waited for each other. */
const maximumTries = 5;

/**
 * Removes those of the sessions that are within the scope, each with its runs, their journals and events. What was
 * decided on their calls is kept. A run that is still executed somewhere finds its row gone and stops.
 */
export async function removeSessions(
  database: Database,
  scope: DataScope,
  sessionIds: readonly string[],
  now: number,
): Promise<void> {
  const { dialect } = database;
  const parameters = [sessionIds, ...ownerParameters(scope)];
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.transaction(async (run) => {
        const rows = await run<{ session_id: string }>(sessionsToRemove(scope)[dialect], parameters);
        if (rows.length === 0) return;
        const found = rows.map((row) => row.session_id);
        await run(cancelApprovalsOfSessions[dialect], [now, found]);
        await run(removeSessionRows[dialect], [found]);
        await run(removeResponsesOfSessions[dialect], [found]);
        // last, after every pending write of such a run
        await run(endTracesOfSessions[dialect], [now, found]);
      });
    } catch (error) {
      if (!isUndoneByPostgres(error) || tries === maximumTries) throw error;
    }
  }
}
