import type { CancelRequest } from '../../../core/runs/journal/ports.js';
import { cancellationKeptMs } from '../../../core/runs/leases/cancellations.js';
import type { RunKind } from '../../../core/runs/run.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';
import { userKey } from './rows-store.js';

const columns = 'run_id, kind, component_id, session_id, user_id, reason, requested_at';
const qualified = columns.replaceAll(/\w+/g, 'requests.$&');

const statementsOf = ofTables(({ prefix, runs, cancellations }) => {
  const forgetOld = statement(
    `${prefix}forget_cancellations`,
    `DELETE FROM ${cancellations} WHERE requested_at < ? AND NOT EXISTS (
       SELECT 1 FROM ${runs} AS runs WHERE runs.run_id = ${cancellations}.run_id
         AND runs.status IN ('pending', 'running', 'paused'))`,
  );

  // A repeated request changes nothing, unless it corrects the component or the session.
  const store = ({ differs }: { differs: string }) => `
    INSERT INTO ${cancellations} AS stored (user_key, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, user_key) DO UPDATE SET kind = excluded.kind, component_id = excluded.component_id,
      session_id = excluded.session_id, reason = excluded.reason, requested_at = excluded.requested_at
    WHERE stored.kind <> excluded.kind OR stored.component_id <> excluded.component_id
      OR stored.session_id ${differs} excluded.session_id`;

  const storeRequest: Statement = {
    name: `${prefix}remember_cancellation`,
    sqlite: store({ differs: 'IS NOT' }),
    postgres: statement('', store({ differs: 'IS DISTINCT FROM' })).postgres,
  };

  const readOpen = statement(
    `${prefix}cancellations`,
    `SELECT ${qualified} FROM ${cancellations} AS requests LEFT JOIN ${runs} AS runs ON runs.run_id = requests.run_id
     WHERE requests.requested_at > ?
       AND (runs.run_id IS NULL OR runs.status IN ('pending', 'running', 'paused'))
     ORDER BY requests.requested_at, requests.run_id`,
  );

  const exceptOf = (isOneOf: string) =>
    `SELECT ${columns} FROM ${cancellations} WHERE NOT (kind || ' ' || component_id) ${isOneOf}
     ORDER BY requested_at, run_id`;

  const readExceptOf: Statement = {
    name: `${prefix}cancellations_of_other_components`,
    sqlite: exceptOf('IN (SELECT value FROM json_each(?))'),
    postgres: exceptOf('= ANY($1::text[])'),
  };

  // Requests of users who cannot see the run come last.
  const readOfRun = statement(
    `${prefix}cancellation`,
    `SELECT ${qualified} FROM ${cancellations} AS requests LEFT JOIN ${runs} AS runs ON runs.run_id = requests.run_id
     WHERE requests.run_id = ? AND requests.requested_at > ?
     ORDER BY CASE WHEN requests.kind = runs.kind AND requests.component_id = runs.component_id
         AND (requests.session_id IS NULL OR requests.session_id = runs.session_id)
         AND (requests.user_id IS NULL OR requests.user_id = runs.user_id) THEN 0 ELSE 1 END,
       requests.requested_at, requests.user_key
     LIMIT 1`,
  );

  return { forgetOld, storeRequest, readOpen, readExceptOf, readOfRun };
});

interface RequestRow {
  readonly run_id: string;
  readonly kind: RunKind;
  readonly component_id: string;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly reason: string;
  readonly requested_at: number;
}

/** Requests to cancel runs that reached a process which does not execute them. */
export class CancellationStore {
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor(
    private readonly database: Database,
    tables: JournalTables = runTables,
  ) {
    this.#statements = statementsOf(tables);
  }

  async request({ runId, kind, componentId, sessionId, userId, reason, requestedAt }: CancelRequest) {
    const { dialect } = this.database;
    const { forgetOld, storeRequest } = this.#statements;
    await this.database.transaction(async (run) => {
      // First: an old request must not be the one that stays.
      await run(forgetOld[dialect], [requestedAt - cancellationKeptMs]);
      await run(storeRequest[dialect], [
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
    return (await this.database.read<RequestRow>(this.#statements.readOpen, [since])).map(requestFromRow);
  }

  /** Requests about runs of none of these components, as `componentKey` names them. */
  async exceptOf(components: readonly string[]): Promise<CancelRequest[]> {
    return (await this.database.read<RequestRow>(this.#statements.readExceptOf, [components])).map(
      requestFromRow,
    );
  }

  async ofRun(runId: string, since: number): Promise<CancelRequest | undefined> {
    const [row] = await this.database.read<RequestRow>(this.#statements.readOfRun, [runId, since]);
    return row && requestFromRow(row);
  }
}

function requestFromRow(row: RequestRow): CancelRequest {
  return {
    runId: row.run_id,
    kind: row.kind,
    componentId: row.component_id,
    sessionId: row.session_id,
    userId: row.user_id,
    reason: row.reason,
    requestedAt: row.requested_at,
  };
}
