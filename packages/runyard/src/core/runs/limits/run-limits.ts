import { isJob, type RunKind } from '../run.js';

/**
 * How much one run may do, what runs inside it included. A limit that is left out has its default; null removes the
 * default. What the service allows is a ceiling above all of them.
 */
export interface RunLimits {
  /** Model calls of the conversation of the run itself. */
  readonly turns?: number | null;
  /** Tool calls that models ask for. */
  readonly toolCalls?: number | null;
  /** Tokens of all model calls. */
  readonly tokens?: number | null;
  /** US dollars for all model calls. A model without a known price costs nothing here. */
  readonly cost?: number | null;
  /** Milliseconds of execution. The time in which a run waits for a person does not count. */
  readonly timeMs?: number | null;
  /**
   * What the run holds: the inputs and outputs of its steps, an answer that is being written, the session state. A
   * character counts as one byte.
   */
  readonly bytes?: number | null;
}

export interface WorkflowLimits extends Omit<RunLimits, 'turns'> {
  /** Steps that are executed, those of all iterations and of workflows inside included. */
  readonly steps?: number | null;
}

/** The limits of a component of any kind. */
export type AnyLimits = RunLimits & WorkflowLimits;
export type LimitName = keyof AnyLimits;

/** What has limits. */
export interface Limited {
  readonly kind: RunKind;
  readonly id: string;
  readonly limits?: AnyLimits | undefined;
}

/** One limit that holds for a run, and who set it. */
export interface Bound {
  readonly limit: LimitName;
  readonly value: number;
  readonly source: 'own' | 'service' | 'default';
}

export type Bounds = Readonly<Partial<Record<LimitName, Bound>>>;

/** Holds an execution to its limits, as the code that executes the run sees it. */
export interface ExecutionGuard {
  /** Aborted when the run ends before its work does. */
  readonly signal: AbortSignal;
  /** The limit that ended this run itself, if one did. */
  readonly exceeded: Error | undefined;
  /** For how long the run was executed, earlier executions included. */
  readonly executedMs: number;
  /** Sets the limits of the run's own, where they are known only now. */
  limit(limits: AnyLimits): void;
  /** Throws when the run, or one around it, would hold too much with so many bytes more. */
  hold(bytes: number): void;
  /** Does the work of the run within its time; rejects with the limit that was met even if the work does not notice. */
  within<T>(work: () => Promise<T>): Promise<T>;
}

const day = 86_400_000;

const megabyte = 1_048_576;

const ofConversations = {
  turns: 500,
  toolCalls: 10_000,
  tokens: 100_000_000,
  timeMs: day,
  bytes: 64 * megabyte,
} as const;

/**
 * Several times what the longest honest runs need: a coding agent that works for a day stays below a few hundred
 * turns, a workflow may loop over all rows of a table. There is no default for costs: what is much differs too widely.
 */
const defaultLimits: Readonly<Record<RunKind, AnyLimits>> = {
  agent: ofConversations,
  team: ofConversations,
  workflow: {
    steps: 100_000,
    toolCalls: 100_000,
    tokens: 1_000_000_000,
    timeMs: 7 * day,
    bytes: 256 * megabyte,
  },
};

const limitNames: readonly LimitName[] = ['turns', 'toolCalls', 'tokens', 'cost', 'timeMs', 'bytes', 'steps'];

/** Of a job (`jobs/job.ts`). */
const jobLimits: AnyLimits = { steps: 100_000, timeMs: 7 * day, bytes: 256 * megabyte };

interface KnownBounds {
  readonly limits: AnyLimits | undefined;
  readonly ceiling: AnyLimits;
  readonly bounds: Bounds;
}

/** By component: the limits of its runs are the same, and each run would keep its own. */
const known = new WeakMap<Limited, KnownBounds>();

/** The limits that hold for a run: its own or the default, and never more than the service allows. */
export function boundsOf(owner: Limited, ceiling: AnyLimits): Bounds {
  const { limits } = owner;
  const earlier = known.get(owner);
  if (earlier !== undefined && earlier.limits === limits && earlier.ceiling === ceiling)
    return earlier.bounds;
  const bounds = newBounds(owner, ceiling);
  known.set(owner, { limits, ceiling, bounds });
  return bounds;
}

function newBounds({ kind, limits }: Limited, ceiling: AnyLimits): Bounds {
  const bounds: Partial<Record<LimitName, Bound>> = {};
  const usual = isJob({ kind }) ? jobLimits : defaultLimits[kind];
  for (const limit of limitNames) {
    const bound = boundOf(limit, limits?.[limit], usual[limit], ceiling[limit]);
    if (bound !== undefined) bounds[limit] = bound;
  }
  return bounds;
}

function boundOf(
  limit: LimitName,
  own: number | null | undefined,
  usual: number | null | undefined,
  ceiling: number | null | undefined,
): Bound | undefined {
  // a service that sets a ceiling, or sets none explicitly, has decided about the default too
  const fallback = ceiling === undefined ? usual : undefined;
  const wanted = own === undefined ? fallback : own;
  if (typeof ceiling === 'number' && (typeof wanted !== 'number' || ceiling < wanted))
    return { limit, value: ceiling, source: 'service' };
  if (typeof wanted !== 'number') return undefined;
  return { limit, value: wanted, source: own === undefined ? 'default' : 'own' };
}
