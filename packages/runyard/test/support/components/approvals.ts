import { expect } from 'vitest';
import { ApprovalsService, DatabaseApprovals } from '../../../src/capabilities/approvals/service.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { newId } from '../../../src/core/ids.js';
import type { ApprovalRecord } from '../../../src/core/runs/approval.js';
import type { Run } from '../../../src/core/runs/run.js';
import { agent, type RunyardOptions } from '../../../src/index.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { aRun, creation } from '../../conformance/builders.js';
import type { DatabasePlace } from '../databases.js';
import { type Answer, startService, type TestService } from '../service.js';
import { AccountsProcess } from './service-accounts.js';

/** A service on this place, and a second look at its data. */
export async function serviceOn(place: DatabasePlace, options: Partial<RunyardOptions> = {}) {
  const database = await place.open();
  const agents = [agent({ id: 'payer', model: 'offline' })];
  const service = await startService({ agents, database: place.url, ...options });
  return { service, database };
}

/** The rules without HTTP, for callers whom a token names. */
export function approvalsIn(database: Database, fourEyes: boolean): ApprovalsService {
  const spaces = [{ approvals: new DatabaseApprovals(database) }];
  const { accounts } = new AccountsProcess(database);
  return new ApprovalsService({
    spaces: { all: async () => spaces },
    fourEyes,
    personsBehindAccount: (principal) => accounts.personsBehindAccount(principal),
  });
}

/** A paused run with its approval, stored as runs store them. */
export async function waiting(
  database: Database,
  given: Partial<ApprovalRecord> = {},
): Promise<{ approval: ApprovalRecord; run: Run }> {
  const createdAt = given.createdAt ?? Date.now();
  const run = aRun({
    kind: given.sourceType ?? 'agent',
    componentId: given.componentId ?? 'payer',
    sessionId: newId(),
    userId: given.userId ?? null,
    status: 'paused',
    leaseOwner: null,
    leaseExpiresAt: null,
    createdAt,
  });
  const approval: ApprovalRecord = {
    approvalId: newId(),
    runId: run.runId,
    sessionId: run.sessionId,
    sourceType: run.kind,
    componentId: run.componentId,
    sourceName: 'Payer',
    userId: run.userId,
    scheduleId: null,
    scheduleRunId: null,
    approvalType: 'required',
    pauseType: 'confirmation',
    status: 'pending',
    toolName: 'pay',
    toolArgs: { amount: 5 },
    requirement: null,
    resolutionData: null,
    resolvedBy: null,
    resolvedAt: null,
    expiresAt: null,
    createdAt,
    ...given,
  };
  const refused = await new RunStore(database).commit([
    creation(run, { approvals: [{ kind: 'record', approval }] }),
  ]);
  expect(refused).toEqual([]);
  return { approval, run };
}

export function resolve(service: TestService, approvalId: string, sent: unknown): Promise<Answer> {
  return service.call('POST', `/approvals/${approvalId}/resolve`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(sent),
  });
}

export function expectProblem(answer: Answer, status: number, detail: string): void {
  expect(answer.body).toMatchObject({ detail });
  expect(answer.status).toBe(status);
}
