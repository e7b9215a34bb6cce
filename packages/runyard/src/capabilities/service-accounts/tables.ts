declare module '../../platform/storage/schema.js' {
  interface Schema {
    service_accounts: ServiceAccountsTable;
  }
}

export interface ServiceAccountsTable {
  id: string;
  name: string;
  /** The SHA-256 of the whole token, in hex. */
  token_hash: string;
  token_prefix: string;
  /** A JSON list of texts. */
  scopes: string;
  user_id: string | null;
  created_by: string | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}
