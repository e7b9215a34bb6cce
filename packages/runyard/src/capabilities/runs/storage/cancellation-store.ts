import type { CancelRequest } from '../../../core/runs/journal/ports.js';
import { cancellationKeptMs } from '../../../core/runs/leases/cancellations.js';
import type { RunKind } from '../../../core/runs/run.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';
import { userKey } from './rows-store.js';

const columns = 'run_id, kind, component_id, session_id, user_id, reason, requested_at';
const qualified = columns.replaceAll(/\w+/g, 'wishes.$&');

const forgetOld = statement(
  'forget_cancellations',
  `DELETE FROM run_cancellations WHERE requested_at < ? AND NOT EXISTS (
     SELECT 1 FROM runs WHERE runs.run_id = run_cancellations.run_id
       AND runs.status IN ('pending', 'running', 'paused'))`,
);

// The first word stays, unless it meant another component or session: then it was a mistake.
const remember = ({ differs }: { differs: string }) => `
  INSERT INTO run_cancellations AS stored (user_key, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (run_id, user_key) DO UPDATE SET kind = excluded.kind, component_id = excluded.component_id,
    session_id = excluded.session_id, reason = excluded.reason, requested_at = excluded.requested_at
  WHERE stored.kind <> excluded.kind OR stored.component_id <> excluded.component_id
    OR stored.session_id ${differs} excluded.session_id`;

const rememberWish: Statement = {
  name: 'remember_cancellation',
  sqlite: remember({ differs: 'IS NOT' }),
  postgres: statement('', remember({ differs: 'IS DISTINCT FROM' })).postgres,
};

const readOpen = statement(
  'cancellations',
  `SELECT ${qualified} FROM run_cancellations AS wishes LEFT JOIN runs ON runs.run_id = wishes.run_id
   WHERE wishes.requested_at > ?
     AND (runs.run_id IS NULL OR runs.status IN ('pending', 'running', 'paused'))
   ORDER BY wishes.requested_at, wishes.run_id`,
);

const exceptOf = (isOneOf: string) =>
  `SELECT ${columns} FROM run_cancellations WHERE NOT (kind || ' ' || component_id) ${isOneOf}
   ORDER BY requested_at, run_id`;

const readExceptOf: Statement = {
  name: 'cancellations_of_other_components',
  sqlite: exceptOf('IN (SELECT value FROM json_each(?))'),
  postgres: exceptOf('= ANY($1::text[])'),
};

// Several may have asked, and some of them could not see the run: theirs come last.
const readOfRun = statement(
  'cancellation',
  `SELECT ${qualified} FROM run_cancellations AS wishes LEFT JOIN runs ON runs.run_id = wishes.run_id
   WHERE wishes.run_id = ? AND wishes.requested_at > ?
   ORDER BY CASE WHEN wishes.kind = runs.kind AND wishes.component_id = runs.component_id
       AND (wishes.session_id IS NULL OR wishes.session_id = runs.session_id)
       AND (wishes.user_id IS NULL OR wishes.user_id = runs.user_id) THEN 0 ELSE 1 END,
     wishes.requested_at, wishes.user_key
   LIMIT 1`,
);

interface WishRow {
  readonly run_id: string;
  readonly kind: string;
  readonly component_id: string;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly reason: string;
  readonly requested_at: number;
}

/** Wishes to cancel runs that reached a process which does not execute them. */
export class CancellationStore {
  constructor(private readonly database: Database) {}

  async request({ runId, kind, componentId, sessionId, userId, reason, requestedAt }: CancelRequest) {
    const { dialect } = this.database;
    await this.database.transaction(async (run) => {
      // First: an old wish must not be the one that stays.
      await run(forgetOld[dialect], [requestedAt - cancellationKeptMs]);
      await run(rememberWish[dialect], [
        userKey(userId),
        runId,
        kind,
        componentId,
        sessionId,
        userId,
        reason,
        requestedAt,
      ]);
    });
  }

  async open(since: number): Promise<CancelRequest[]> {
    return (await this.database.read<WishRow>(readOpen, [since])).map(wishFromRow);
  }

  /** Wishes about runs of none of these components, as `componentKey` names them. */
  async exceptOf(components: readonly string[]): Promise<CancelRequest[]> {
    return (await this.database.read<WishRow>(readExceptOf, [components])).map(wishFromRow);
  }

  async ofRun(runId: string, since: number): Promise<CancelRequest | undefined> {
    const [row] = await this.database.read<WishRow>(readOfRun, [runId, since]);
    return row && wishFromRow(row);
  }
}

function wishFromRow(row: WishRow): CancelRequest {
  return {
    runId: row.run_id,
    kind: row.kind as RunKind,
    componentId: row.component_id,
    sessionId: row.session_id,
    userId: row.user_id,
    reason: row.reason,
    requestedAt: row.requested_at,
  };
}
