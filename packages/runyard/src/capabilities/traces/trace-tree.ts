import type { Span } from '../../core/traces/span.js';
import { type NodeContext, type SpanNode, textAt, tokenTotals, treeNode } from './span-node.js';

/** The spans of one run as a tree. A span whose parent is missing stands beside the root: nothing is lost. */
export function treeOf(spans: readonly Span[], context: NodeContext): SpanNode[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const children = new Map<string, Span[]>();
  const roots: Span[] = [];
  for (const span of spans) {
    const { parentSpanId } = span;
    if (parentSpanId === null || !known.has(parentSpanId) || parentSpanId === span.spanId) {
      roots.push(span);
      continue;
    }
    const siblings = children.get(parentSpanId);
    if (siblings === undefined) children.set(parentSpanId, [span]);
    else siblings.push(span);
  }

  const nodeOf = (span: Span, stepType?: string): SpanNode => {
    const isRoot = span.parentSpanId === null;
    const inside = (children.get(span.spanId) ?? []).sort(earlierFirst);
    const types = isRoot && span.kind === 'WORKFLOW' ? inside.map(declaredType) : [];
    return treeNode(span, context, {
      ...(isRoot && { totals: tokenTotals(spans) }),
      ...(stepType !== undefined && { stepType }),
      children: inside.map((child, index) => nodeOf(child, types[index])),
    });
  };
  return roots.sort(earlierFirst).map((root) => nodeOf(root));
}

/** The output of a run. A workflow without one shows that of its last part. */
export function outputOfTree(spans: readonly Span[]): string | undefined {
  const root = spans.find(({ parentSpanId }) => parentSpanId === null);
  if (root === undefined) return undefined;
  const own = textAt(root.attributes['output.value']);
  if (root.kind !== 'WORKFLOW' || (own !== undefined && own !== '' && own !== 'None')) return own;
  const last = spans
    .filter(({ parentSpanId, endTime }) => parentSpanId === root.spanId && endTime !== null)
    .sort((one, other) => (other.endTime ?? 0) - (one.endTime ?? 0))[0];
  return last === undefined ? own : textAt(last.attributes['output.value']);
}

/** Which kind of step of the workflow this is. */
function declaredType({ attributes }: Span): string | undefined {
  return textAt(attributes['runyard.step.type']);
}

function earlierFirst(one: Span, other: Span): number {
  return one.startTime - other.startTime;
}
