import type { JsonObject } from '../json.js';
import type { FailureReason } from './failure-reason.js';

/** Where a model call went wrong. */
export type ModelErrorKind =
  /** The provider answered with a status that is not a success, or with an error inside its stream. */
  | 'refused'
  /** No connection, or one that broke. */
  | 'connection'
  | 'timeout'
  /** The provider answered, but not in its protocol. */
  | 'protocol'
  /** The model cannot be called as it is configured. */
  | 'configuration'
  /** The model answered, and stopped for a reason that its agent counts as a failure. */
  | 'stopped';

export interface ModelErrorDetails {
  readonly provider: string;
  readonly kind: ModelErrorKind;
  /** What fall-back models are chosen by. Left out: `rate_limit` for the status 429, else `error`. */
  readonly reason?: FailureReason;
  /** The provider's HTTP status. */
  readonly status?: number;
  /** Whether the same call may well succeed later. */
  readonly retryable?: boolean;
  /** How long the provider asks to be left alone. */
  readonly retryAfterMs?: number;
  /** What lies beneath, with names of hosts and the like: for the log. */
  readonly cause?: unknown;
}

/** A model call that failed. The message is fit for the person who asked: it never holds a secret. */
export class ModelError extends Error {
  readonly code: string = 'model_provider_error';
  readonly provider: string;
  readonly kind: ModelErrorKind;
  readonly reason: FailureReason;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ModelErrorDetails) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'ModelError';
    // what a provider refuses is no fault of a line of code: one line in the log says it all
    if (details.kind === 'refused' || details.kind === 'stopped')
      this.stack = `ModelError: ${message.replaceAll(/\s+/g, ' ')}`;
    this.provider = details.provider;
    this.kind = details.kind;
    this.reason = details.reason ?? (details.status === 429 ? 'rate_limit' : 'error');
    this.status = details.status;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** What a program can act on, in the words of the wire. */
  get facts(): JsonObject {
    const { retryable, status, retryAfterMs } = this;
    return {
      retryable,
      ...(status !== undefined && { provider_status: status }),
      ...(retryAfterMs !== undefined && { retry_after_seconds: Math.ceil(retryAfterMs / 1000) }),
    };
  }
}
