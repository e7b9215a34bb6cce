import type { WorkflowStep } from '@runyard/client';
import { stepInWords } from '../step-words.js';

/** A step, a decision, or the frame around a group. */
export interface GraphNode {
  /** Its place in the tree: `5.1` is the second step in the sixth, `6.e0` the first of an else branch. */
  readonly path: string;
  readonly shape: 'step' | 'decision' | 'frame';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly step: WorkflowStep;
  readonly detail: string;
}

export interface GraphEdge {
  readonly id: string;
  readonly line: string;
  /** Where its arrow points; undefined for a line that joins another. */
  readonly arrow: { readonly x: number; readonly y: number; readonly up: boolean } | undefined;
  readonly label:
    | { readonly x: number; readonly y: number; readonly text: string; readonly isLeft: boolean }
    | undefined;
  /** The step that it leads to: the edge is lit when that has begun. */
  readonly to?: string | undefined;
  /** The step that it comes from, where the next one is not known: the edge is lit when that has completed. */
  readonly from?: string | undefined;
}

export interface Graph {
  readonly width: number;
  readonly height: number;
  /** In the order of the steps: frames come before what is in them. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly start: { readonly x: number; readonly y: number };
  readonly end: { readonly x: number; readonly y: number };
}

/** A part of the graph. Its line comes in at the top and leaves at the bottom, `axis` from the left. */
interface Box {
  readonly width: number;
  readonly height: number;
  readonly axis: number;
  /** The step that an edge into it leads to. */
  readonly entry: string | undefined;
  /** The step that an edge out of it comes from. */
  readonly exit: string | undefined;
  place(x: number, y: number): void;
}

const nodeWidth = 208;
const nodeHeight = 48;
const gap = 32;
const forkGap = 40;
const branchGap = 28;
const framePad = 18;
const frameTitle = 44;
const backLane = 34;
const margin = 24;
const dot = 7;

/** The workflow from top to bottom: branches side by side, groups in frames, loops with a line that leads back. */
export function layout(steps: readonly WorkflowStep[]): Graph {
  const drawing = new Drawing();
  const whole = drawing.sequence(steps.map((step, at) => drawing.box(step, String(at))));
  const top = margin + 2 * dot + gap;
  whole.place(margin, top);
  const x = margin + whole.axis;
  const bottom = top + whole.height + gap;
  drawing.edge([x, margin + 2 * dot], [x, top], { to: whole.entry, arrow: true });
  drawing.edge([x, top + whole.height], [x, bottom], { from: whole.exit, arrow: true });
  return {
    width: whole.width + 2 * margin,
    height: bottom + 2 * dot + margin,
    nodes: drawing.nodes,
    edges: drawing.edges,
    start: { x, y: margin + dot },
    end: { x, y: bottom + dot },
  };
}

type Point = readonly [x: number, y: number];

class Drawing {
  readonly nodes: GraphNode[] = [];
  readonly edges: GraphEdge[] = [];

  box(step: WorkflowStep, path: string): Box {
    const inner = (list: readonly WorkflowStep[] = [], before = '') =>
      list.map((one, at) => this.box(one, `${path}.${before}${at}`));
    switch (step.type) {
      case 'Step':
        return this.#node(step, path, 'step');
      case 'Parallel':
        return this.#frame(step, path, this.#fork(undefined, inner(step.steps).map(plain)));
      case 'Condition': {
        const otherwise = inner(step.else_steps, 'e');
        return this.#fork(this.#node(step, path, 'decision'), [
          { label: 'then', box: this.sequence(inner(step.steps)) },
          { label: 'else', box: this.sequence(otherwise) },
        ]);
      }
      case 'Router':
        return this.#fork(this.#node(step, path, 'decision'), inner(step.steps).map(plain));
      case 'Loop':
        return this.#frame(step, path, this.sequence(inner(step.steps)), true);
      default:
        return this.#frame(step, path, this.sequence(inner(step.steps)));
    }
  }

  /** One below the other, on one line. */
  sequence(boxes: readonly Box[]): Box {
    if (boxes.length === 0)
      return { width: 24, height: 0, axis: 12, entry: undefined, exit: undefined, place: () => {} };
    const axis = Math.max(...boxes.map((box) => box.axis));
    const right = Math.max(...boxes.map((box) => box.width - box.axis));
    const height = boxes.reduce((sum, box) => sum + box.height, 0) + gap * (boxes.length - 1);
    return {
      width: axis + right,
      height,
      axis,
      entry: boxes[0]?.entry,
      exit: boxes.at(-1)?.exit,
      place: (x, top) => {
        let y = top;
        boxes.forEach((box, at) => {
          if (at > 0) this.edge([x + axis, y - gap], [x + axis, y], { to: box.entry, arrow: true });
          box.place(x + axis - box.axis, y);
          y += box.height + gap;
        });
      },
    };
  }

  edge(
    [x1, y1]: Point,
    [x2, y2]: Point,
    {
      to,
      from,
      label,
      arrow = false,
    }: {
      readonly to?: string | undefined;
      readonly from?: string | undefined;
      readonly label?: string | undefined;
      readonly arrow?: boolean;
    },
  ): void {
    // forks turn above their branches, joins above the line that they join
    const turn = y2 - gap / 2;
    const isLeft = x2 < x1;
    this.edges.push({
      id: `${x1},${y1}-${x2},${y2}`,
      line: elbow([x1, y1], turn, [x2, y2]),
      arrow: arrow ? { x: x2, y: y2, up: false } : undefined,
      label: label === undefined ? undefined : { x: x2 + (isLeft ? -8 : 8), y: y2 - 4, text: label, isLeft },
      to,
      from,
    });
  }

  #node(step: WorkflowStep, path: string, shape: 'step' | 'decision'): Box {
    const size = { width: nodeWidth, height: nodeHeight };
    return {
      ...size,
      axis: nodeWidth / 2,
      entry: path,
      exit: path,
      place: (x, y) => this.nodes.push({ path, shape, x, y, ...size, step, detail: stepInWords(step) }),
    };
  }

  /** Branches side by side, below a decision or directly from the line. */
  #fork(
    decision: Box | undefined,
    branches: readonly { readonly label: string | undefined; readonly box: Box }[],
  ): Box {
    const inner = branches.reduce((sum, { box }) => sum + box.width, 0) + branchGap * (branches.length - 1);
    const width = Math.max(inner, decision?.width ?? 0);
    const head = decision?.height ?? 0;
    const tallest = Math.max(0, ...branches.map(({ box }) => box.height));
    const axis = width / 2;
    const height = head + forkGap + tallest + gap;
    return {
      width,
      height,
      axis,
      entry: decision?.entry ?? branches[0]?.box.entry,
      exit: decision?.exit ?? branches[0]?.box.exit,
      place: (x, y) => {
        decision?.place(x + axis - decision.axis, y);
        let left = x + (width - inner) / 2;
        const top = y + head + forkGap;
        for (const { label, box } of branches) {
          const at = left + box.axis;
          this.edge([x + axis, y + head], [at, top], {
            to: box.entry,
            label,
            arrow: box.entry !== undefined,
          });
          box.place(left, top);
          this.edge([at, top + box.height], [x + axis, y + height], { from: box.exit });
          left += box.width + branchGap;
        }
      },
    };
  }

  #frame(step: WorkflowStep, path: string, inner: Box, loops = false): Box {
    const lane = loops ? backLane : 0;
    const width = Math.max(inner.width + 2 * framePad + lane, nodeWidth + 2 * framePad);
    const height = frameTitle + inner.height + 2 * framePad;
    const inset = (width - lane - inner.width) / 2;
    const axis = inset + inner.axis;
    return {
      width,
      height,
      axis,
      entry: path,
      exit: path,
      place: (x, y) => {
        this.nodes.push({ path, shape: 'frame', x, y, width, height, step, detail: stepInWords(step) });
        const top = y + frameTitle + framePad;
        const bottom = top + inner.height;
        this.edge([x + axis, y + frameTitle], [x + axis, top], { to: inner.entry });
        inner.place(x + inset, top);
        this.edge([x + axis, bottom], [x + axis, y + height], { from: path });
        if (loops) this.#back(x, x + axis, x + width - framePad, top, bottom);
      },
    };
  }

  /** From the end of a loop to its beginning, on a lane at the right. */
  #back(left: number, axis: number, lane: number, top: number, bottom: number): void {
    const below = bottom + framePad / 2;
    const above = top - framePad / 2;
    this.edges.push({
      id: `back ${left},${top}`,
      line: `M${axis} ${below}H${lane - 6}Q${lane} ${below} ${lane} ${below - 6}V${above + 6}Q${lane} ${above} ${lane - 6} ${above}H${axis + 1}`,
      arrow: { x: lane, y: (top + bottom) / 2, up: true },
      label: undefined,
    });
  }
}

function plain(box: Box): { readonly label: undefined; readonly box: Box } {
  return { label: undefined, box };
}

/** Down, across at `turn`, and down again, with round corners. */
function elbow([x1, y1]: Point, turn: number, [x2, y2]: Point): string {
  if (Math.abs(x1 - x2) < 1) return `M${x1} ${y1}V${y2}`;
  const r = Math.min(8, Math.abs(x2 - x1) / 2, Math.abs(turn - y1), Math.abs(y2 - turn));
  const side = x2 > x1 ? r : -r;
  return [
    `M${x1} ${y1}V${turn - r}`,
    `Q${x1} ${turn} ${x1 + side} ${turn}`,
    `H${x2 - side}`,
    `Q${x2} ${turn} ${x2} ${turn + r}`,
    `V${y2}`,
  ].join('');
}
