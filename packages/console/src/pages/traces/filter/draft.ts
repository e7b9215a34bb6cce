import type { TraceFilterSchema } from '@runyard/client';
import type { Expression } from './expression.js';

export type FilterField = TraceFilterSchema['fields'][number];

/** A condition while a person edits it: values are texts, also incomplete ones. */
export interface DraftRule {
  readonly kind: 'rule';
  readonly id: string;
  readonly negated: boolean;
  readonly key: string;
  readonly op: string;
  readonly values: readonly string[];
}

export interface DraftGroup {
  readonly kind: 'group';
  readonly id: string;
  readonly negated: boolean;
  readonly op: 'AND' | 'OR';
  readonly nodes: readonly DraftNode[];
}

export type DraftNode = DraftRule | DraftGroup;

let count = 0;

function newId(): string {
  count += 1;
  return `node-${count}`;
}

export function newRule(field: FilterField | undefined): DraftRule {
  return {
    kind: 'rule',
    id: newId(),
    negated: false,
    key: field?.key ?? 'status',
    op: field?.operators[0] ?? 'EQ',
    values: field?.values ? field.values.slice(0, 1) : [''],
  };
}

export function newGroup(nodes: readonly DraftNode[] = [], op: 'AND' | 'OR' = 'AND'): DraftGroup {
  return { kind: 'group', id: newId(), negated: false, op, nodes };
}

/** The outermost node of the builder is always a group. */
export function draftOf(expression: Expression | undefined): DraftGroup {
  if (expression === undefined) return newGroup();
  const node = nodeOf(expression);
  return node.kind === 'group' && !node.negated ? node : newGroup([node]);
}

function nodeOf(expression: Expression): DraftNode {
  switch (expression.op) {
    case 'AND':
    case 'OR':
      return newGroup(expression.conditions.map(nodeOf), expression.op);
    case 'NOT': {
      const node = nodeOf(expression.condition);
      // two negations of one node need a group between them
      return node.negated ? { ...newGroup([node]), negated: true } : { ...node, negated: true };
    }
    default: {
      const { op, key } = expression;
      const values = expression.op === 'IN' ? expression.values : [expression.value];
      return { kind: 'rule', id: newId(), negated: false, key, op, values: values.map(String) };
    }
  }
}

/** Undefined for a builder without conditions. */
export function expressionOf(group: DraftGroup, fields: readonly FilterField[]): Expression | undefined {
  return written(group, new Map(fields.map((field) => [field.key, field])));
}

function written(node: DraftNode, fields: ReadonlyMap<string, FilterField>): Expression | undefined {
  const expression = node.kind === 'group' ? writtenGroup(node, fields) : writtenRule(node, fields);
  return expression && node.negated ? { op: 'NOT', condition: expression } : expression;
}

function writtenGroup(
  { op, nodes }: DraftGroup,
  fields: ReadonlyMap<string, FilterField>,
): Expression | undefined {
  const conditions = nodes.flatMap((node) => written(node, fields) ?? []);
  if (conditions.length <= 1) return conditions[0];
  return { op, conditions };
}

function writtenRule({ key, op, values }: DraftRule, fields: ReadonlyMap<string, FilterField>): Expression {
  const typed = values.map((value) =>
    fields.get(key)?.type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))
      ? Number(value)
      : value,
  );
  if (op === 'IN') return { op, key, values: typed };
  // the operators come from the service
  return { op, key, value: typed[0] ?? '' } as Expression;
}

/** Whether each condition has its values. */
export function isComplete(node: DraftNode): boolean {
  if (node.kind === 'group') return node.nodes.every(isComplete);
  return node.values.length > 0 && node.values.every((value) => value.trim() !== '');
}

/** A copy in which the node with this id is replaced; undefined removes it. */
export function replaced(group: DraftGroup, id: string, by: DraftNode | undefined): DraftGroup {
  return {
    ...group,
    nodes: group.nodes.flatMap((node): readonly DraftNode[] => {
      if (node.id === id) return by ? [by] : [];
      return node.kind === 'group' ? [replaced(node, id, by)] : [node];
    }),
  };
}
