import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { ownSteps } from '../../runs/journal/child-steps.js';
import { readIf } from '../../runs/journal/codec.js';
import type { StepRecord } from '../../runs/run.js';
import { knowledgeRecord, toolRecord } from '../journal-records.js';

/** A chunk that a search found, in the words of the wire. */
export type ReferenceBody = { name: string | null; content: string; meta_data: JsonObject };

/** What one search found, in the words of the wire. `time`: how many seconds it took. */
export type ReferencesBody = { query: string; references: ReferenceBody[]; time: number };

/** A chunk that a search of the run found. */
export interface Reference {
  readonly name: string | null;
  readonly content: string;
  readonly metadata: JsonObject;
}

/** What one search of the run found. */
export interface References {
  readonly query: string;
  readonly references: readonly Reference[];
  /** How many seconds it took. */
  readonly time: number;
}

/** What the searches of a run found, in the order in which they began. Searches that found nothing are left out. */
export function referencesOf(steps: readonly StepRecord[]): ReferencesBody[] {
  return ownSteps(steps).flatMap((step) => referencesIn(step) ?? []);
}

/** The same for code. */
export function foundReferences(steps: readonly StepRecord[]): readonly References[] {
  return referencesOf(steps).map(({ query, references, time }) => ({
    query,
    references: references.map(({ name, content, meta_data }) => ({ name, content, metadata: meta_data })),
    time,
  }));
}

/** What the search that a step is has found. */
export function referencesIn(step: StepRecord): ReferencesBody | undefined {
  if (step.status !== 'completed' || (step.kind !== 'knowledge' && step.kind !== 'tool')) return undefined;
  const found = step.kind === 'knowledge' ? readIf(step, knowledgeRecord) : calledSearch(step);
  if (found === undefined || found.references.length === 0) return undefined;
  const time = ((step.endedAt ?? step.startedAt) - step.startedAt) / 1000;
  return { query: found.query, references: [...found.references], time };
}

/** The result of the search tool is what was found, as text; hooks of the application may have changed it. */
function calledSearch(step: StepRecord): { query: string; references: ReferenceBody[] } | undefined {
  const record = readIf(step, toolRecord);
  if (record?.knowledge !== true) return undefined;
  const query = record.args?.query;
  return { query: typeof query === 'string' ? query : '', references: referencesInText(record.content) };
}

/** Reads what `referencesText` wrote; another text has no references in it. */
function referencesInText(text: string): ReferenceBody[] {
  let list: Json;
  try {
    list = JSON.parse(text);
  } catch {
    return [];
  }
  return Array.isArray(list) ? list.filter(isReference) : [];
}

function isReference(value: Json): value is ReferenceBody {
  return isJsonObject(value) && typeof value.content === 'string' && isJsonObject(value.meta_data);
}
