declare module '../../platform/storage/schema.js' {
  interface Schema {
    push_configs: PushConfigsTable;
    push_keys: PushKeysTable;
  }
}

/**
 * `waiting`: there is nothing to say yet; `pending`: a notification is to be delivered; `delivered` and `failed`: how the
 * last one ended.
 */
export type PushState = 'waiting' | 'pending' | 'delivered' | 'failed';

/** An address that is notified of a run, and how the last notification went. */
export interface PushConfigsTable {
  run_id: string;
  config_id: string;
  /** The interface that it was registered through: only that one knows how to write to it. */
  mount: string;
  dialect: string;
  /** Who signs: the address of the service as the client knows it. */
  issuer: string;
  url: string;
  token: string | null;
  scheme: string | null;
  credentials: string | null;
  created_at: number;
  updated_at: number;
  state: PushState;
  /** Which rest of the run was last reported, or given up: its status and its place in the run. Empty: none. */
  reported: string;
  attempts: number;
  last_error: string | null;
  /** When to deliver; null: there is nothing to deliver. */
  next_at: number | null;
  lease_id: string | null;
  lease_until: number;
}

interface PushKeysTable {
  name: string;
  /** A JSON Web Key. */
  private_key: string;
  created_at: number;
}
