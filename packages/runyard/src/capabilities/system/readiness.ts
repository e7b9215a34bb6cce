import { isReported } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import type { EngineCondition } from '../../core/runs/engine-condition.js';
import type { RunSlots } from '../../core/runs/leases/run-slots.js';
import type { PoolUse } from '../../platform/storage/database.js';
import type { DatabaseProbe } from '../../platform/storage/probe.js';
import { runCounts } from './run-counts.js';

/** A database and the engine of its runs. */
export interface ReadyPart {
  readonly databaseId: string;
  probe(): Promise<DatabaseProbe>;
  engine(): EngineCondition;
  /** Whether the Redis beside it can be used; undefined where there is none. */
  redis?(): boolean | undefined;
  /** The connections to it; none of a database that has no pools. */
  pools?(): readonly PoolUse[];
}

/** Of one pool: connections that are used, open and allowed, and calls that wait for one. */
interface PoolCounts {
  readonly in_use: number;
  readonly open: number;
  readonly size: number;
  readonly waiting: number;
}

type DatabaseState = 'ok' | 'unavailable' | 'read_only' | 'unknown';
type SchemaState = 'current' | 'older' | 'newer' | 'unknown';
type EngineState = EngineCondition | 'unknown';

interface PartState {
  readonly databaseId: string;
  readonly database: DatabaseState;
  readonly schema: SchemaState;
  readonly engine: EngineState;
}

type RedisState = 'ok' | 'unavailable';

type CheckStatus = 'ok' | 'failed' | 'unknown';

interface Check<State extends string> {
  readonly status: CheckStatus;
  /** By the id of the database. */
  readonly databases: Readonly<Record<string, State>>;
}

export interface ReadinessReport {
  readonly status: 'ready' | 'not_ready';
  readonly checks: {
    readonly database: Check<DatabaseState> & {
      /** By the id of the database, and by the name of the pool. */
      readonly pools?: Readonly<Record<string, Readonly<Record<string, PoolCounts>>>>;
    };
    readonly migrations: Check<SchemaState>;
    readonly engine: Check<EngineState> & { readonly runs?: ReturnType<typeof runCounts> };
    readonly stopping: { readonly status: CheckStatus };
    /** Requests are served without it: it does not count. */
    readonly redis?: Check<RedisState>;
  };
}

/** A further request within this time gets the same answer. */
const keptMs = 1_000;
/** A database that has not answered by then is as good as away. */
const patienceMs = 2_000;

/**
 * Whether requests should be sent here: each database stores, has the schema that this version needs, and its engine
 * keeps its runs; and the service is not stopping. However many ask, a database is asked once at a time.
 */
export class Readiness {
  #parts: readonly PartWatch[] = [];
  #slots: RunSlots | undefined;
  #states: readonly PartState[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #stopping = false;

  constructor(private readonly log: Log) {}

  /** The service is open. Before that it is not ready, and nothing is known. */
  serve(parts: readonly ReadyPart[], slots: RunSlots): void {
    this.#parts = parts.map((part) => new PartWatch(part, this.log));
    this.#slots = slots;
  }

  /** From now on not ready. It makes no more checks: their targets are about to be closed. */
  stop(): void {
    this.#stopping = true;
  }

  async report(): Promise<ReadinessReport> {
    if (!this.#stopping && performance.now() - this.#lookedAt >= keptMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
    return this.#reportNow();
  }

  async #look(): Promise<void> {
    this.#states = await Promise.all(this.#parts.map((part) => part.state()));
    this.#lookedAt = performance.now();
  }

  /** As they are now, whatever the state of the databases was. */
  #pools() {
    const pools = this.#parts.flatMap(({ part }) => {
      const counts = (part.pools?.() ?? []).map(
        ({ name, inUse, open, size, waiting }): [string, PoolCounts] => [
          name,
          { in_use: inUse, open, size, waiting },
        ],
      );
      return counts.length === 0 ? [] : [[part.databaseId, Object.fromEntries(counts)] as const];
    });
    return pools.length === 0 ? {} : { pools: Object.fromEntries(pools) };
  }

  #reportNow(): ReadinessReport {
    const checks = {
      database: { ...checkOf(this.#states, ({ database }) => database, 'ok'), ...this.#pools() },
      migrations: checkOf(this.#states, ({ schema }) => schema, 'current'),
      engine: {
        ...checkOf(this.#states, ({ engine }) => engine, 'ok'),
        ...(this.#slots !== undefined && { runs: runCounts(this.#slots) }),
      },
      stopping: { status: this.#stopping ? ('failed' as const) : ('ok' as const) },
    };
    const ready = Object.values(checks).every(({ status }) => status === 'ok');
    return { status: ready ? 'ready' : 'not_ready', checks: { ...checks, ...this.#redisNow() } };
  }

  #redisNow(): { redis?: Check<RedisState> } {
    const states = this.#parts.flatMap(({ part }) => {
      const { databaseId } = part;
      const isReachable = part.redis?.();
      if (isReachable === undefined) return [];
      return { databaseId, redis: isReachable ? ('ok' as const) : ('unavailable' as const) };
    });
    return states.length === 0 ? {} : { redis: checkOf(states, ({ redis }) => redis, 'ok') };
  }
}

/** Asks one database, never twice at the same time. */
class PartWatch {
  #asking: Promise<DatabaseProbe> | undefined;
  #schema: SchemaState = 'unknown';
  #faulty = false;

  constructor(
    readonly part: ReadyPart,
    private readonly log: Log,
  ) {}

  async state(): Promise<PartState> {
    const { databaseId } = this.part;
    const database = await this.#ask();
    return { databaseId, database, schema: this.#schema, engine: this.part.engine() };
  }

  async #ask(): Promise<DatabaseState> {
    this.#asking ??= this.part.probe().finally(() => {
      this.#asking = undefined;
    });
    try {
      const { schema, readOnly } = await within(this.#asking, patienceMs);
      const { current, latest } = schema;
      this.#schema = current === latest ? 'current' : current < latest ? 'older' : 'newer';
      this.#faulty = false;
      return readOnly ? 'read_only' : 'ok';
    } catch (error) {
      // once for each outage: an orchestrator asks every few seconds
      if (!this.#faulty && !isReported(error))
        this.log.warn({ database: this.part.databaseId, err: error }, 'a database is not ready');
      this.#faulty = true;
      return 'unavailable';
    }
  }
}

function checkOf<Part extends { readonly databaseId: string }, State extends string>(
  states: readonly Part[],
  pick: (state: Part) => State,
  good: State,
): Check<State> {
  const databases = Object.fromEntries(states.map((state) => [state.databaseId, pick(state)]));
  const found: string[] = Object.values(databases);
  const status =
    found.length === 0 || found.includes('unknown')
      ? 'unknown'
      : found.every((state) => state === good)
        ? 'ok'
        : 'failed';
  return { status, databases };
}

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const overdue = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(overdue));
  });
}
