import { continueKey } from '../../core/runs/resume/continuation.js';
import { type Run, type StepRecord, terminalStatuses } from '../../core/runs/run.js';
import { type Span, type SpanKind, spanIdOf, traceIdOf } from '../../core/traces/span.js';

/** Spans in the JSON form of the OpenTelemetry protocol: ids in hex, 64-bit numbers as text. */

export type AttributeValue = Span['attributes'][string];

interface KeyValue {
  readonly key: string;
  readonly value: object;
}

const spanKinds = { internal: 1, client: 3 } as const;
const statusCodes = { UNSET: 0, OK: 1, ERROR: 2 } as const;

/** Of the flags of a span: it is recorded; whether its parent is elsewhere is known; and it is. */
const sampled = 0x001;
const knowsItsParent = 0x100;
const parentIsElsewhere = 0x200;

/** Longer texts are cut: what takes spans in refuses a request that is too large as a whole. */
export const longestValue = 65_536;

/** One span as a line of JSON. */
export function otlpSpan(span: Span, run: Run): string {
  const { parentSpanId, remoteParentId, statusMessage } = span;
  const parent = parentSpanId ?? remoteParentId;
  const end = span.endTime ?? run.updatedAt;
  const isRoot = span.stepKey === '';
  const elsewhere = parentSpanId === null && remoteParentId !== null ? parentIsElsewhere : 0;
  return JSON.stringify({
    traceId: span.traceId,
    spanId: span.spanId,
    ...(parent !== null && { parentSpanId: parent }),
    flags: sampled | knowsItsParent | elsewhere,
    name: wellFormed(span.name),
    kind: kindOf(span.kind),
    startTimeUnixNano: nanoseconds(span.startTime),
    endTimeUnixNano: nanoseconds(Math.max(end, span.startTime)),
    attributes: keyValues(span.attributes),
    ...(span.status === 'ERROR' && { events: [exceptionEvent(span, end)] }),
    ...(isRoot && linksOf(run)),
    status: {
      code: statusCodes[span.status],
      ...(statusMessage !== null && { message: text(statusMessage) }),
    },
  });
}

export function keyValues(attributes: Readonly<Record<string, AttributeValue>>): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key: wellFormed(key), value: anyValue(value) }));
}

/**
 * What is new since the run rested before: what ended then was sent then. The span of the run itself comes when the
 * run has ended, and so does what was left open.
 */
export function spansSinceRest(run: Run, steps: readonly StepRecord[], spans: readonly Span[]): Span[] {
  const isOver = terminalStatuses.has(run.status);
  const goesOn = steps.findLast(({ key, attempt }) => key === continueKey(attempt));
  const attempts = new Map(steps.map(({ key, attempt }) => [key, attempt]));
  return spans.filter(({ stepKey, endTime }) => {
    if (stepKey === '' || endTime === null) return isOver;
    if (goesOn === undefined || endTime >= goesOn.startedAt) return true;
    // an answer is noted a moment before the run continues with it
    return (attempts.get(stepKey) ?? 0) >= goesOn.attempt;
  });
}

function kindOf(kind: SpanKind): number {
  return kind === 'LLM' ? spanKinds.client : spanKinds.internal;
}

function exceptionEvent({ statusMessage, attributes }: Span, at: number): object {
  const type = attributes['exception.type'] ?? attributes['error.type'];
  return {
    timeUnixNano: nanoseconds(at),
    name: 'exception',
    attributes: keyValues({
      ...(type !== undefined && { 'exception.type': type }),
      'exception.message': statusMessage ?? '',
    }),
  };
}

/** A copy leads to the run that it was made from. */
function linksOf({ lineage }: Run): { links?: object[] } {
  const original = lineage?.forkedFromRunId ?? lineage?.regeneratedFrom;
  if (original === undefined) return {};
  const link = {
    traceId: traceIdOf({ runId: original, traceParent: null }),
    spanId: spanIdOf(original, ''),
    attributes: keyValues({ 'runyard.link': 'forked_from', 'runyard.run_id': original }),
  };
  return { links: [link] };
}

function anyValue(value: AttributeValue): object {
  switch (typeof value) {
    case 'string':
      return { stringValue: text(value) };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: finite(value) };
    default:
      return { arrayValue: { values: value.map((item) => ({ stringValue: text(item) })) } };
  }
}

/** JSON has no other way to say these. */
function finite(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

function text(value: string): string {
  return wellFormed(value.length > longestValue ? `${value.slice(0, longestValue)}…` : value);
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Half a character is refused together with all that is sent beside it. */
function wellFormed(value: string): string {
  return value.replace(loneSurrogate, '\uFFFD');
}

export function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`;
}
