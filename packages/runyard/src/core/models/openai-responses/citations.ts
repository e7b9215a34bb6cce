import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { CitationList } from '../citations.js';
import { unitsIn } from '../provider/answer/unit-positions.js';

/** An annotation of a message, with the place of its part in the message; undefined when that is not known. */
export interface Annotation {
  readonly wire: JsonObject;
  readonly part: TextSpan | undefined;
}

interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** The first part of a message that is not complete. */
export const firstPart: TextSpan = { start: 0, end: Number.POSITIVE_INFINITY };

/** The annotations in the parts of a whole message. */
export function annotationsIn(parts: readonly JsonObject[]): Annotation[] {
  const all: Annotation[] = [];
  let start = 0;
  for (const content of parts) {
    const part = { start, end: start + textOf(content).length };
    for (const wire of list(content.annotations)) if (isJsonObject(wire)) all.push({ wire, part });
    start = part.end;
  }
  return all;
}

/** The text of one part of a message. A part of another kind has none. */
export function textOf({ text, refusal }: JsonObject): string {
  return [text, refusal].find((value) => typeof value === 'string') ?? '';
}

/** Adds what a message cites. `offset` is where the text of the message begins in the content. */
export function cite(
  citations: CitationList,
  annotations: readonly Annotation[],
  text: string,
  offset: number,
): void {
  const units = new Map<TextSpan, (characters: number) => number>();
  for (const { wire, part } of annotations) {
    const unitAt = part && (units.get(part) ?? unitsIn(text.slice(part.start, part.end)));
    if (part && unitAt) units.set(part, unitAt);
    const place = (characters: Json | undefined) =>
      part === undefined || unitAt === undefined || typeof characters !== 'number'
        ? {}
        : { at: offset + part.start + unitAt(characters) };
    const { at: start } = place(wire.start_index);
    const { at: end } = place(wire.end_index);
    citations.add({
      url: wire.url,
      title: wire.title,
      fileId: wire.file_id,
      filename: wire.filename,
      ...(start !== undefined && end !== undefined && { start, end }),
    });
  }
}

/** What the provider's own tools searched for. */
export function addQueries(citations: CitationList, { type, action, queries }: JsonObject): void {
  const searched = type === 'web_search_call' && isJsonObject(action) ? action : {};
  for (const query of [...list(queries), ...list(searched.queries), searched.query])
    if (typeof query === 'string') citations.addQuery(query);
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
