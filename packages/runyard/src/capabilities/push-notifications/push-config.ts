import type { Run, StepRecord } from '../../core/runs/run.js';
import type { PushState } from './tables.js';

/** What a client registers. */
export interface NewPushConfig {
  /** Left out: it gets a new one. */
  readonly id?: string | undefined;
  readonly url: string;
  /** Sent along with each notification, so that the receiver recognises it. */
  readonly token?: string | undefined;
  /** What the receiver wants to see in `Authorization`. */
  readonly authentication?:
    | { readonly scheme: string; readonly credentials?: string | undefined }
    | undefined;
}

/** Which interface a client used, and how that one writes. */
export interface PushOrigin {
  readonly mount: string;
  readonly dialect: string;
  readonly issuer: string;
}

/** An address that is notified of a run. */
export interface PushConfig extends PushOrigin {
  readonly runId: string;
  readonly configId: string;
  readonly url: string;
  readonly token: string | null;
  readonly scheme: string | null;
  readonly credentials: string | null;
  readonly createdAt: number;
  readonly delivery: PushDelivery;
}

/** How the last notification went. */
export interface PushDelivery {
  readonly state: PushState;
  readonly attempts: number;
  /** Why the last attempt failed. It holds no secrets. */
  readonly error: string | null;
  /** When the next attempt is due, in milliseconds. */
  readonly nextAt: number | null;
  readonly updatedAt: number;
}

/** A run that has paused or ended. */
export interface RestingRun {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** What a receiver gets. */
export interface PushMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How an interface writes to the addresses that were registered through it. */
export interface PushSender {
  /** Hosts that may be notified although their addresses are not public. */
  readonly allowedHosts: readonly string[];
  /** How often a notification is attempted before it is given up. */
  readonly maxAttempts: number;
  /** How long a receiver may take. */
  readonly timeoutMs: number;
  /** The wait after the first failure. It doubles with each further one, up to an hour. */
  readonly retryMs: number;
  message(config: PushConfig, run: RestingRun): Promise<PushMessage>;
}
