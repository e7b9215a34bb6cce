/** How an engine is: `closed` before it is opened and once it stops. */
export type EngineCondition = 'ok' | 'closed' | 'leases_overdue' | 'recovery_stuck';

export interface EngineSigns {
  readonly now: number;
  readonly leaseMs: number;
  /** When all leases were renewed, or there was nothing to renew. */
  readonly leasesRenewedAt: number;
  /** When the search for abandoned runs last came a step further. */
  readonly recoveryMovedAt: number;
}

/** A search may be at one run for as long as a claim and its reads take; beyond this it waits for something. */
const leasesWithoutMove = 2;

/** What an open engine shows of itself. Leases are renewed three times in their time, abandoned runs looked for twice. */
export function conditionOf({
  now,
  leaseMs,
  leasesRenewedAt,
  recoveryMovedAt,
}: EngineSigns): EngineCondition {
  if (now - leasesRenewedAt > leaseMs) return 'leases_overdue';
  if (now - recoveryMovedAt > leasesWithoutMove * leaseMs) return 'recovery_stuck';
  return 'ok';
}
