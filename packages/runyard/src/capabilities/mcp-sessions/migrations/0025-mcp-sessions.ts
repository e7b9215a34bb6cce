import type { Migration } from '../../../platform/storage/database.js';

/** Sessions of MCP clients, and what is needed to resume the streams of their requests. */
export const mcpSessions: Migration = {
  version: 25,
  name: 'mcp-sessions',

  up: (dialect) => {
    const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
    return [
      // `handshake`: the messages that made the session what it is, as a JSON array.
      `CREATE TABLE mcp_sessions (
        session_id text NOT NULL PRIMARY KEY,
        user_id text,
        handshake text NOT NULL,
        created_at bigint NOT NULL,
        used_at bigint NOT NULL,
        ended_at bigint
      )${clustered}`,
      'CREATE INDEX mcp_sessions_by_use ON mcp_sessions (used_at, session_id)',
      // Only requests that take long. The lease counts by the clock of the database.
      `CREATE TABLE mcp_requests (
        request_key text NOT NULL PRIMARY KEY,
        session_id text NOT NULL REFERENCES mcp_sessions (session_id) ON DELETE CASCADE,
        message_id text NOT NULL,
        message text NOT NULL,
        run_id text NOT NULL,
        lease_owner text,
        lease_until bigint NOT NULL,
        created_at bigint NOT NULL,
        answered_at bigint
      )${clustered}`,
      'CREATE INDEX mcp_requests_by_session ON mcp_requests (session_id, message_id)',
      'CREATE INDEX mcp_requests_by_creation ON mcp_requests (created_at, request_key)',
      `CREATE TABLE mcp_events (
        request_key text NOT NULL REFERENCES mcp_requests (request_key) ON DELETE CASCADE,
        position integer NOT NULL,
        message text NOT NULL,
        CONSTRAINT mcp_events_pk PRIMARY KEY (request_key, position)
      )${clustered}`,
      // Messages of the client for a request that another process serves.
      `CREATE TABLE mcp_inbox (
        request_key text NOT NULL REFERENCES mcp_requests (request_key) ON DELETE CASCADE,
        entry_id text NOT NULL,
        message text NOT NULL,
        CONSTRAINT mcp_inbox_pk PRIMARY KEY (request_key, entry_id)
      )${clustered}`,
    ];
  },

  down: () => [
    'DROP TABLE mcp_inbox',
    'DROP TABLE mcp_events',
    'DROP TABLE mcp_requests',
    'DROP TABLE mcp_sessions',
  ],
};
