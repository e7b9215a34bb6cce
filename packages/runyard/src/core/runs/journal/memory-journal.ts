import { FairQueue, type InLine } from '../../collections/fair-queue.js';
import type { JsonObject } from '../../json.js';
import { appliesTo, cancellationKeptMs } from '../leases/cancellations.js';
import { levelOf, priorities } from '../leases/priority.js';
import type { HeldRun, LeaseClaim, RunLeases } from '../leases/run-leases.js';
import type { RunQueue } from '../leases/run-queue.js';
import type { PastSession, PastSessions, PastSessionsQuery, SessionOwner } from '../past-sessions.js';
import { componentKey } from '../resume/ending-executable.js';
import { type Run, type RunStatus, type StepRecord, terminalStatuses } from '../run.js';
import { partsOf } from './long-texts.js';
import type {
  CancelRequest,
  EventBlock,
  HistoryQuery,
  IdempotencyKey,
  RefusedWrite,
  RunJournal,
  RunWrite,
  SessionSnapshot,
  SessionSummary,
  StartedUnderKey,
  StateChange,
  StoredText,
  SummaryWrite,
} from './ports.js';

/** Runs that are remembered; beyond it the oldest are forgotten. */
const keptRuns = 1_000;
/** So many are forgotten at once: to look for what belongs to them takes as long as to look at all runs. */
const forgottenAtOnce = 100;

type Page = Parameters<RunQueue['waiting']>;

interface StoredRun {
  run: Run;
  readonly steps: Map<number, StepRecord>;
  readonly blocks: EventBlock[];
  /** By id. */
  readonly texts: Map<string, string>;
}

/** The journal of agents that are run without a service: nothing outlives the process, and memory is bounded. */
export class MemoryJournal implements RunJournal, RunLeases, RunQueue, PastSessions {
  private readonly runs = new Map<string, StoredRun>();
  /** By run and user. */
  private readonly cancelRequests = new Map<string, CancelRequest>();
  private readonly keys = new Map<string, StartedUnderKey & { readonly now: number }>();
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

  async loadAll(runIds: readonly string[]): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]> {
    const loaded = await Promise.all(runIds.map((runId) => this.load(runId)));
    return loaded.flatMap((one) => one ?? []);
  }

  async eventBlocks(runId: string, fromIndex: number, limit: number): Promise<readonly EventBlock[]> {
    const blocks = this.runs.get(runId)?.blocks ?? [];
    return blocks.filter(({ firstIndex, count }) => firstIndex + count > fromIndex).slice(0, limit);
  }

  async textParts(runId: string, textId: string, from: number, limit: number): Promise<readonly string[]> {
    return [...partsOf(this.runs.get(runId)?.texts.get(textId) ?? '')].slice(from, from + limit);
  }

  async longTexts(runId: string): Promise<readonly StoredText[]> {
    return Array.from(this.runs.get(runId)?.texts ?? [], ([id, text]) => ({ id, text }));
  }

  async countEvents(runId: string, fromIndex: number, toIndex: number): Promise<number> {
    const blocks = this.runs.get(runId)?.blocks ?? [];
    return blocks.reduce((sum, { firstIndex, count }) => {
      const within = Math.min(firstIndex + count, toIndex) - Math.max(firstIndex, fromIndex);
      return sum + Math.max(0, within);
    }, 0);
  }

  async progress(runId: string): Promise<{ status: RunStatus; nextEventIndex: number } | undefined> {
    return this.runs.get(runId)?.run;
  }

  async now(): Promise<number> {
    return Date.now();
  }

  async due(...page: Page): Promise<readonly Run[]> {
    const now = Date.now();
    const isDue = ({ status, wakeAt }: Run) => status === 'paused' && wakeAt !== null && wakeAt <= now;
    return this.page(page, isDue, ({ wakeAt }) => wakeAt ?? now);
  }

  async expired(...page: Page): Promise<readonly Run[]> {
    const now = Date.now();
    const isExpired = ({ leaseExpiresAt }: Run) => leaseExpiresAt !== null && leaseExpiresAt <= now;
    return this.page(page, (run) => isOpen(run.status) && isExpired(run));
  }

  async waiting(limit: number, passed: number, of?: readonly string[]): Promise<readonly Run[]> {
    const line = new FairQueue<InLine & { readonly run: Run }>(priorities.length - 1);
    for (const { run } of this.runs.values())
      if (isOpen(run.status) && run.leaseExpiresAt !== null) line.began(inLine(run));
    const isWaiting = ({ status, leaseExpiresAt }: Run) => isOpen(status) && leaseExpiresAt === null;
    for (const run of this.page([this.runs.size, 0, of], isWaiting)) line.add({ ...inLine(run), run });
    const now = Date.now();
    return Array.from({ length: passed + limit }, () => line.take(now))
      .slice(passed)
      .flatMap((next) => next?.run ?? []);
  }

  async claim({ runId, attempt, owner, leaseMs, indexGap }: LeaseClaim): Promise<Run | undefined> {
    const now = Date.now();
    const stored = this.runs.get(runId);
    if (stored === undefined || stored.run.attempt !== attempt) return undefined;
    const { status, leaseExpiresAt } = stored.run;
    if (!isOpen(status) || (leaseExpiresAt ?? 0) > now) return undefined;
    const lease = { leaseOwner: owner, leaseExpiresAt: now + leaseMs };
    const nextEventIndex = stored.run.nextEventIndex + indexGap;
    stored.run = { ...stored.run, ...lease, attempt: attempt + 1, nextEventIndex, updatedAt: now };
    return stored.run;
  }

  async renew(owner: string, held: readonly HeldRun[], leaseMs: number): Promise<readonly string[]> {
    const isHeld = ({ runId, attempt }: HeldRun) => {
      const run = this.runs.get(runId)?.run;
      return run?.attempt === attempt && run.leaseOwner === owner && isOpen(run.status);
    };
    const kept = held.filter(isHeld).map(({ runId }) => runId);
    for (const runId of kept) this.setLease(runId, owner, Date.now() + leaseMs);
    return held.map(({ runId }) => runId).filter((runId) => !kept.includes(runId));
  }

  async noLongerWaiting(waiting: readonly HeldRun[]): Promise<readonly string[]> {
    const isGone = ({ runId, attempt }: HeldRun) => {
      const run = this.runs.get(runId)?.run;
      return run === undefined || !isOpen(run.status) || run.attempt !== attempt || run.leaseOwner !== null;
    };
    return waiting.filter(isGone).map(({ runId }) => runId);
  }

  async release(owner: string): Promise<void> {
    for (const stored of this.runs.values()) {
      const { run } = stored;
      if (run.leaseOwner !== owner || !isOpen(run.status)) continue;
      // it waits from now on, however long its last step took
      stored.run = { ...run, leaseOwner: null, leaseExpiresAt: null, updatedAt: Date.now() };
    }
  }

  async owners(): Promise<readonly string[]> {
    const owners = new Set<string>();
    for (const { run } of this.runs.values())
      if (isOpen(run.status) && run.leaseOwner) owners.add(run.leaseOwner);
    return [...owners];
  }

  async requestCancellation(request: CancelRequest): Promise<void> {
    for (const [key, { runId, requestedAt }] of this.cancelRequests) {
      const isOld = requestedAt < request.requestedAt - cancellationKeptMs;
      if (isOld && !this.isUnfinished(runId)) this.cancelRequests.delete(key);
    }
    const key = JSON.stringify([request.runId, request.userId]);
    const first = this.cancelRequests.get(key);
    if (first === undefined || !isSameTarget(first, request)) this.cancelRequests.set(key, request);
  }

  async cancellations(since: number): Promise<readonly CancelRequest[]> {
    return [...this.cancelRequests.values()].filter(
      ({ runId, requestedAt }) => requestedAt > since && (!this.runs.has(runId) || this.isUnfinished(runId)),
    );
  }

  async cancellation(runId: string, since: number): Promise<CancelRequest | undefined> {
    const requests = [...this.cancelRequests.values()].filter(
      (request) => request.runId === runId && request.requestedAt > since,
    );
    const run = this.runs.get(runId)?.run;
    return requests.find((request) => run !== undefined && appliesTo(request, run)) ?? requests[0];
  }

  async idempotentRun(key: IdempotencyKey, since: number): Promise<StartedUnderKey | undefined> {
    const started = this.keys.get(keyText(key));
    return started && started.now > since ? { runId: started.runId, payload: started.payload } : undefined;
  }

  async history(query: HistoryQuery): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]> {
    const inSession = [...this.runs.values()].filter(({ run }) => run.sessionId === query.sessionId);
    const own = inSession.findIndex(({ run }) => run.runId === query.runId || run.runId === query.copyOf);
    return inSession
      .slice(0, own === -1 ? inSession.length : own)
      .filter(({ run }) =>
        query.from === 'session'
          ? run.kind !== 'workflow'
          : run.kind === query.kind && run.componentId === query.componentId,
      )
      .filter(({ run }) => run.status === 'completed' && run.parentRunId === null)
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

  /** The oldest first. */
  all(): readonly Run[] {
    return Array.from(this.runs.values(), ({ run }) => run);
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
    const stored = this.runs.get(write.runId)?.run;
    if (write.insert === undefined) return isHeld(stored, write) ? null : 'fenced';
    if (stored !== undefined) return 'run_exists';
    const { idempotency } = write;
    if (idempotency && (this.keys.get(keyText(idempotency))?.now ?? 0) > idempotency.since)
      return 'key_taken';
    const owner = write.session && this.sessions.get(write.session.sessionId)?.userId;
    return owner !== undefined && owner !== write.session?.userId ? 'foreign_session' : null;
  }

  /** Approvals are not kept: only a service lists them. */
  private apply(write: RunWrite): void {
    const { runId, attempt, insert, idempotency, events, state, summary } = write;
    const lease = write.leaseMs === undefined ? {} : { leaseExpiresAt: Date.now() + write.leaseMs };
    const update = write.update && { ...write.update, ...lease };
    this.touchSession(write);
    if (insert !== undefined)
      this.runs.set(runId, { run: { ...insert, ...lease }, steps: new Map(), blocks: [], texts: new Map() });
    if (idempotency !== undefined) this.keys.set(keyText(idempotency), idempotency);
    const stored = this.storedRun(runId);
    if (update !== undefined) stored.run = { ...stored.run, ...update, attempt };
    if (write.replaces !== undefined) this.replaceRun(write.replaces, stored.run.updatedAt);
    for (const seq of write.removedSteps ?? []) stored.steps.delete(seq);
    for (const step of write.steps) stored.steps.set(step.seq, step);
    for (const { id, text } of write.texts?.added ?? []) stored.texts.set(id, text);
    if (events !== undefined) stored.blocks.push(events);
    forget(stored, write.forgotten);
    if (state !== undefined) this.changeState(state);
    if (summary !== undefined) this.replaceSummary(summary);
  }

  private touchSession({ session }: RunWrite): void {
    if (session === undefined) return;
    const known = this.sessions.get(session.sessionId);
    if (known !== undefined) known.name ??= session.name;
    else this.sessions.set(session.sessionId, { userId: session.userId, name: session.name, state: {} });
  }

  private replaceRun(runId: string, updatedAt: number): void {
    const replaced = this.runs.get(runId);
    if (replaced?.run.status !== 'completed') return;
    replaced.run = { ...replaced.run, status: 'regenerated', updatedAt };
  }

  private isUnfinished(runId: string): boolean {
    const status = this.runs.get(runId)?.run.status;
    return status !== undefined && !terminalStatuses.has(status);
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

  private storedRun(runId: string): StoredRun {
    const stored = this.runs.get(runId);
    if (stored === undefined) throw new Error(`The run ${runId} is not in the journal.`);
    return stored;
  }

  private setLease(runId: string, leaseOwner: string, leaseExpiresAt: number): void {
    const stored = this.storedRun(runId);
    stored.run = { ...stored.run, leaseOwner, leaseExpiresAt };
  }

  private page(
    [limit, passed, of]: Page,
    includes: (run: Run) => boolean,
    order = ({ createdAt }: Run) => createdAt,
  ): readonly Run[] {
    return Array.from(this.runs.values(), ({ run }) => run)
      .filter((run) => includes(run) && isOf(run, of))
      .sort((left, right) => order(left) - order(right))
      .slice(passed, passed + limit);
  }

  private forgetOldest(): void {
    if (this.runs.size < keptRuns + forgottenAtOnce) return;
    for (const [runId, { run }] of this.runs) {
      if (this.runs.size <= keptRuns) break;
      if (!isOpen(run.status)) this.runs.delete(runId);
    }
    for (const [key, { runId }] of this.keys) if (!this.runs.has(runId)) this.keys.delete(key);
    const alive = new Set([...this.runs.values()].map(({ run }) => run.sessionId));
    for (const sessionId of this.sessions.keys()) if (!alive.has(sessionId)) this.sessions.delete(sessionId);
  }
}

function inLine({ userId, kind, componentId, input, createdAt, updatedAt }: Run): InLine {
  const component = componentKey(kind, componentId);
  const level = levelOf(input.options.priority);
  return { userId, component, level, since: updatedAt, order: createdAt };
}

function isHeld(stored: Run | undefined, { attempt, claims }: RunWrite): boolean {
  if (claims === undefined) return stored?.attempt === attempt;
  return (
    stored?.attempt === claims.attempt &&
    stored.status === claims.status &&
    (stored.leaseExpiresAt ?? 0) <= Date.now()
  );
}

function isOf({ kind, componentId }: Run, components: readonly string[] | undefined): boolean {
  return components === undefined || components.includes(componentKey(kind, componentId));
}

function keyText({ userId, kind, componentId, key }: IdempotencyKey): string {
  return JSON.stringify([userId, kind, componentId, key]);
}

function isSameTarget(one: CancelRequest, other: CancelRequest): boolean {
  return (
    one.kind === other.kind && one.componentId === other.componentId && one.sessionId === other.sessionId
  );
}

function isOpen(status: RunStatus): boolean {
  return status === 'pending' || status === 'running';
}

function forget(stored: StoredRun, forgotten: RunWrite['forgotten']): void {
  for (const block of forgotten?.blocks ?? []) {
    const place = stored.blocks.findIndex(({ firstIndex }) => firstIndex === block.firstIndex);
    stored.blocks[place] = block;
  }
  for (const id of forgotten?.texts ?? []) stored.texts.delete(id);
  if (forgotten?.input !== undefined) stored.run = { ...stored.run, input: forgotten.input };
}

function inOrder({ steps }: StoredRun): StepRecord[] {
  return [...steps.values()].sort((left, right) => left.seq - right.seq);
}
