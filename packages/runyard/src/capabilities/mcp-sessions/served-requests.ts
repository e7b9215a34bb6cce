import { newId } from '../../core/ids.js';
import { isLeaseOwnerGone, newLeaseOwner } from '../../platform/engine/local/lease-owner.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import type { Database } from '../../platform/storage/database.js';
import type { FoundRequest, McpSessionStore, StoredEvent, StoredRequest } from './store.js';

/** A stored request that this process serves. */
export interface ServedRequest {
  /** A message of the client that reached another process. */
  receive(message: unknown): void;
  /** Another process serves it now. */
  lose(): void;
}

/** Without hints: how often to look for messages of clients, and for the progress of requests of other processes. */
const lookMs = 500;

/** The requests that this process serves and that are stored, and what it knows of those of other processes. */
export class ServedRequests {
  private readonly owner = newLeaseOwner();
  private readonly served = new Map<string, ServedRequest>();
  /** Called when a request of another process may have progressed. */
  private readonly watchers = new Map<string, Set<() => void>>();
  private stopTimers: (() => void)[] = [];
  private taking: Promise<void> | undefined;

  constructor(
    private readonly store: McpSessionStore,
    private readonly database: Database,
    private readonly leaseMs: number,
  ) {}

  /** Stores a request with what was sent for it so far. False when its session has ended. */
  async add(request: StoredRequest, events: readonly StoredEvent[], served: ServedRequest): Promise<boolean> {
    const added = await this.store.insertRequest(request, this.owner, this.leaseMs, events);
    if (added) this.serve(request.requestKey, served);
    return added;
  }

  /** Adds what was sent. False when another process serves the request. */
  async append(requestKey: string, events: readonly StoredEvent[], answered: boolean): Promise<boolean> {
    const appended = await this.store.append(requestKey, this.owner, events, answered);
    if (answered || !appended) this.forget(requestKey);
    if (answered && appended) this.publish(requestKey);
    return appended;
  }

  /** Takes over a request that no process serves. Answers with the last position that was used; undefined: not taken. */
  async takeOver(
    { requestKey, leaseOwner }: FoundRequest,
    served: ServedRequest,
  ): Promise<number | undefined> {
    if (leaseOwner !== null && !this.isGone(leaseOwner)) return undefined;
    const position = await this.store.takeOver(requestKey, this.owner, this.leaseMs, leaseOwner);
    if (position !== undefined) this.serve(requestKey, served);
    return position;
  }

  find(requestKey: string, sessionId: string): Promise<FoundRequest | undefined> {
    return this.store.request(requestKey, sessionId);
  }

  /** What was sent after a position, or the first part of it. */
  events(requestKey: string, after: number): Promise<StoredEvent[]> {
    return this.store.events(requestKey, after);
  }

  /** Leaves a message of a client for the process that serves the request. */
  async leave(sessionId: string, requestKey: string, message: unknown): Promise<void> {
    const left = await this.store.leave(sessionId, requestKey, newId(), JSON.stringify(message));
    if (left) this.publish(requestKey);
  }

  /** The key of the request of a session that has this id and is not answered yet. */
  openRequest(sessionId: string, messageId: string): Promise<string | undefined> {
    return this.store.openRequest(sessionId, messageId);
  }

  /** Calls `wake` now and then, and when the request was answered elsewhere. The returned function ends that. */
  watch(requestKey: string, wake: () => void): () => void {
    this.begin();
    const watchers = this.watchers.get(requestKey) ?? new Set();
    this.watchers.set(requestKey, watchers.add(wake));
    return () => {
      watchers.delete(wake);
      if (watchers.size === 0) this.watchers.delete(requestKey);
      this.endIfIdle();
    };
  }

  /** Gives a request back that was not answered. */
  async release(requestKey: string): Promise<void> {
    if (!this.served.has(requestKey)) return;
    this.forget(requestKey);
    await this.store.release([requestKey], this.owner);
    this.publish(requestKey);
  }

  /** Gives back what is not answered: any process may continue it. */
  async close(): Promise<void> {
    const keys = [...this.served.keys()];
    this.served.clear();
    this.watchers.clear();
    this.endIfIdle();
    if (keys.length > 0) await this.store.release(keys, this.owner);
    for (const key of keys) this.publish(key);
  }

  private serve(requestKey: string, served: ServedRequest): void {
    this.served.set(requestKey, served);
    this.begin();
  }

  private forget(requestKey: string): void {
    this.served.delete(requestKey);
    this.endIfIdle();
  }

  private isGone(owner: string): boolean {
    return this.database.dialect === 'sqlite' && isLeaseOwnerGone(owner);
  }

  private publish(requestKey: string): void {
    this.database.notifications.publish({ kind: 'request_changed', runId: requestKey });
  }

  private begin(): void {
    if (this.stopTimers.length > 0) return;
    this.stopTimers = [
      systemTimers.every(this.leaseMs / 3, () => void this.renew().catch(() => {})),
      systemTimers.every(lookMs, () => this.look()),
      this.database.notifications.subscribe(({ kind, runId }) => {
        if (kind !== 'request_changed') return;
        if (this.served.has(runId)) this.takeMessages();
        for (const wake of [...(this.watchers.get(runId) ?? [])]) wake();
      }),
    ];
  }

  private endIfIdle(): void {
    if (this.served.size > 0 || this.watchers.size > 0) return;
    for (const stop of this.stopTimers) stop();
    this.stopTimers = [];
  }

  private look(): void {
    // where one process uses the database, every message reaches it
    if (this.database.dialect === 'postgres' && this.served.size > 0) this.takeMessages();
    for (const watchers of [...this.watchers.values()]) for (const wake of [...watchers]) wake();
  }

  /** Takes what clients left for requests that are served here. One look at a time; an outage is left to the next one. */
  takeMessages(): void {
    this.taking ??= this.takeNow()
      .catch(() => {})
      .finally(() => {
        this.taking = undefined;
      });
  }

  private async takeNow(): Promise<void> {
    for (const key of await this.store.waiting([...this.served.keys()])) {
      const messages = await this.store.take(key, this.owner);
      if (messages === undefined) this.lose(key);
      else for (const message of messages) this.served.get(key)?.receive(JSON.parse(message));
    }
  }

  private async renew(): Promise<void> {
    const keys = [...this.served.keys()];
    if (keys.length === 0) return;
    const held = await this.store.renew(keys, this.owner, this.leaseMs);
    for (const key of keys) if (!held.has(key)) this.lose(key);
  }

  /** Another process serves it now, or it was answered. */
  private lose(requestKey: string): void {
    const served = this.served.get(requestKey);
    if (served === undefined) return;
    this.forget(requestKey);
    served.lose();
  }
}
