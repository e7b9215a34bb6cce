import { newId } from '../../src/core/ids.js';
import type { ApprovalRecord } from '../../src/core/runs/approval.js';
import type { RunUpdate, RunWrite, SessionWrite } from '../../src/core/runs/journal/ports.js';
import type { Run, StepRecord } from '../../src/core/runs/run.js';

/** Values with all fields filled in, so that a test names only what it is about. */
export const start = Date.UTC(2026, 0, 1);

export function aRun(given: Partial<Run> = {}): Run {
  return {
    runId: newId(),
    kind: 'agent',
    componentId: 'writer',
    componentName: 'Writer',
    sessionId: 'session-1',
    userId: null,
    askers: [],
    parentRunId: null,
    model: 'offline',
    modelProvider: 'Runyard',
    input: { content: 'hello', media: [], options: { stream: false } },
    createdAt: start,
    status: 'running',
    result: null,
    attempt: 1,
    leaseOwner: 'process-1',
    leaseExpiresAt: start + 30_000,
    nextEventIndex: 0,
    updatedAt: start,
    lineage: null,
    traceParent: null,
    definition: null,
    wakeAt: null,
    ...given,
  };
}

export function aStep(run: Run, seq: number, given: Partial<StepRecord> = {}): StepRecord {
  return {
    runId: run.runId,
    seq,
    key: `model:${seq}`,
    kind: 'model',
    name: 'offline',
    parentKey: null,
    status: 'completed',
    attempt: run.attempt,
    input: null,
    output: { text: `answer ${seq}` },
    error: null,
    startedAt: start + seq,
    endedAt: start + seq + 1,
    ...given,
  };
}

export function sessionOf(run: Run, given: Partial<SessionWrite> = {}): SessionWrite {
  return {
    sessionId: run.sessionId,
    kind: run.kind,
    componentId: run.componentId,
    userId: run.userId,
    name: null,
    now: run.createdAt,
    ...given,
  };
}

/** The first write of a run, with its session. */
export function creation(run: Run, given: Partial<RunWrite> = {}): RunWrite {
  return {
    runId: run.runId,
    attempt: run.attempt,
    session: sessionOf(run),
    insert: run,
    steps: [],
    ...given,
  };
}

/** A later write of a run. */
export function progress(run: Run, update: Partial<RunUpdate> = {}, given: Partial<RunWrite> = {}): RunWrite {
  return {
    runId: run.runId,
    attempt: run.attempt,
    update: {
      status: run.status,
      result: run.result,
      leaseOwner: run.leaseOwner,
      leaseExpiresAt: run.leaseExpiresAt,
      nextEventIndex: run.nextEventIndex,
      updatedAt: run.updatedAt,
      wakeAt: run.wakeAt,
      definition: run.definition,
      askers: run.askers,
      ...update,
    },
    steps: [],
    ...given,
  };
}

export const finished = {
  status: 'completed',
  result: { content: 'done', contentType: 'str' },
  leaseOwner: null,
  leaseExpiresAt: null,
} as const satisfies Partial<RunUpdate>;

/** A run that no process executes and that any process may resume. */
export const resting = { leaseOwner: null, leaseExpiresAt: null } as const satisfies Partial<Run>;

/** The write that continues a resting run. */
export function resumption(run: Run, now: number, given: Partial<RunWrite> = {}): RunWrite {
  const lease = { leaseOwner: 'process-2', leaseExpiresAt: now + 30_000 };
  return {
    ...progress(run, { ...lease, status: 'running', result: null, updatedAt: now }),
    attempt: run.attempt + 1,
    claims: { attempt: run.attempt, status: run.status as 'paused' | 'error' },
    ...given,
  };
}

export function anApproval(run: Run, given: Partial<ApprovalRecord> = {}): ApprovalRecord {
  return {
    approvalId: newId(),
    runId: run.runId,
    sessionId: run.sessionId,
    sourceType: run.kind,
    componentId: run.componentId,
    sourceName: run.componentName,
    userId: run.userId,
    scheduleId: null,
    scheduleRunId: null,
    approvalType: 'required',
    pauseType: 'confirmation',
    status: 'pending',
    toolName: 'wire_money',
    toolArgs: { amount: 5 },
    requirement: { id: 'requirement-1' },
    resolutionData: null,
    resolvedBy: null,
    resolvedAt: null,
    expiresAt: null,
    createdAt: start,
    ...given,
  };
}
