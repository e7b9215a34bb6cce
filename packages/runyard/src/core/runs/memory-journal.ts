import type { JsonObject } from '../json.js';
import type { PastSession, PastSessions, PastSessionsQuery, SessionOwner } from './past-sessions.js';
import type {
  EventBlock,
  HistoryQuery,
  LeaseClaim,
  RefusedWrite,
  RunJournal,
  RunWrite,
  SessionSnapshot,
  SessionSummary,
  StateChange,
  SummaryWrite,
} from './ports.js';
import type { Run, RunStatus, StepRecord } from './run.js';

/** Runs that are remembered; beyond it the oldest are forgotten. */
const keptRuns = 1_000;

interface StoredRun {
  run: Run;
  readonly steps: Map<number, StepRecord>;
  readonly blocks: EventBlock[];
}

/** The journal of agents that are run without a service: nothing outlives the process, and memory is bounded. */
export class MemoryJournal implements RunJournal, PastSessions {
  private readonly runs = new Map<string, StoredRun>();
  private readonly sessions = new Map<
    string,
    { userId: string | null; name: string | null; state: JsonObject; summary?: SessionSummary }
  >();

  async commit(writes: readonly RunWrite[]): Promise<readonly RefusedWrite[]> {
    const refused: RefusedWrite[] = [];
    for (const write of writes) {
      const reason = this.refusal(write);
      if (reason === null) this.apply(write);
      else refused.push({ runId: write.runId, reason });
    }
    this.forgetOldest();
    return refused;
  }

  async load(runId: string): Promise<{ run: Run; steps: readonly StepRecord[] } | undefined> {
    const stored = this.runs.get(runId);
    return stored && { run: stored.run, steps: inOrder(stored) };
  }

  async eventBlocks(runId: string, fromIndex: number, limit: number): Promise<readonly EventBlock[]> {
    const blocks = this.runs.get(runId)?.blocks ?? [];
    return blocks.filter(({ firstIndex, count }) => firstIndex + count > fromIndex).slice(0, limit);
  }

  async progress(runId: string): Promise<{ status: RunStatus; nextEventIndex: number } | undefined> {
    return this.runs.get(runId)?.run;
  }

  async expired(now: number, limit: number, passed: number): Promise<readonly Run[]> {
    return [...this.runs.values()]
      .map(({ run }) => run)
      .filter(({ status, leaseExpiresAt }) => isOpen(status) && (leaseExpiresAt ?? 0) < now)
      .slice(passed, passed + limit);
  }

  async claim({ runId, attempt, owner, now, expiresAt }: LeaseClaim): Promise<Run | undefined> {
    const stored = this.runs.get(runId);
    if (stored === undefined || stored.run.attempt !== attempt) return undefined;
    const { status, leaseExpiresAt } = stored.run;
    if ((!isOpen(status) && status !== 'paused') || (leaseExpiresAt ?? 0) >= now) return undefined;
    stored.run = { ...stored.run, attempt: attempt + 1, leaseOwner: owner, leaseExpiresAt: expiresAt };
    return stored.run;
  }

  async renewLeases(owner: string, runIds: readonly string[], expiresAt: number): Promise<void> {
    this.setLeases(owner, expiresAt, new Set(runIds));
  }

  async releaseLeases(owner: string): Promise<void> {
    this.setLeases(owner, 0);
  }

  async leaseOwners(): Promise<readonly string[]> {
    const owners = new Set<string>();
    for (const { run } of this.runs.values())
      if (isOpen(run.status) && run.leaseOwner) owners.add(run.leaseOwner);
    return [...owners];
  }

  async history(query: HistoryQuery): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]> {
    return [...this.runs.values()]
      .filter(({ run }) => run.sessionId === query.sessionId && run.componentId === query.componentId)
      .filter(
        ({ run }) =>
          run.status === 'completed' &&
          run.parentRunId === null &&
          run.runId !== query.exceptRunId &&
          run.createdAt <= query.before,
      )
      .slice(-query.count)
      .map((stored) => ({ run: stored.run, steps: inOrder(stored) }));
  }

  async session(sessionId: string): Promise<SessionSnapshot | undefined> {
    const session = this.sessions.get(sessionId);
    if (session === undefined) return undefined;
    const { userId, name, state } = session;
    return { sessionId, userId, name, state: { ...state } };
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    return this.sessions.get(sessionId)?.summary;
  }

  async latest(owner: SessionOwner, query: PastSessionsQuery): Promise<PastSession[]> {
    const sessions = [...this.sessions.keys()]
      .filter((sessionId) => sessionId !== query.exceptSessionId)
      .flatMap((sessionId) => this.pastSession(owner, sessionId, query.runs) ?? []);
    return sessions.sort((left, right) => right.updatedAt - left.updatedAt).slice(0, query.sessions);
  }

  async read(owner: SessionOwner, sessionId: string, runs: number): Promise<PastSession | undefined> {
    return this.pastSession(owner, sessionId, runs);
  }

  private pastSession(owner: SessionOwner, sessionId: string, count: number): PastSession | undefined {
    const session = this.sessions.get(sessionId);
    if (session === undefined || session.userId !== owner.userId) return undefined;
    const runs = [...this.runs.values()]
      .map(({ run }) => run)
      .filter((run) => run.sessionId === sessionId && run.componentId === owner.componentId);
    if (runs.length === 0) return undefined;
    return {
      sessionId,
      name: session.name,
      updatedAt: Math.max(...runs.map(({ updatedAt }) => updatedAt)),
      runs: runs.filter(({ status }) => status === 'completed').slice(-count),
    };
  }

  private refusal(write: RunWrite): RefusedWrite['reason'] | null {
    const stored = this.runs.get(write.runId);
    if (write.insert === undefined) return stored?.run.attempt === write.attempt ? null : 'fenced';
    if (stored !== undefined) return 'run_exists';
    const session = write.session && this.sessions.get(write.session.sessionId);
    return session !== undefined && session.userId !== write.session!.userId ? 'foreign_session' : null;
  }

  private apply({ runId, session, insert, update, steps, events, state, summary }: RunWrite): void {
    const known = session && this.sessions.get(session.sessionId);
    if (known !== undefined) known.name ??= session!.name;
    else if (session !== undefined) {
      this.sessions.set(session.sessionId, { userId: session.userId, name: session.name, state: {} });
    }
    if (insert !== undefined) this.runs.set(runId, { run: insert, steps: new Map(), blocks: [] });
    const stored = this.runs.get(runId)!;
    if (update !== undefined) stored.run = { ...stored.run, ...update };
    for (const step of steps) stored.steps.set(step.seq, step);
    if (events !== undefined) stored.blocks.push(events);
    if (state !== undefined) this.changeState(state);
    if (summary !== undefined) this.replaceSummary(summary);
  }

  private changeState({ sessionId, set, remove }: StateChange): void {
    const values = this.sessions.get(sessionId)?.state;
    if (values === undefined) return;
    Object.assign(values, set);
    for (const key of remove) delete values[key];
  }

  private replaceSummary({ sessionId, ...summary }: SummaryWrite): void {
    const session = this.sessions.get(sessionId);
    if (session === undefined || (session.summary?.coversUntil ?? 0) > summary.coversUntil) return;
    session.summary = summary;
  }

  private setLeases(owner: string, expiresAt: number, only?: ReadonlySet<string>): void {
    for (const stored of this.runs.values()) {
      if (only !== undefined && !only.has(stored.run.runId)) continue;
      if (stored.run.leaseOwner === owner && isOpen(stored.run.status)) {
        stored.run = { ...stored.run, leaseExpiresAt: expiresAt };
      }
    }
  }

  private forgetOldest(): void {
    if (this.runs.size <= keptRuns) return;
    for (const [runId, { run }] of this.runs) {
      if (this.runs.size <= keptRuns) break;
      if (!isOpen(run.status)) this.runs.delete(runId);
    }
    const alive = new Set([...this.runs.values()].map(({ run }) => run.sessionId));
    for (const sessionId of this.sessions.keys()) if (!alive.has(sessionId)) this.sessions.delete(sessionId);
  }
}

function isOpen(status: RunStatus): boolean {
  return status === 'pending' || status === 'running';
}

function inOrder({ steps }: StoredRun): StepRecord[] {
  return [...steps.values()].sort((left, right) => left.seq - right.seq);
}
