declare module '../../platform/storage/schema.js' {
  interface Schema {
    mcp_sessions: McpSessionsTable;
    mcp_requests: McpRequestsTable;
    mcp_events: McpEventsTable;
    mcp_inbox: McpInboxTable;
  }
}

export interface McpSessionsTable {
  session_id: string;
  /** The proven identity of the client; null for an anonymous one. */
  user_id: string | null;
  /** The messages that made the session what it is, as a JSON array. */
  handshake: string;
  created_at: number;
  used_at: number;
  /** Set for a session that the client has ended. */
  ended_at: number | null;
}

/** A request that takes long. */
export interface McpRequestsTable {
  request_key: string;
  session_id: string;
  /** The client's id of the request, as JSON. */
  message_id: string;
  message: string;
  run_id: string;
  lease_owner: string | null;
  lease_until: number;
  created_at: number;
  answered_at: number | null;
}

export interface McpEventsTable {
  request_key: string;
  position: number;
  message: string;
}

export interface McpInboxTable {
  request_key: string;
  entry_id: string;
  message: string;
}
