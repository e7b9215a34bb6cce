declare module '../../platform/storage/schema.js' {
  interface Schema {
    slack_deliveries: SlackDeliveriesTable;
    slack_runs: SlackRunsTable;
    slack_installations: SlackInstallationsTable;
  }
}

/** `work`: messages, whose answers may take long. `control`: buttons and commands, which never wait behind them. */
export type SlackLane = 'work' | 'control';

/** What Slack has delivered, once, and what has become of it. */
export interface SlackDeliveriesTable {
  /** The interface that received it. */
  mount: string;
  delivery_id: string;
  lane: SlackLane;
  /** Deliveries of one key are processed one at a time, in the order of their positions. */
  order_key: string;
  position: string;
  /** JSON; empty once it is processed. */
  payload: string;
  /** Known before the run begins. */
  run_id: string | null;
  /** JSON: what has been written to Slack. */
  progress: string | null;
  attempts: number;
  last_error: string | null;
  created_at: number;
  updated_at: number;
  /** When to process it; null: it is processed. */
  next_at: number | null;
  lease_id: string | null;
  lease_until: number;
}

/** Where a run that came from Slack is answered. */
export interface SlackRunsTable {
  run_id: string;
  mount: string;
  thread_key: string;
  /** JSON: the thread, the asker and whom the run belongs to. */
  place: string;
  /** JSON: the cards of its pause, and what was decided. */
  notes: string;
  created_at: number;
  updated_at: number;
}

/** A workspace that has installed the app. */
export interface SlackInstallationsTable {
  mount: string;
  /** `T…` of a workspace, `E…` of an organisation. */
  owner_id: string;
  name: string;
  bot_user_id: string;
  /** The token, encrypted. */
  sealed_token: string;
  scopes: string;
  installed_by: string;
  created_at: number;
  updated_at: number;
}
