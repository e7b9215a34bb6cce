import { idFrom } from '../../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Learned, LearnedEntity } from './learned.js';

/**
 * What becomes of a stored content when something new is learned. Undefined: nothing changes. People can write these
 * records too, so what is there may have any shape; what is not understood stays.
 */

/** How much one record holds; beyond it the oldest goes. */
const mostFields = 50;
const mostMemories = 100;
const mostStatements = 50;

export function mergedProfile(content: JsonObject | undefined, { profile }: Learned): JsonObject | undefined {
  const fields = new Map(Object.entries(content ?? {}));
  for (const { field, value } of profile) {
    // what has changed is the newest
    if (fields.get(field) === value) continue;
    fields.delete(field);
    if (value !== '') fields.set(field, value);
  }
  return changed(content, Object.fromEntries([...fields].slice(-mostFields)));
}

/** `seed` makes the ids of new ones: the same whenever the same is learned again from the same run. */
export function mergedMemories(
  content: JsonObject | undefined,
  { memories }: Learned,
  seed: string,
): JsonObject | undefined {
  const kept = new Map(statementsIn(content?.memories).map((one) => [one.id, one]));
  memories.forEach(({ id, memory }, position) => {
    if (kept.has(id)) {
      if (memory === '') kept.delete(id);
      else kept.set(id, { id, content: memory });
    } else if (memory !== '' && !says([...kept.values()], memory)) {
      const made = shortId(`${seed}:${position}`);
      kept.set(made, { id: made, content: memory });
    }
  });
  return changed(content, { ...content, memories: [...kept.values()].slice(-mostMemories) });
}

export function mergedSession(content: JsonObject | undefined, { session }: Learned): JsonObject | undefined {
  return changed(content, { ...content, ...session });
}

export function mergedEntity(
  content: JsonObject | undefined,
  { name, facts, events, relations }: LearnedEntity,
  seed: string,
): JsonObject | undefined {
  return changed(content, {
    name,
    ...content,
    facts: withStatements(content?.facts, facts, `${seed}:fact`),
    events: withStatements(content?.events, events, `${seed}:event`),
    relations: withRelations(content?.relations, relations),
  });
}

interface Statement extends JsonObject {
  id: string;
  content: string;
}

function withStatements(value: Json | undefined, texts: readonly string[], seed: string): Statement[] {
  const known = statementsIn(value);
  const added = texts
    .filter((text) => !says(known, text))
    .map((text, position) => ({ id: shortId(`${seed}:${position}`), content: text }));
  return [...known, ...added].slice(-mostStatements);
}

function withRelations(value: Json | undefined, relations: LearnedEntity['relations']): JsonObject[] {
  const known = Array.isArray(value) ? value.filter(isJsonObject) : [];
  const added = relations.filter(
    ({ relation, to }) => !known.some((one) => one.relation === relation && one.to === to),
  );
  return [...known, ...added.map((one) => ({ ...one }))].slice(-mostStatements);
}

/** Those of a stored list; a single text counts as one too. */
export function statementsIn(value: Json | undefined): Statement[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one) => {
    if (typeof one === 'string') return [{ id: shortId(one), content: one }];
    if (!isJsonObject(one) || typeof one.content !== 'string') return [];
    const id = typeof one.id === 'string' ? one.id : shortId(one.content);
    return [{ ...one, id, content: one.content }];
  });
}

function says(statements: readonly Statement[], text: string): boolean {
  const words = text.toLowerCase();
  return statements.some(({ content }) => content.toLowerCase() === words);
}

function shortId(seed: string): string {
  return idFrom(seed).slice(0, 8);
}

function changed(before: JsonObject | undefined, after: JsonObject): JsonObject | undefined {
  if (before === undefined) return Object.keys(after).length === 0 ? undefined : after;
  return JSON.stringify(before) === JSON.stringify(after) ? undefined : after;
}
