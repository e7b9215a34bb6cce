import type { Span } from '../../core/traces/span.js';
import type { TextBudget } from './text-budget.js';
import { durationText, wireTime } from './times.js';

type Metadata = Record<string, string | number | readonly string[]>;

/** A span as the wire shows it. Members that have no value are left out. */
export interface SpanNode {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly duration: string;
  readonly start_time: string;
  readonly end_time: string;
  readonly status: string;
  readonly input?: string;
  readonly output?: string;
  readonly error?: string;
  readonly step_type?: string;
  readonly metadata?: Metadata;
  readonly spans?: readonly SpanNode[];
}

export interface NodeContext {
  /** The current time: a span in progress has lasted until then. */
  readonly now: number;
  readonly budget: TextBudget;
}

export interface TokenTotals {
  readonly input: number;
  readonly output: number;
}

/** What follows only from a node's place in the tree. */
export interface NodePlace {
  /** Of the outermost span: how many tokens all model calls of the run took. What it was asked and said stands above it. */
  readonly totals?: TokenTotals;
  readonly stepType?: string;
  readonly children?: readonly SpanNode[];
}

/** A node of a tree. */
export function treeNode(span: Span, { now, budget }: NodeContext, place: NodePlace): SpanNode {
  const { totals, stepType, children = [] } = place;
  const metadata = totals === undefined ? metadataOf(span, false) : rootMetadata(span, totals);
  const node = frameOf(span, now);
  if (totals === undefined) addContent(node, span, budget);
  if (stepType !== undefined) node.step_type = stepType;
  if (Object.keys(metadata).length > 0) node.metadata = metadata;
  if (children.length > 0) node.spans = children;
  return node;
}

/** A span that is read alone, with all its details. */
export function singleNode(span: Span, { now, budget }: NodeContext): SpanNode {
  const metadata = metadataOf(span, true);
  const node = frameOf(span, now);
  addContent(node, span, budget);
  if (Object.keys(metadata).length > 0) node.metadata = metadata;
  return node;
}

/** What went wrong, in words. */
export function errorOf({ statusMessage, attributes }: Span): string | undefined {
  return statusMessage ?? textAt(attributes['exception.message']);
}

export function textAt(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function tokenTotals(spans: readonly Span[]): TokenTotals {
  const calls = spans.filter(({ kind }) => kind === 'LLM').map(({ attributes }) => attributes);
  const sum = (key: string) => calls.reduce((total, attributes) => total + numberAt(attributes[key]), 0);
  return { input: sum('llm.token_count.prompt'), output: sum('llm.token_count.completion') };
}

/** A node while it is built. Fields are assigned, because spreads would copy each of thousands of nodes several times. */
type NewNode = { -readonly [name in keyof SpanNode]: SpanNode[name] };

function frameOf({ spanId, name, kind, status, startTime, endTime }: Span, now: number): NewNode {
  const end = Math.max(startTime, endTime ?? now);
  return {
    id: spanId,
    name,
    type: kind,
    duration: durationText(end - startTime),
    start_time: wireTime(startTime),
    end_time: wireTime(end),
    status,
  };
}

function addContent(node: NewNode, span: Span, budget: TextBudget): void {
  const { attributes, status } = span;
  const input = textAt(attributes['input.value']);
  const output = status === 'ERROR' ? undefined : textAt(attributes['output.value']);
  const error = status === 'ERROR' ? errorOf(span) : undefined;
  if (input !== undefined) node.input = budget.spend(input);
  if (output !== undefined) node.output = budget.spend(output);
  if (error !== undefined) node.error = error;
}

function rootMetadata(span: Span, { input, output }: TokenTotals): Metadata {
  return {
    ...said({ total_input_tokens: input, total_output_tokens: output }),
    ...(span.kind === 'WORKFLOW' && workflowMetadata(span)),
  };
}

function metadataOf(span: Span, alone: boolean): Metadata {
  const { attributes } = span;
  return said({
    ...ownMetadata(span, alone),
    session_id: attributes['session.id'],
    user_id: attributes['user.id'],
  });
}

function ownMetadata(span: Span, alone: boolean): Record<string, unknown> {
  const { kind, attributes } = span;
  switch (kind) {
    case 'AGENT':
    case 'TEAM':
      return { run_id: attributes['agno.run.id'] };
    case 'LLM':
      return {
        model: attributes['llm.model_name'],
        input_tokens: attributes['llm.token_count.prompt'],
        output_tokens: attributes['llm.token_count.completion'],
        purpose: attributes['runyard.call.purpose'],
        cached: attributes['runyard.call.cached'],
      };
    case 'TOOL':
      return { tool_name: attributes['tool.name'], parameters: attributes['tool.parameters'] };
    case 'WORKFLOW':
      return alone ? workflowMetadata(span) : {};
    default:
      return {};
  }
}

function workflowMetadata({ attributes }: Span): Metadata {
  return said({
    description: attributes['agno.workflow.description'],
    steps_count: attributes['agno.workflow.steps_count'],
    steps: attributes['agno.workflow.steps'],
    step_types: attributes['agno.workflow.step_types'],
  });
}

/** Only what says something. */
function said(values: Record<string, unknown>): Metadata {
  const kept: Record<string, unknown> = {};
  for (const name in values) {
    const value = values[name];
    if (value && !(Array.isArray(value) && value.length === 0)) kept[name] = value;
  }
  // all of them are made above, of data
  return kept as Metadata;
}

function numberAt(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
