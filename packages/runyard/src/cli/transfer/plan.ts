import type { z } from 'zod';
import type { JsonObject } from '../../core/json.js';
import { type FileFault, nothing, type Plan, type PlannedFile, type ThingFile } from './thing.js';

/** How things of a kind are compared with those of a service, and brought there. */
export interface Comparison<Content, Stored> {
  readonly schema: z.ZodType<Content>;
  /** What identifies a thing, in every service. */
  key(content: Content): string;
  name(content: Content): string;
  /** What the service has, by its key. */
  readonly stored: ReadonlyMap<string, Stored>;
  nameOfStored(stored: Stored): string;
  /** What is not as the file says; empty when nothing has to be done. */
  differences(content: Content, stored: Stored): readonly string[];
  create(content: Content): Promise<void>;
  change(content: Content, stored: Stored): Promise<void>;
  remove(stored: Stored): Promise<void>;
}

/** What has to be done for the files of a kind. */
export function planOf<Content, Stored>(
  files: readonly ThingFile[],
  comparison: Comparison<Content, Stored>,
): Plan {
  const { stored } = comparison;
  const faults: FileFault[] = [];
  const planned: PlannedFile[] = [];
  const paths = new Map<string, string>();
  for (const { path, content: given } of files) {
    const read = readFile(comparison.schema, given);
    if (typeof read === 'string') {
      faults.push({ path, message: read });
      continue;
    }
    const key = comparison.key(read.content);
    const other = paths.get(key);
    if (other !== undefined) {
      faults.push({ path, message: `is about the same as ${other}. Remove one of them.` });
      continue;
    }
    paths.set(key, path);
    planned.push(plannedFile(path, read.content, stored.get(key), comparison));
  }
  const others = [...stored]
    .filter(([key]) => !paths.has(key))
    .map(([, one]) => ({
      name: comparison.nameOfStored(one),
      action: 'delete' as const,
      differences: [],
      apply: () => comparison.remove(one),
    }));
  return { files: planned, faults, others: faults.length === 0 ? others : [] };
}

function plannedFile<Content, Stored>(
  path: string,
  content: Content,
  stored: Stored | undefined,
  comparison: Comparison<Content, Stored>,
): PlannedFile {
  const about = { path, name: comparison.name(content) };
  if (stored === undefined)
    return { ...about, action: 'create', differences: [], apply: () => comparison.create(content) };
  const differences = comparison.differences(content, stored);
  if (differences.length === 0) return { ...about, action: 'leave', differences, apply: nothing };
  return { ...about, action: 'change', differences, apply: () => comparison.change(content, stored) };
}

function readFile<Content>(
  schema: z.ZodType<Content>,
  given: JsonObject,
): { readonly content: Content } | string {
  const result = schema.safeParse(given);
  if (result.success) return { content: result.data };
  return result.error.issues
    .map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
    .join('; ');
}
