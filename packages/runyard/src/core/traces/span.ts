import { createHash } from 'node:crypto';
import { inheritedAttempt, type Run, type StepKind, type StepRecord } from '../runs/run.js';
import { parseTraceParent } from './trace-parent.js';

/** What a piece of work was, as the wire names it. */
export type SpanKind = 'AGENT' | 'TEAM' | 'WORKFLOW' | 'LLM' | 'TOOL' | 'GUARDRAIL' | 'WAIT';

/** `UNSET`: it is in progress, or its outcome will never be known. */
export type SpanStatus = 'OK' | 'ERROR' | 'UNSET';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A piece of work within a trace. */
export interface Span {
  readonly spanId: string;
  readonly traceId: string;
  /** Null for the span of the run itself. */
  readonly parentSpanId: string | null;
  /** Set on the span of the run itself when the caller's own system began the trace: its span. */
  readonly remoteParentId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly status: SpanStatus;
  /** What went wrong; null unless the status is `ERROR`. */
  readonly statusMessage: string | null;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  /** Null while it is in progress. */
  readonly endTime: number | null;
  /** The outermost run, whose journal contains it. */
  readonly runId: string;
  /** The step of that journal; empty for the run itself. */
  readonly stepKey: string;
  /** OpenInference, `gen_ai.*` and `agno.*` keys. */
  readonly attributes: SpanAttributes;
}

/**
 * A span whose attributes are made when they are read for the first time. A class: objects with a getter of their own
 * are slow to make and to read.
 */
export class LazySpan implements Span {
  readonly spanId: string;
  readonly traceId: string;
  readonly parentSpanId: string | null;
  readonly remoteParentId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly status: SpanStatus;
  readonly statusMessage: string | null;
  readonly startTime: number;
  readonly endTime: number | null;
  readonly runId: string;
  readonly stepKey: string;
  readonly #make: () => SpanAttributes;
  #made: SpanAttributes | undefined;

  constructor(span: Omit<Span, 'attributes'>, attributes: () => SpanAttributes) {
    this.spanId = span.spanId;
    this.traceId = span.traceId;
    this.parentSpanId = span.parentSpanId;
    this.remoteParentId = span.remoteParentId;
    this.name = span.name;
    this.kind = span.kind;
    this.status = span.status;
    this.statusMessage = span.statusMessage;
    this.startTime = span.startTime;
    this.endTime = span.endTime;
    this.runId = span.runId;
    this.stepKey = span.stepKey;
    this.#make = attributes;
  }

  get attributes(): SpanAttributes {
    this.#made ??= this.#make();
    return this.#made;
  }
}

/**
 * The steps that are spans, beside the run itself. Lists count them in the database, by the same rules: kind, and
 * `attempt` other than `inheritedAttempt`; failed are those with a status `error` or anything in `error`.
 */
export const spanStepKinds = [
  'model',
  'auxiliary',
  'tool',
  'member',
  'step',
  'hook',
  'wait',
  'try',
  'knowledge',
] as const satisfies readonly StepKind[];

const spanned: ReadonlySet<StepKind> = new Set(spanStepKinds);

/** What a run was copied with happened in another trace. */
export function isSpanStep({ kind, attempt }: Pick<StepRecord, 'kind' | 'attempt'>): boolean {
  return spanned.has(kind) && attempt !== inheritedAttempt;
}

export function isFailedStep({ status, error }: Pick<StepRecord, 'status' | 'error'>): boolean {
  return status === 'error' || error !== null;
}

/** The trace of a run: the one that its caller's system began, or one of its own, known by the run's id. */
export function traceIdOf({ runId, traceParent }: Pick<Run, 'runId' | 'traceParent'>): string {
  const begun = traceParent === null ? undefined : parseTraceParent(traceParent);
  if (begun !== undefined) return begun.traceId;
  const digits = runId.replaceAll('-', '').toLowerCase();
  return uuid.test(runId) && digits !== noTrace ? digits : hashOf(runId).slice(0, 32);
}

/** The span of a step, or with an empty key that of the run itself. */
export function spanIdOf(runId: string, stepKey: string): string {
  return hashOf(`${runId} ${stepKey}`).slice(0, 16);
}

/** The status of a trace: a failure after which the run continued is not one of the run. */
export function statusOfRun({ status }: Pick<Run, 'status'>): SpanStatus {
  if (status === 'running' || status === 'pending') return 'UNSET';
  return status === 'error' ? 'ERROR' : 'OK';
}

/** The name of the span of a run, and of its trace. */
export function runSpanName({ kind, componentId, componentName }: NamedRun): string {
  const name = componentName ?? componentId;
  return `${nameInSpan(name === '' ? fallbackNames[kind] : name)}.arun`;
}

type NamedRun = Pick<Run, 'kind' | 'componentId' | 'componentName'>;

/** A component's name as the names of spans hold it. */
export function nameInSpan(name: string): string {
  return name.replace(/[ -]/g, '_');
}

const fallbackNames = { agent: 'Agent', team: 'Team', workflow: 'Workflow' } as const;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** No trace has this id. */
const noTrace = '0'.repeat(32);

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
