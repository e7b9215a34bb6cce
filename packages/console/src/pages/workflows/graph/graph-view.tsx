import { type KeyboardEvent, type Ref, useRef } from 'react';
import { cx } from '../../../ui/class-names.js';
import { formatDuration } from '../../../ui/format/numbers.js';
import { type Execution, type Executions, stateOf } from '../executions.js';
import type { Graph, GraphEdge, GraphNode } from './layout.js';

export interface GraphViewProps {
  readonly graph: Graph;
  readonly name: string;
  readonly executions: Executions;
  readonly isEnded: boolean;
  readonly selected: string | undefined;
  readonly scale: number;
  onSelect(path: string): void;
  readonly ref?: Ref<SVGSVGElement>;
}

const strokes: Readonly<Record<string, string>> = {
  running: 'stroke-accent-text',
  completed: 'stroke-success',
  failed: 'stroke-danger',
  cancelled: 'stroke-line-strong',
  skipped: 'stroke-line-strong',
  paused: 'stroke-warning',
};

const fills: Readonly<Record<string, string>> = {
  running: 'fill-accent-soft',
  completed: 'fill-success-soft',
  failed: 'fill-danger-soft',
  paused: 'fill-warning-soft',
};

const texts: Readonly<Record<string, string>> = {
  running: 'fill-accent-text',
  completed: 'fill-success',
  failed: 'fill-danger',
  paused: 'fill-warning',
};

/** The drawing. Its nodes are buttons: Tab and the arrow keys move between them. */
export function GraphView({
  graph,
  name,
  executions,
  isEnded,
  selected,
  scale,
  onSelect,
  ref,
}: GraphViewProps) {
  const nodes = useRef(new Map<string, SVGGElement>());
  const move = (event: KeyboardEvent, at: number) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
    const next = graph.nodes[at + (steps[event.key] ?? 0)];
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      const node = graph.nodes[at];
      if (node) onSelect(node.path);
    } else if (event.key in steps && next) {
      event.preventDefault();
      nodes.current.get(next.path)?.focus();
    }
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing cannot be a fieldset.
    <svg
      ref={ref}
      role="group"
      aria-label={`Graph of ${name}`}
      viewBox={`0 0 ${graph.width} ${graph.height}`}
      width={graph.width * scale}
      height={graph.height * scale}
      className="mx-auto block font-sans"
    >
      {graph.nodes
        .map((node, at) => ({ node, at }))
        .toSorted((a, b) => Number(b.node.shape === 'frame') - Number(a.node.shape === 'frame'))
        .map(({ node, at }) => (
          <Node
            key={node.path}
            ref={(element) => {
              if (element) nodes.current.set(node.path, element);
              else nodes.current.delete(node.path);
            }}
            node={node}
            executions={executions.get(node.path)}
            isSelected={node.path === selected}
            onSelect={() => onSelect(node.path)}
            onKeyDown={(event) => move(event, at)}
          />
        ))}
      {graph.edges
        .map((edge) => ({ edge, lit: isLit(edge, executions) }))
        // what was taken lies above what was not
        .toSorted((a, b) => Number(a.lit) - Number(b.lit))
        .map(({ edge, lit }) => (
          <Edge key={edge.id} edge={edge} isLit={lit} />
        ))}
      <circle
        cx={graph.start.x}
        cy={graph.start.y}
        r={7}
        className={executions.size > 0 ? 'fill-success' : 'fill-line-strong'}
      />
      <circle
        cx={graph.end.x}
        cy={graph.end.y}
        r={6}
        strokeWidth={2}
        className={cx('fill-surface', isEnded ? 'stroke-success' : 'stroke-line-strong')}
      />
    </svg>
  );
}

interface NodeProps {
  readonly node: GraphNode;
  readonly executions: readonly Execution[] | undefined;
  readonly isSelected: boolean;
  onSelect(): void;
  onKeyDown(event: KeyboardEvent): void;
  readonly ref: Ref<SVGGElement>;
}

function Node({ node, executions, isSelected, onSelect, onKeyDown, ref }: NodeProps) {
  const { x, y, width, height, shape, step, detail } = node;
  const state = stateOf(executions);
  const status = statusText(executions, state);
  const isFrame = shape === 'frame';
  const titleRoom = isFrame ? Math.floor((width - 40) / 7.2) : 26;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of its own.
    <g
      ref={ref}
      role="button"
      tabIndex={0}
      aria-pressed={isSelected}
      className="group cursor-pointer outline-none"
      onClick={onSelect}
      onKeyDown={onKeyDown}
    >
      {/* its name for assistive technology, and its hint: the texts below may be cut */}
      <title>{[step.name, detail, status].filter(Boolean).join(', ')}</title>
      {shape === 'decision' ? (
        <path
          d={`M${x + 16} ${y}H${x + width - 16}L${x + width} ${y + height / 2}L${x + width - 16} ${y + height}H${x + 16}L${x} ${y + height / 2}Z`}
          {...outline(state, isSelected, false)}
        />
      ) : (
        <rect
          x={x}
          y={y}
          width={width}
          height={height}
          rx={isFrame ? 12 : 8}
          {...outline(state, isSelected, isFrame)}
        />
      )}
      <text
        x={isFrame ? x + 16 : x + width / 2}
        y={y + 20}
        textAnchor={isFrame ? 'start' : 'middle'}
        fontSize={13}
        fontWeight={600}
        className="fill-text"
      >
        {cut(step.name, titleRoom)}
      </text>
      <text
        x={isFrame ? x + 16 : x + width / 2}
        y={y + 37}
        textAnchor={isFrame ? 'start' : 'middle'}
        fontSize={11}
        className={(state && texts[state]) || 'fill-muted'}
      >
        {cut(
          [status, detail].filter(Boolean).join(' · '),
          Math.floor(titleRoom * (shape === 'decision' ? 1.1 : 1.25)),
        )}
      </text>
    </g>
  );
}

function outline(state: string | undefined, isSelected: boolean, isFrame: boolean) {
  return {
    strokeWidth: isSelected ? 2.5 : 1.25,
    ...(isFrame && { strokeDasharray: '5 4' }),
    className: cx(
      'group-hover:stroke-text group-focus-visible:stroke-accent-text group-focus-visible:[stroke-width:3]',
      isFrame ? 'fill-text/[0.02]' : ((state && fills[state]) ?? 'fill-surface'),
      isSelected ? 'stroke-accent-text' : ((state && strokes[state]) ?? 'stroke-line-strong'),
      state === 'running' && !isFrame && 'animate-pulse',
    ),
  };
}

function Edge({
  edge: { line, arrow, label },
  isLit,
}: {
  readonly edge: GraphEdge;
  readonly isLit: boolean;
}) {
  const point = arrow?.up ? -7 : 7;
  return (
    <g className="pointer-events-none">
      <path
        d={line}
        fill="none"
        strokeWidth={isLit ? 1.75 : 1.25}
        className={isLit ? 'stroke-success' : 'stroke-line-strong'}
      />
      {arrow && (
        <path
          d={`M${arrow.x - 4} ${arrow.y - point}L${arrow.x} ${arrow.y}L${arrow.x + 4} ${arrow.y - point}Z`}
          className={isLit ? 'fill-success' : 'fill-line-strong'}
        />
      )}
      {label && (
        <text
          x={label.x}
          y={label.y}
          textAnchor={label.isLeft ? 'end' : 'start'}
          fontSize={11}
          className="fill-muted"
        >
          {label.text}
        </text>
      )}
    </g>
  );
}

function isLit({ to, from }: GraphEdge, executions: Executions): boolean {
  if (to !== undefined) return executions.has(to);
  return from !== undefined && stateOf(executions.get(from)) === 'completed';
}

function statusText(executions: readonly Execution[] | undefined, state: string | undefined): string {
  if (!executions || state === undefined) return '';
  const last = executions.at(-1);
  const times = executions.length > 1 ? `${executions.length}× ` : '';
  if (state === 'completed' && last?.startedAt !== undefined && last.endedAt !== undefined) {
    const ms = executions.reduce((sum, one) => sum + ((one.endedAt ?? 0) - (one.startedAt ?? 0)), 0);
    return `${times}${formatDuration(ms)}`;
  }
  return `${times}${state}`;
}

function cut(text: string, room: number): string {
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}
