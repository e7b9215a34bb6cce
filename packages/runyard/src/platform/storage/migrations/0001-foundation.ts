import type { Dialect, Migration } from '../database.js';

/** Sessions with their state, and runs with their journal and events. */
export const foundation: Migration = {
  version: 1,
  name: 'foundation',

  up(dialect) {
    return [
      ...sessions(dialect),
      ...runs,
      ...journal,
      // How a batch that is one PostgreSQL statement undoes itself and reports which of its parts were refused.
      ...(dialect === 'postgres' ? [createRefusal] : []),
    ];
  },

  down(dialect) {
    const tables = ['event_blocks', 'steps', 'runs', 'session_state', 'sessions'];
    return [
      ...(dialect === 'postgres' ? ['DROP FUNCTION runyard_refuse(text)'] : []),
      ...tables.map((table) => `DROP TABLE ${table}`),
    ];
  },
};

function sessions(dialect: Dialect): string[] {
  // SQLite then stores the rows in the order of their key, without a second index: it pays for small rows.
  const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
  return [
    `CREATE TABLE sessions (
      session_id text NOT NULL PRIMARY KEY,
      kind text NOT NULL,
      component_id text NOT NULL,
      user_id text,
      name text,
      metadata text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )${clustered}`,
    // Every run touches its session's updated_at, so that only one index holds it. Within one user or component
    // the few rows are sorted, or that index is followed and filtered.
    'CREATE INDEX sessions_by_creation ON sessions (created_at, session_id)',
    'CREATE INDEX sessions_by_update ON sessions (updated_at, session_id)',
    'CREATE INDEX sessions_by_name ON sessions (name, session_id)',
    'CREATE INDEX sessions_by_user ON sessions (user_id, created_at, session_id)',
    'CREATE INDEX sessions_by_component ON sessions (component_id, created_at, session_id)',
    `CREATE TABLE session_state (
      session_id text NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
      key text NOT NULL,
      value text NOT NULL,
      CONSTRAINT session_state_pk PRIMARY KEY (session_id, key)
    )${clustered}`,
  ];
}

const runs = [
  `CREATE TABLE runs (
    run_id text NOT NULL PRIMARY KEY,
    kind text NOT NULL,
    component_id text NOT NULL,
    component_name text,
    session_id text NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    user_id text,
    parent_run_id text,
    model text,
    model_provider text,
    input text NOT NULL,
    created_at bigint NOT NULL,
    status text NOT NULL,
    result text,
    attempt integer NOT NULL,
    lease_owner text,
    lease_expires_at bigint,
    next_event_index integer NOT NULL,
    updated_at bigint NOT NULL
  )`,
  // Each list fixes kind and component, and perhaps session or user. Without statistics SQLite takes the index
  // with the most fixed columns, so those two hold them all. Runs inside other runs are not listed.
  // The status stands last: a filter on it reads this index alone, and no second one has to follow each change.
  `CREATE INDEX runs_by_component ON runs (kind, component_id, created_at, run_id, status)
    WHERE parent_run_id IS NULL`,
  `CREATE INDEX runs_by_user ON runs (user_id, kind, component_id, created_at, run_id)
    WHERE user_id IS NOT NULL AND parent_run_id IS NULL`,
  'CREATE INDEX runs_by_session ON runs (session_id, kind, component_id, created_at, run_id)',
  `CREATE INDEX runs_history ON runs (session_id, component_id, created_at, run_id)
    WHERE status = 'completed'`,
  `CREATE INDEX runs_leased ON runs (coalesce(lease_expires_at, 0))
    WHERE status IN ('pending', 'running')`,
];

/** Not clustered: with payloads of some size SQLite is faster with rows apart from the index. */
const journal = [
  `CREATE TABLE steps (
    run_id text NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    seq integer NOT NULL,
    key text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    parent_key text,
    status text NOT NULL,
    attempt integer NOT NULL,
    input text,
    output text,
    error text,
    started_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT steps_pk PRIMARY KEY (run_id, seq)
  )`,
  `CREATE TABLE event_blocks (
    run_id text NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    first_index integer NOT NULL,
    event_count integer NOT NULL,
    payload text NOT NULL,
    CONSTRAINT event_blocks_pk PRIMARY KEY (run_id, first_index)
  )`,
];

const createRefusal = `
    CREATE FUNCTION runyard_refuse(refused text) RETURNS integer LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'Some writes of this batch were refused; the others are written again without them'
        USING ERRCODE = 'RY001', DETAIL = refused;
    END $$`;
