import { auxiliaryRecord } from '../agents/journal-records.js';
import { childrenOf } from '../runs/execution/child-run.js';
import { childPrefix } from '../runs/journal/child-steps.js';
import { readIf } from '../runs/journal/codec.js';
import { childOutcome, thrownBy } from '../runs/journal/records.js';
import { triedKey } from '../runs/journal/try-keys.js';
import { type Run, type StepRecord, terminalStatuses } from '../runs/run.js';
import { failureAttributes, ownership } from './attributes.js';
import {
  describeHook,
  hookFailure,
  knowledgeAttributes,
  knowledgeFailure,
  toolAttributes,
  toolFailure,
  waitAttributes,
} from './call-spans.js';
import { type LlmSpanMaking, llmAttributes, llmSpanName } from './llm-span.js';
import { stepAttributes, stepFailure, stepSpanName } from './node-span.js';
import { runAttributes, runKinds } from './run-span.js';
import {
  isFailedStep,
  isSpanStep,
  LazySpan,
  runSpanName,
  type Span,
  type SpanAttributes,
  type SpanKind,
  spanIdOf,
  statusOfRun,
  traceIdOf,
} from './span.js';
import { parseTraceParent } from './trace-parent.js';
import type { TraceSource } from './trace-source.js';
import { TracedRun } from './traced-run.js';

/**
 * Folds the journal of a run into its spans: the run's own first, the others in the order in which they began. The
 * attributes of a span are built when they are read: what a model was shown can be long.
 */
export function spansOf(source: TraceSource): Span[] {
  const fold = new SpanFold(source);
  const { run, steps, history = new Map(), shown } = source;
  const traced = new TracedRun(run, steps, '', history, shown);
  const inside = fold.stepSpans(traced, steps);
  return [
    fold.rootSpan(traced),
    ...inside.sort((left, right) => left.seq - right.seq).map(({ span }) => span),
  ];
}

/** What depends on the kind of a step. */
interface Described {
  readonly name: string;
  readonly kind: SpanKind;
  readonly message?: string | undefined;
  readonly type?: string | undefined;
  attributes(): SpanAttributes;
}

interface PlacedSpan {
  readonly seq: number;
  readonly span: Span;
}

class SpanFold {
  private readonly traceId: string;
  private readonly keys: ReadonlySet<string>;
  private readonly making: LlmSpanMaking;
  private readonly spanIds = new Map<string, string>();

  constructor(private readonly source: TraceSource) {
    this.traceId = traceIdOf(source.run);
    this.keys = new Set(source.steps.filter(isSpanStep).map(({ key }) => key));
    this.making = { prices: source.prices ?? {}, brief: source.brief ?? false };
  }

  rootSpan(traced: TracedRun): Span {
    const { run } = traced;
    const status = statusOfRun(run);
    const failure = run.result?.error;
    const message = status === 'ERROR' ? (failure?.message ?? contentText(run)) : null;
    const kind = runKinds[run.kind];
    return new LazySpan(
      {
        spanId: this.spanId(''),
        traceId: this.traceId,
        parentSpanId: null,
        remoteParentId: (run.traceParent && parseTraceParent(run.traceParent)?.spanId) || null,
        name: runSpanName(run),
        kind,
        status,
        statusMessage: message,
        startTime: run.createdAt,
        endTime: status === 'UNSET' ? null : this.endOfRun(),
        runId: run.runId,
        stepKey: '',
      },
      () => ({
        ...this.head(run, kind),
        ...runAttributes(traced, this.source.workflow, this.making.brief),
        ...failureAttributes(message, failure?.type),
      }),
    );
  }

  /** The spans of a run's steps, including those of the runs within it. */
  stepSpans(traced: TracedRun, all: readonly StepRecord[]): PlacedSpan[] {
    const { history = new Map() } = this.source;
    const children = new Map(
      childrenOf(traced.run, all).map(({ step, run, steps }) => {
        const prefix = traced.prefix + childPrefix(step.key);
        return [step.key, { traced: new TracedRun(run, steps, prefix, history), steps }] as const;
      }),
    );
    const own = traced.steps.filter(isSpanStep).map((step) => ({
      seq: step.seq,
      span: this.stepSpan(traced, step, children.get(step.key)?.traced),
    }));
    return [...own, ...[...children.values()].flatMap((child) => this.stepSpans(child.traced, child.steps))];
  }

  private stepSpan(traced: TracedRun, step: StepRecord, inside: TracedRun | undefined): Span {
    const described = inside === undefined ? this.describe(traced, step) : this.describeRun(step, inside);
    const { name, kind } = described;
    const failed = isFailedStep(step);
    const message = failed ? (described.message ?? 'It failed') : null;
    const { runId } = this.source.run;
    return new LazySpan(
      {
        spanId: this.spanId(traced.prefix + step.key),
        traceId: this.traceId,
        parentSpanId: this.spanId(this.parentKey(traced, step)),
        remoteParentId: null,
        name,
        kind,
        status: failed ? 'ERROR' : step.status === 'completed' ? 'OK' : 'UNSET',
        statusMessage: message,
        startTime: traced.startOf(step),
        endTime: step.endedAt ?? (terminalStatuses.has(this.source.run.status) ? this.endOfRun() : null),
        runId,
        stepKey: traced.prefix + step.key,
      },
      () => ({
        ...this.head(traced.run, kind),
        ...described.attributes(),
        ...failureAttributes(message, described.type),
      }),
    );
  }

  /** Children name the id of their parent: it is hashed once. */
  private spanId(key: string): string {
    const known = this.spanIds.get(key) ?? spanIdOf(this.source.run.runId, key);
    this.spanIds.set(key, known);
    return known;
  }

  /** What the attributes of every span begin with. */
  private head(run: Run, kind: SpanKind): SpanAttributes {
    const { brief } = this.making;
    return { ...(!brief && { 'openinference.span.kind': rawKinds[kind] }), ...ownership(run, brief) };
  }

  /** The step that it is a part of, or else the run. */
  private parentKey({ prefix }: TracedRun, { parentKey }: StepRecord): string {
    if (parentKey !== null && this.keys.has(prefix + parentKey)) return prefix + parentKey;
    return prefix === '' ? '' : prefix.slice(0, -childPrefix('').length);
  }

  private endOfRun(): number {
    const { run, steps } = this.source;
    if (run.status !== 'regenerated') return run.updatedAt;
    // it was changed last when another one took its place
    return steps.reduce((latest, { endedAt }) => Math.max(latest, endedAt ?? 0), run.createdAt);
  }

  private describeRun(step: StepRecord, inside: TracedRun): Described {
    const { run } = inside;
    const failure = readIf(step, childOutcome)?.result.error;
    const thrown = thrownBy(step);
    return {
      name: runSpanName(run),
      kind: runKinds[run.kind],
      message: thrown?.message ?? failure?.message ?? contentText(run) ?? undefined,
      type: thrown?.name ?? failure?.type,
      attributes: () => runAttributes(inside, undefined, this.making.brief),
    };
  }

  private describe(traced: TracedRun, step: StepRecord): Described {
    const tried = step.kind === 'try' ? traced.step(triedKey(step)) : step;
    const thrown = thrownBy(step);
    const failure = { message: thrown?.message, type: thrown?.name };
    switch (tried?.kind) {
      case 'model':
      case 'auxiliary':
        return {
          name: llmSpanName(traced, step),
          kind: 'LLM',
          ...failure,
          ...auxiliaryFailure(step),
          attributes: () => llmAttributes(traced, step, this.making),
        };
      case 'tool':
        return {
          name: step.name,
          kind: 'TOOL',
          ...failure,
          ...toolFailure(step),
          attributes: () => toolAttributes(traced, step, this.making.brief),
        };
      case 'knowledge':
        return {
          name: step.name,
          kind: 'TOOL',
          ...failure,
          ...knowledgeFailure(step),
          attributes: () => knowledgeAttributes(step),
        };
      case 'hook':
        return { ...describeHook(step), ...failure, ...hookFailure(step) };
      case 'wait':
        return { name: `wait_for_${step.name}`, kind: 'WAIT', attributes: () => waitAttributes(step) };
      default: {
        const { runId } = this.source.run;
        return {
          name: stepSpanName(traced, tried ?? step),
          kind: 'WORKFLOW',
          message: stepFailure(step),
          type: thrown?.name,
          attributes: () => stepAttributes(traced, step, runId),
        };
      }
    }
  }
}

/** The kinds of OpenInference that those of the wire are read from. */
const rawKinds: Record<SpanKind, string> = {
  AGENT: 'AGENT',
  TEAM: 'AGENT',
  WORKFLOW: 'CHAIN',
  LLM: 'LLM',
  TOOL: 'TOOL',
  GUARDRAIL: 'GUARDRAIL',
  WAIT: 'WAIT',
};

function contentText({ result }: Run): string | null {
  return typeof result?.content === 'string' && result.content !== '' ? result.content : null;
}

function auxiliaryFailure(step: StepRecord): { message?: string } {
  const failure = step.kind === 'auxiliary' ? readIf(step, auxiliaryRecord)?.failure : undefined;
  return failure === undefined ? {} : { message: failure };
}
