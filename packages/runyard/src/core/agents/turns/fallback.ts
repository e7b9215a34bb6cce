import type { FailureReason } from '../../models/failure-reason.js';
import { ModelError } from '../../models/model-error.js';
import { model as modelKind } from '../../models/model-kind.js';
import type { ModelLike } from '../../models/resolve.js';

/** A model that takes over when the one before it fails. */
export interface Fallback {
  readonly model: ModelLike;
  /** The reasons to call it for. Left out: every one. */
  readonly on?: readonly FailureReason[];
}

/** What `onFallback` is called with. */
export interface FallbackNotice {
  readonly reason: FailureReason;
  readonly error: unknown;
  /** The model that failed. */
  readonly from: { readonly id: string; readonly provider: string };
  /** The model that is called next, and serves the rest of the run. */
  readonly to: { readonly id: string; readonly provider: string };
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
}

export type FallbackListener = (notice: FallbackNotice) => void | Promise<void>;

export function isFallback(entry: ModelLike | Fallback): entry is Fallback {
  // a model object of the application may have a field `model` of its own
  return typeof entry === 'object' && 'model' in entry && !modelKind.takes(entry);
}

export function fallbackOf(entry: ModelLike | Fallback): Fallback {
  return isFallback(entry) ? entry : { model: entry };
}

export function failureReasonOf(error: unknown): FailureReason {
  return error instanceof ModelError ? error.reason : 'error';
}

/** The place of the first fall-back for a reason among those that were not called yet; undefined when there is none. */
export function nextFallback(
  fallbacks: readonly (ModelLike | Fallback)[],
  reason: FailureReason,
  called: ReadonlySet<number | null>,
): number | undefined {
  const place = fallbacks.findIndex(
    (entry, position) => !called.has(position) && (fallbackOf(entry).on?.includes(reason) ?? true),
  );
  return place === -1 ? undefined : place;
}
