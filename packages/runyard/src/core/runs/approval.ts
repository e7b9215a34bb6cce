import type { JsonObject } from '../json.js';
import type { RunKind } from './run.js';

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled';

/** What kind of answer the call waits for. */
export type PauseType = 'confirmation' | 'user_input' | 'external_execution';

/**
 * One call of one run that needs a decision, or (`audit`) has one. It names the call with its
 * arguments and stands for no other. Times are milliseconds.
 */
export interface ApprovalRecord {
  readonly approvalId: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly sourceType: RunKind;
  /** The component that was asked to run, and its name. */
  readonly componentId: string;
  readonly sourceName: string | null;
  /** Who the run belongs to: the requester. */
  readonly userId: string | null;
  /** Of a run that a schedule started, with the record of the attempt. */
  readonly scheduleId: string | null;
  readonly scheduleRunId: string | null;
  readonly approvalType: 'required' | 'audit';
  readonly pauseType: PauseType;
  readonly status: ApprovalStatus;
  readonly toolName: string;
  readonly toolArgs: JsonObject;
  /** The requirement of the paused run in wire form. */
  readonly requirement: JsonObject | null;
  readonly resolutionData: JsonObject | null;
  readonly resolvedBy: string | null;
  readonly resolvedAt: number | null;
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

/** How an approval was decided. */
export interface ResolvedApproval {
  readonly status: ApprovalStatus;
  readonly resolutionData: JsonObject | null;
  readonly resolvedBy: string | null;
  readonly resolvedAt: number | null;
  /** The whole record in wire form: kept with the answer. */
  readonly record: JsonObject;
}

/** How the approvals of a run were decided, by their ids. */
export type Resolutions = ReadonlyMap<string, ResolvedApproval>;

/** How the approvals of a run change together with the run. */
export type ApprovalWrite =
  /** A new one: pending, or (`audit`) decided already. */
  | { readonly kind: 'record'; readonly approval: ApprovalRecord }
  /** The run ended without them: those that are pending are cancelled. */
  | { readonly kind: 'cancel_pending'; readonly at: number };
