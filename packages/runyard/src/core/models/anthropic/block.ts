import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type { AnswerPiece } from '../provider/answer/answer-pieces.js';

/** A block of the answer while its deltas arrive. */
export class GrowingBlock {
  /** How the caller sees it: `block` is for the provider alone. */
  readonly kind: AnswerPiece['type'];
  /** Text, thinking, or the JSON of a tool's input, as far as it has come. */
  text = '';
  /** Whether the start of the block held its whole input: deltas that follow only repeat it. */
  complete = false;
  /** Whether its text stands apart from the text before it. */
  gap = false;
  /** A block that an earlier message of the same stream sent, as long as this one only repeats it. */
  echo: GrowingBlock | undefined;
  readonly #start: JsonObject;
  #fields: JsonObject;

  /** `answerTool` is the tool whose input is the answer itself. */
  constructor(start: JsonObject, answerTool: string | undefined) {
    this.#start = start;
    this.#fields = { ...start };
    this.kind = kindOf(start, answerTool);
  }

  get name(): string {
    return String(this.#start.name);
  }

  /** Begins again if the provider sends the same block once more. */
  restart(start: JsonObject): boolean {
    const { type, id } = this.#start;
    const same = type === start.type && (id === undefined ? equal(this.#start, start) : id === start.id);
    if (same) {
      this.#fields = { ...start };
      this.text = '';
    }
    return same;
  }

  /** Takes in a delta that says nothing to the caller: a signature, a citation, a summary, or one of a later protocol. */
  add({ type: _, citation, ...changes }: JsonObject): void {
    if (isJsonObject(citation)) {
      const { citations } = this.#fields;
      if (Array.isArray(citations)) citations.push(citation);
      else this.#fields.citations = [citation];
    }
    for (const [name, value] of Object.entries(changes)) {
      const before = this.#fields[name];
      if (typeof before === 'string' && typeof value === 'string') this.#fields[name] = before + value;
      else if (value !== null || before === undefined) this.#fields[name] = value;
    }
  }

  piece(): AnswerPiece {
    const { text, kind } = this;
    const { type, text: _, thinking, id, name, input, ...others } = this.#fields;
    if (kind === 'text') return { type: kind, text, gap: this.gap, ...(type === 'text' && dataOf(others)) };
    if (kind === 'reasoning') return { type: kind, text, ...dataOf(others) };
    if (kind === 'call') {
      const call = { id: String(id), name: String(name), arguments: text || '{}' };
      return { type: kind, call, ...dataOf(others) };
    }
    return { type: 'block', block: text === '' ? this.#fields : { ...this.#fields, input: parsed(text) } };
  }
}

function equal(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function kindOf({ type, name }: JsonObject, answerTool: string | undefined): GrowingBlock['kind'] {
  if (type === 'text') return 'text';
  if (type === 'thinking') return 'reasoning';
  if (type !== 'tool_use') return 'block';
  return name === answerTool ? 'text' : 'call';
}

/** What the provider wants to see again beside the text or the call. */
function dataOf(fields: JsonObject): { data: JsonObject } | undefined {
  const known = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
  );
  return known.length === 0 ? undefined : { data: Object.fromEntries(known) };
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return {};
  }
}
