/** Where a caller's own system is within its trace. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether that system records its part of the trace. */
  readonly sampled: boolean;
}

/** What follows, in versions that are yet to come, is nothing that is known here. */
export const traceParentLength = 55;

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` by the rules of W3C Trace Context. Undefined for an invalid value: its receiver
 * begins a trace of its own.
 */
export function parseTraceParent(value: string): TraceParent | undefined {
  const match = form.exec(value);
  if (match === null) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match;
  // a version that is yet to come may say more after the flags, version 00 may not, and ff is never one
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
