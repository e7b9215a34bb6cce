import type { TraceSpan } from '@runyard/client';

/** A span with its place in the tree and in time. */
export interface PlacedSpan {
  readonly span: TraceSpan;
  readonly depth: number;
  readonly parent: string | undefined;
  readonly hasChildren: boolean;
  /** Its number among its siblings, from 1. */
  readonly position: number;
  readonly siblings: number;
  readonly start: number;
  readonly end: number;
}

/** All spans in the order in which they are shown. Without recursion: a tree may be deep. */
export function placed(tree: readonly TraceSpan[]): readonly PlacedSpan[] {
  const spans: PlacedSpan[] = [];
  const waiting: Omit<PlacedSpan, 'hasChildren' | 'start' | 'end'>[] = [];
  const push = (list: readonly TraceSpan[], depth: number, parent: string | undefined) => {
    for (let at = list.length - 1; at >= 0; at -= 1) {
      const span = list[at];
      if (span) waiting.push({ span, depth, parent, position: at + 1, siblings: list.length });
    }
  };
  push(tree, 0, undefined);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const children = next.span.spans ?? [];
    const start = Date.parse(next.span.start_time);
    const end = Math.max(start, Date.parse(next.span.end_time));
    spans.push({ ...next, hasChildren: children.length > 0, start, end });
    push(children, next.depth + 1, next.span.id);
  }
  return spans;
}

/** Those whose parents are open. */
export function shown(spans: readonly PlacedSpan[], closed: ReadonlySet<string>): readonly PlacedSpan[] {
  const hidden = new Set<string>();
  return spans.filter(({ span, parent }) => {
    const isHidden = parent !== undefined && (hidden.has(parent) || closed.has(parent));
    if (isHidden) hidden.add(span.id);
    return !isHidden;
  });
}

export interface Period {
  readonly start: number;
  readonly end: number;
}

export function periodOf(spans: readonly PlacedSpan[]): Period {
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    start = Math.min(start, span.start);
    end = Math.max(end, span.end);
  }
  // a trace without any duration still has a scale
  return start > end ? { start: 0, end: 1 } : { start, end: Math.max(end, start + 1) };
}

/** Sums of model calls, from what the spans say. */
export function tokensOf(spans: readonly PlacedSpan[]): { readonly input: number; readonly output: number } {
  let input = 0;
  let output = 0;
  for (const { span } of spans) {
    if (span.type !== 'LLM') continue;
    input += numberIn(span, 'input_tokens') ?? 0;
    output += numberIn(span, 'output_tokens') ?? 0;
  }
  return { input, output };
}

export function numberIn(span: TraceSpan, key: string): number | undefined {
  const value = span.metadata?.[key];
  return typeof value === 'number' ? value : undefined;
}

export function textIn(span: TraceSpan, key: string): string | undefined {
  const value = span.metadata?.[key];
  return typeof value === 'string' ? value : undefined;
}
