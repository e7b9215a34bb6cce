import { expect, test } from 'vitest';
import { conditionOf } from './engine-condition.js';

const signs = { now: 100_000, leaseMs: 30_000, leasesRenewedAt: 95_000, recoveryMovedAt: 95_000 };

test('an engine that renewed and polled in time is healthy', () => {
  expect(conditionOf(signs)).toBe('ok');
  expect(conditionOf({ ...signs, leasesRenewedAt: 70_000, recoveryMovedAt: 40_000 })).toBe('ok');
});

test('leases that ended before they were renewed are overdue', () => {
  expect(conditionOf({ ...signs, leasesRenewedAt: 69_999 })).toBe('leases_overdue');
});

test('a search that has not moved for two leases is stuck', () => {
  expect(conditionOf({ ...signs, recoveryMovedAt: 39_999 })).toBe('recovery_stuck');
});
