import { isJsonObject, type Json } from '../../../core/json.js';
import { diffLines } from './diff-lines.js';
import { type Budget, pairs } from './sequence-pairs.js';
import type { Content } from './stored-component.js';

export interface ConfigDifference {
  /** Such as `model.id` or `tools[0].name`. The position is that in the newer version; of what is removed, in the older. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before?: Json;
  readonly after?: Json;
  /** Of a changed text of several lines: its lines, those that are removed with `- `, those that are added with `+ `. */
  readonly lines?: readonly string[];
}

export interface ConfigDiff {
  readonly differences: readonly ConfigDifference[];
  /** Whether there are more than the answer holds. */
  readonly isTruncated: boolean;
}

const mostDifferences = 1000;
/** About a tenth of a second. */
const mostWork = 4_000_000;

interface Findings {
  readonly list: ConfigDifference[];
  readonly budget: Budget;
}

/** What differs between two contents, field by field. */
export function compared(before: Content, after: Content): ConfigDiff {
  const found: Findings = { list: [], budget: { left: mostWork } };
  collect('', before.config, after.config, found);
  collect('links', linksOf(before), linksOf(after), found);
  const { list } = found;
  return { differences: list.slice(0, mostDifferences), isTruncated: list.length > mostDifferences };
}

/** The pinned versions by the kind and the key of their links. */
function linksOf({ links }: Content): Json {
  return Object.fromEntries(
    links.map(({ linkKind, linkKey, childId, childVersion, meta }) => [
      `${linkKind}:${linkKey}`,
      { child_component_id: childId, child_version: childVersion, ...(meta !== null && { meta }) },
    ]),
  );
}

function collect(path: string, before: Json, after: Json, found: Findings): void {
  if (found.list.length > mostDifferences || before === after) return;
  if (isJsonObject(before) && isJsonObject(after)) {
    collectFields(path, before, after, found);
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    collectItems(path, before, after, found);
    return;
  }
  const lines =
    typeof before === 'string' && typeof after === 'string'
      ? diffLines(before, after, found.budget)
      : undefined;
  found.list.push({ path, kind: 'changed', before, after, ...(lines !== undefined && { lines }) });
}

function collectFields(
  path: string,
  before: { readonly [key: string]: Json },
  after: { readonly [key: string]: Json },
  found: Findings,
): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = placeOf(path, key);
    const [one, other] = [own(before, key), own(after, key)];
    if (one === undefined && other !== undefined)
      found.list.push({ path: place, kind: 'added', after: other });
    else if (other === undefined && one !== undefined)
      found.list.push({ path: place, kind: 'removed', before: one });
    else if (one !== undefined && other !== undefined) collect(place, one, other, found);
  }
}

/** Items that name the same thing are compared with each other, in their order; others are added or removed. */
function collectItems(path: string, before: readonly Json[], after: readonly Json[], found: Findings): void {
  for (const [one, other] of pairs(before.map(identityOf), after.map(identityOf), found.budget)) {
    const place = `${path}[${other ?? one}]`;
    const [old, fresh] = [
      one === undefined ? undefined : before[one],
      other === undefined ? undefined : after[other],
    ];
    if (old === undefined && fresh !== undefined)
      found.list.push({ path: place, kind: 'added', after: fresh });
    else if (fresh === undefined && old !== undefined)
      found.list.push({ path: place, kind: 'removed', before: old });
    else if (old !== undefined && fresh !== undefined) collect(place, old, fresh, found);
  }
}

/** What an item of a list is known by. */
const names = ['name', 'step_id', 'id', 'agent_id', 'team_id', 'workflow_id'] as const;

function identityOf(item: Json): string {
  if (isJsonObject(item)) {
    const known = names.find((name) => typeof own(item, name) === 'string');
    if (known !== undefined) return `${known}:${item[known]}`;
  }
  return JSON.stringify(item);
}

function own(fields: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function placeOf(path: string, key: string): string {
  const plain = /^[\w$-]+$/.test(key);
  if (!plain) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
