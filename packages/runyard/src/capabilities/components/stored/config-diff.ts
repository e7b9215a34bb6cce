import { isJsonObject, type Json } from '../../../core/json.js';
import { diffLines } from './diff-lines.js';
import { pairs } from './sequence-pairs.js';
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

/** What differs between two contents, field by field. */
export function compared(before: Content, after: Content): ConfigDiff {
  const found: ConfigDifference[] = [];
  collect('', before.config, after.config, found);
  collect('links', linksOf(before), linksOf(after), found);
  return { differences: found.slice(0, mostDifferences), isTruncated: found.length > mostDifferences };
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

function collect(path: string, before: Json, after: Json, found: ConfigDifference[]): void {
  if (found.length > mostDifferences || before === after) return;
  if (isJsonObject(before) && isJsonObject(after)) {
    collectFields(path, before, after, found);
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    collectItems(path, before, after, found);
    return;
  }
  const lines =
    typeof before === 'string' && typeof after === 'string' ? diffLines(before, after) : undefined;
  found.push({ path, kind: 'changed', before, after, ...(lines !== undefined && { lines }) });
}

function collectFields(
  path: string,
  before: { readonly [key: string]: Json },
  after: { readonly [key: string]: Json },
  found: ConfigDifference[],
): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = placeOf(path, key);
    const [one, other] = [own(before, key), own(after, key)];
    if (one === undefined && other !== undefined) found.push({ path: place, kind: 'added', after: other });
    else if (other === undefined && one !== undefined)
      found.push({ path: place, kind: 'removed', before: one });
    else if (one !== undefined && other !== undefined) collect(place, one, other, found);
  }
}

/** Items that name the same thing are compared with each other, in their order; others are added or removed. */
function collectItems(
  path: string,
  before: readonly Json[],
  after: readonly Json[],
  found: ConfigDifference[],
): void {
  for (const [one, other] of pairs(before.map(identityOf), after.map(identityOf))) {
    const place = `${path}[${other ?? one}]`;
    const [old, fresh] = [
      one === undefined ? undefined : before[one],
      other === undefined ? undefined : after[other],
    ];
    if (old === undefined && fresh !== undefined) found.push({ path: place, kind: 'added', after: fresh });
    else if (fresh === undefined && old !== undefined)
      found.push({ path: place, kind: 'removed', before: old });
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
