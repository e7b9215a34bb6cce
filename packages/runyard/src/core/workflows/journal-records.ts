import type { StepIndex } from '../events/workflow-event.js';
import { idFrom } from '../ids.js';
import { isJsonObject } from '../json.js';
import { childPrefix } from '../runs/journal/child-steps.js';
import { inputRecord, outputRecord } from '../runs/journal/codec.js';
import { childOutcome, mediaList } from '../runs/journal/records.js';
import {
  either,
  flag,
  json,
  jsonObject,
  list,
  nullable,
  number,
  object,
  optional,
  partly,
  type Shaped,
  text,
  word,
  yes,
} from '../runs/journal/shapes.js';
import type { Run, StepRecord } from '../runs/run.js';
import type { NodeType } from './definition/node.js';

/**
 * What the steps of a workflow's run hold. Only what is new: the output of a group is put together from the outputs of
 * the steps within it. This is stored data: records of earlier versions have to fit too.
 */

/** Input of the steps `node:<path>`: which part of the definition it is. */
export const nodeInput = inputRecord(
  'workflow step',
  1,
  object({
    node: partly<NodeType | 'Workflow'>(text),
    step_id: text,
    index: partly<StepIndex>(either(number, list(number))),
    executor: nullable(
      object({
        type: word('agent', 'team', 'workflow', 'function'),
        name: text,
        /** The id of the component; for a function without a name the fingerprint of its source. */
        id: optional(text),
      }),
    ),
  }),
);

export type NodeInput = Shaped<typeof nodeInput.shape>;

const made = {
  content: optional(json),
  media: optional(mediaList),
  success: flag,
  error: nullable(text),
  stop: flag,
};

/** The output of one step. */
const leafShape = object({
  ...made,
  /** The key of the step that holds what it made; what stands here goes over that. */
  from: optional(text),
  skipped: optional(yes),
});

/** What was done in a group: the keys of the nodes, in order. */
const groupShape = object({
  children: list(text),
  /** How many of the children belong to each iteration of a loop. */
  iterations: optional(list(number)),
  branch: optional(word('if', 'else')),
  selected: optional(list(text)),
  /** Why nothing was done, or not all of it. */
  note: optional(text),
  stop: flag,
  skipped: optional(yes),
});

export type LeafRecord = Shaped<typeof leafShape>;
export type GroupRecord = Shaped<typeof groupShape>;

/** Output of the steps `node:<path>`. */
export const nodeRecord = outputRecord('end of a workflow step', 1, either(groupShape, leafShape));

export type NodeRecord = LeafRecord | GroupRecord;

const functionShape = either(object({ failure: object({ type: text, message: text }) }), object(made));

/** Output of the steps `node:<path>:run:<round>` that are functions: the result of one execution. */
export const functionRecord = outputRecord('return value of a function', 1, functionShape);

export type FunctionRecord = Shaped<typeof functionShape>;

/** Output of the same steps, whatever executes them. */
export const roundRecord = outputRecord(
  'execution of a workflow step',
  1,
  either(childOutcome.shape, functionShape),
);

/** Input of the steps that decide: what decided. */
export const decisionInput = inputRecord('decider', 1, object({ by: text }));

/** Steps `node:<path>:when`, `:select` and `:until`: what was decided. */
export const decisionRecord = outputRecord('decision', 1, object({ decided: either(flag, list(text)) }));

/** Input of the steps `node:<path>:sleep:…`, and of the waits of the same name: when the sleep ends. */
export const sleepInput = inputRecord('sleep', 1, object({ until: number }));

/** Input of the waits of functions for events: which, and what their data has to fit. */
export const eventQuestion = inputRecord(
  'wait for an event',
  1,
  object({ step_id: text, step_name: text, event_name: text, schema: optional(jsonObject) }),
);

/** Where a function waits for something that no person answers. */
export const waitPlace = inputRecord(
  'wait of a function',
  1,
  object({ step_id: optional(text), step_name: optional(text) }),
);

/** Output of the same steps: the event, or that the time was up. */
export const eventAnswer = outputRecord(
  'received event',
  1,
  either(object({ timed_out: yes }), object({ event_id: text, data: json })),
);

/** Step `history`: the runs of the session that the workflow was shown. */
export const historyRecord = outputRecord('history', 1, list(text));

/** Whether the input of a step says that it is a part of the definition: others are functions and runs. */
export function isNodeInput(input: unknown): boolean {
  return isJsonObject(input) && 'node' in input;
}

export function isGroup(record: NodeRecord): record is GroupRecord {
  return 'children' in record;
}

export function nodeKey(path: string): string {
  return `node:${path}`;
}

/** The path of the group of a node; undefined for one at the top. */
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

/** The path of a node within a group: in its list, in its other branch, or in one of its iterations. */
export const childPath = {
  of: (path: string, position: number) => `${path}.${position}`,
  otherwise: (path: string, position: number) => `${path}.e${position}`,
  iteration: (path: string, iteration: number, retry: number) =>
    `${path}@${iteration}${retry === 0 ? '' : `~${retry}`}`,
};

/** Whether the key is that of a direct child of the node with the other key. */
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
