import { read } from '../../runs/journal/codec.js';
import type { Expression } from '../definition/cel.js';
import type { WorkflowNode } from '../definition/node.js';
import { nodeIdentity } from '../definition/node-identity.js';
import { childPath, type GroupRecord, isGroup, nodeKey, nodeRecord } from '../journal-records.js';
import { decisionSpec } from './decide.js';
import type { Flow } from './flow.js';

/**
 * A group that has ended is not executed again, so what changed inside it would go unnoticed: a step that was put
 * into it would never be done. What the group did has to be what the code has there now. How often a loop goes round
 * and which further ways a router offers no longer matters.
 */
export function matchGroup(flow: Flow, node: WorkflowNode, path: string): void {
  const recorded = flow.context.recorded(nodeKey(path));
  if (recorded?.status !== 'completed' || node.type === 'Step') return;
  const record = read(recorded, nodeRecord);
  if (!isGroup(record)) return;
  if (!node.isNamed) matchDecision(flow, node, path);
  if (record.skipped === true) return;
  for (const { done, expected } of listsIn(flow, node, path, record)) {
    for (const [position, key] of done.entries()) {
      const inside = expected[position];
      const found = flow.context.recorded(key, inside && expectedAt(inside.node));
      if (inside?.key !== key) throw removed(flow, key, found?.name);
      matchGroup(flow, inside.node, inside.path);
    }
    const next = expected[done.length];
    if (next !== undefined && !record.stop)
      throw flow.context.definitionChanged({ key: next.key, was: null, is: nodeIdentity(next.node).is });
  }
}

/** What decided is all that distinguishes a group without a name and without executed steps from another one. */
function matchDecision({ context }: Flow, node: WorkflowNode, path: string): void {
  const match = (key: string, by: Expression | ((...args: never[]) => unknown)) =>
    context.recorded(`${nodeKey(path)}:${key}`, decisionSpec({ key, node, by }));
  if (node.type === 'Condition' && typeof node.when !== 'boolean') match('when', node.when);
  else if (node.type === 'Router' && node.select !== 'user') match('select', node.select);
}

interface ExpectedNode {
  readonly node: WorkflowNode;
  readonly path: string;
  readonly key: string;
}

/** The lists of steps that the group went through, and what each of them is by now. */
function listsIn(
  flow: Flow,
  node: Exclude<WorkflowNode, { type: 'Step' }>,
  path: string,
  { children, iterations, branch, selected }: GroupRecord,
): { readonly done: readonly string[]; readonly expected: readonly ExpectedNode[] }[] {
  const at = (nodes: readonly WorkflowNode[], pathOf: (position: number) => string) =>
    nodes.map((inside, position) => {
      const insidePath = pathOf(position);
      return { node: inside, path: insidePath, key: nodeKey(insidePath) };
    });
  if (node.type === 'Loop') {
    let from = 0;
    return (iterations ?? [children.length]).map((count) => {
      const done = children.slice(from, from + count);
      from += count;
      const prefix = done[0]?.slice(nodeKey('').length).replace(/\.\d+$/, '') ?? '';
      return {
        done,
        expected: done.length === 0 ? [] : at(node.steps, (position) => childPath.of(prefix, position)),
      };
    });
  }
  if (node.type === 'Condition') {
    const isElse = branch === 'else';
    const pathOf = isElse ? childPath.otherwise : childPath.of;
    return [
      {
        done: children,
        expected: at(isElse ? node.otherwise : node.steps, (position) => pathOf(path, position)),
      },
    ];
  }
  if (node.type === 'Foreach')
    // how many there are says the step before
    return [
      {
        done: children,
        expected: at(
          children.map(() => node.steps[0]),
          (position) => childPath.of(path, position),
        ),
      },
    ];
  const all = at(node.steps, (position) => childPath.of(path, position));
  if (node.type !== 'Router') return [{ done: children, expected: all }];
  const expected = (selected ?? []).map((name) => {
    const way = all.find(({ node: one }) => one.name === name);
    if (way === undefined) throw removed(flow, nodeKey(path), name);
    return way;
  });
  return [{ done: children, expected }];
}

function expectedAt(node: WorkflowNode) {
  return { kind: 'step', name: node.name, identity: nodeIdentity(node) } as const;
}

function removed({ context }: Flow, key: string, name = 'a step'): Error {
  return context.definitionChanged({ key, was: `'${name}'`, is: null });
}
