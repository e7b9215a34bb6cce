import type { Migration } from '../../../platform/storage/database.js';

/** The clients of the authorization server for `/mcp`, what they were granted, and their codes and refresh tokens. */
export const mcpOauthTables: Migration = {
  version: 26,
  name: 'mcp-oauth',

  up: () => [
    // `metadata` is JSON.
    `CREATE TABLE mcp_oauth_clients (
      client_id text NOT NULL PRIMARY KEY,
      metadata text NOT NULL,
      pending integer NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL
    )`,
    'CREATE INDEX mcp_oauth_clients_pending ON mcp_oauth_clients (created_at, client_id) WHERE pending = 1',
    'CREATE INDEX mcp_oauth_clients_expiry ON mcp_oauth_clients (expires_at, client_id)',
    // No reference to the client: one with a metadata document has no row. `scopes` is a JSON list of texts.
    `CREATE TABLE mcp_oauth_grants (
      grant_id text NOT NULL PRIMARY KEY,
      client_id text NOT NULL,
      scopes text NOT NULL,
      resource text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      revoked_at bigint
    )`,
    'CREATE INDEX mcp_oauth_grants_by_client ON mcp_oauth_grants (client_id, grant_id)',
    'CREATE INDEX mcp_oauth_grants_expiry ON mcp_oauth_grants (expires_at, grant_id)',
    // The tokens themselves are nowhere. `data` is JSON.
    `CREATE TABLE mcp_oauth_tokens (
      hash text NOT NULL PRIMARY KEY,
      kind text NOT NULL,
      grant_id text REFERENCES mcp_oauth_grants (grant_id) ON DELETE CASCADE,
      data text,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      used_at bigint
    )`,
    'CREATE INDEX mcp_oauth_tokens_by_grant ON mcp_oauth_tokens (grant_id, hash)',
    'CREATE INDEX mcp_oauth_tokens_expiry ON mcp_oauth_tokens (expires_at, hash)',
  ],

  down: () => ['DROP TABLE mcp_oauth_tokens', 'DROP TABLE mcp_oauth_grants', 'DROP TABLE mcp_oauth_clients'],
};
