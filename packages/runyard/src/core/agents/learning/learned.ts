import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { storable } from '../memory/memory-text.js';
import { sectionOf } from './learned-schema.js';
import type { LearningKind } from './learning-settings.js';

/** What is new, as a model reported it: only the usable part. */
export interface Learned {
  /** An empty value takes the field away. */
  readonly profile: readonly { readonly field: string; readonly value: string }[];
  /** With the id of a known one: it is replaced, or forgotten when the text is empty. */
  readonly memories: readonly { readonly id: string; readonly memory: string }[];
  /** What is left out stays. */
  readonly session: JsonObject;
  readonly entities: readonly LearnedEntity[];
  readonly decisions: readonly { readonly decision: string; readonly reasoning: string }[];
}

export interface LearnedEntity {
  readonly entityType: string;
  readonly entityId: string;
  readonly name: string;
  readonly facts: readonly string[];
  readonly events: readonly string[];
  readonly relations: readonly { readonly relation: string; readonly to: string }[];
}

/** How much of one answer is taken. */
const mostEntries = 20;
const longestText = 1_000;
const longestName = 100;

/** Reads what a model says. What does not fit is left out: models that are asked only in words stray from the shape. */
export function learnedIn(value: Json | undefined, kinds: ReadonlySet<LearningKind>): Learned {
  const given = isJsonObject(value) ? value : {};
  const section = (kind: LearningKind): Json | undefined =>
    kinds.has(kind) ? given[sectionOf[kind]] : undefined;
  return {
    profile: objectsIn(section('userProfile')).flatMap(profileField),
    memories: objectsIn(section('userMemory')).flatMap(memory),
    session: sessionContext(section('sessionContext')),
    entities: objectsIn(section('entityMemory')).flatMap(entity),
    decisions: objectsIn(section('decisions')).flatMap(decision),
  };
}

function profileField({ field, value }: JsonObject): Learned['profile'] {
  const name = textOf(field, longestName);
  const known = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return name === '' || !known ? [] : [{ field: name, value: textOf(String(value)) }];
}

function memory(given: JsonObject): Learned['memories'] {
  const id = textOf(given.id, longestName);
  const text = textOf(given.memory);
  return id === '' && text === '' ? [] : [{ id, memory: text }];
}

function sessionContext(value: Json | undefined): JsonObject {
  if (!isJsonObject(value)) return {};
  const { summary, goal, plan, progress } = value;
  const texts = {
    summary: textOf(summary),
    goal: textOf(goal),
    plan: textsIn(plan),
    progress: textsIn(progress),
  };
  return Object.fromEntries(Object.entries(texts).filter(([, content]) => content.length > 0));
}

function entity(given: JsonObject): LearnedEntity[] {
  const name = textOf(given.name, longestName);
  const entityType = identifierFrom(textOf(given.entity_type, longestName));
  if (name === '' || entityType === '') return [];
  const relations = objectsIn(given.relations).flatMap(({ relation, to }) => {
    const other = { relation: textOf(relation, longestName), to: textOf(to, longestName) };
    return other.relation === '' || other.to === '' ? [] : [other];
  });
  const facts = textsIn(given.facts);
  const events = textsIn(given.events);
  if (facts.length + events.length + relations.length === 0) return [];
  return [{ entityType, entityId: identifierFrom(name), name, facts, events, relations }];
}

function decision(given: JsonObject): Learned['decisions'] {
  const decided = textOf(given.decision);
  return decided === '' ? [] : [{ decision: decided, reasoning: textOf(given.reasoning) }];
}

/** The same thing has the same id, however its name is written. */
function identifierFrom(name: string): string {
  return name.normalize('NFKC').toLowerCase().replace(/\s+/g, '_');
}

function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject).slice(0, mostEntries) : [];
}

function textsIn(value: Json | undefined): string[] {
  if (!Array.isArray(value)) return [];
  const texts = value.map((text) => textOf(text)).filter((text) => text !== '');
  return [...new Set(texts)].slice(0, mostEntries);
}

function textOf(value: Json | undefined, limit = longestText): string {
  return typeof value === 'string' ? storable(value, limit) : '';
}
