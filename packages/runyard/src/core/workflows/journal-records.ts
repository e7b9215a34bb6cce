import { idFrom } from '../ids.js';
import type { Json } from '../json.js';
import { childPrefix } from '../runs/journal/child-steps.js';
import type { Run, StepRecord } from '../runs/run.js';
import type { NodeType } from './definition/node.js';

/**
 * What the steps of a workflow's run hold. Only what is new: what came of a group is put together from what came of
 * the steps inside of it. This is stored data: a change of these shapes needs a migration.
 */

export type StepIndex = number | number[];

/** Input of the steps `node:<path>`: which part of the definition it is. */
export type NodeInput = {
  readonly node: NodeType | 'Workflow';
  readonly step_id: string;
  readonly index: StepIndex;
  readonly executor: {
    readonly type: 'agent' | 'team' | 'workflow' | 'function';
    readonly name: string;
    /** The id of the component; for a function without a name what stands for its source. */
    readonly id?: string;
  } | null;
};

/** Output of the steps `node:<path>`. */
export type NodeRecord = LeafRecord | GroupRecord;

/** What came of one step. */
export type LeafRecord = {
  /** The key of the step that holds what it made; what stands here goes over that. */
  readonly from?: string;
  readonly content?: Json;
  /** `Media[]` */
  readonly media?: Json;
  readonly success: boolean;
  readonly error: string | null;
  readonly stop: boolean;
  readonly skipped?: true;
};

/** What was done inside of a group: the keys of the nodes, in order. */
export type GroupRecord = {
  readonly children: string[];
  /** How many of the children belong to each iteration of a loop. */
  readonly iterations?: number[];
  readonly branch?: 'if' | 'else';
  readonly selected?: string[];
  /** Why nothing was done, or not all of it. */
  readonly note?: string;
  readonly stop: boolean;
  readonly skipped?: true;
};

/** Output of the steps `node:<path>:run:<round>` that are functions: what one execution came to. */
export type FunctionRecord =
  | Omit<LeafRecord, 'from' | 'skipped'>
  | { readonly failure: { readonly type: string; readonly message: string } };

/** Input of the same steps: by what it was decided. */
export type DecisionInput = { readonly by: string };

/** Steps `node:<path>:when`, `:select` and `:until`: what was decided. */
export type DecisionRecord = { readonly decided: boolean | string[] };

export function isGroup(record: NodeRecord): record is GroupRecord {
  return 'children' in record;
}

export function nodeKey(path: string): string {
  return `node:${path}`;
}

/** The path of the group that a node stands in; undefined for one at the top. */
export function groupPathOf(path: string): string | undefined {
  const end = path.lastIndexOf('.');
  return end === -1 ? undefined : path.slice(0, end).replace(/@\d+(~\d+)?$/, '');
}

/** One execution of a step; the first of a round has no number of its own. */
export function runKey(path: string, round: number, attempt = 1): string {
  return `${nodeKey(path)}:run:${round}${attempt === 1 ? '' : `-${attempt}`}`;
}

/** The executions of steps, by the keys of their nodes. */
export function runsByNode(steps: readonly StepRecord[]): ReadonlyMap<string, readonly StepRecord[]> {
  const runs = new Map<string, StepRecord[]>();
  for (const step of steps) {
    const end = step.key.indexOf(':run:');
    if (end === -1 || step.kind === 'try' || step.key.includes(childPrefix(''))) continue;
    const node = step.key.slice(0, end);
    runs.set(node, [...(runs.get(node) ?? []), step]);
  }
  return runs;
}

/** The path of a node inside of a group: in its list, in its other branch, or in one of its iterations. */
export const childPath = {
  of: (path: string, position: number) => `${path}.${position}`,
  otherwise: (path: string, position: number) => `${path}.e${position}`,
  iteration: (path: string, iteration: number, retry: number) =>
    `${path}@${iteration}${retry === 0 ? '' : `~${retry}`}`,
};

/** Whether the key is that of a node right inside of the node with the other key. */
export function isChildOf(key: string, parentKey: string): boolean {
  return key.startsWith(parentKey) && /^(@\d+(~\d+)?)?\.e?\d+$/.test(key.slice(parentKey.length));
}

export function isTopLevel(key: string): boolean {
  return /^node:\d+$/.test(key);
}

/**
 * The id of a step: the same within one run, whatever iteration it is and however often the run is executed, and
 * another one in every other run. An answer has to name the step that it is for, so the id cannot be computed from what
 * callers choose or see.
 */
export function stepIdOf({ runId, input }: Pick<Run, 'runId' | 'input'>, path: string): string {
  const place = path.replace(/@\d+(~\d+)?/g, '');
  return idFrom(`${input.salt ?? runId} ${place}`);
}
