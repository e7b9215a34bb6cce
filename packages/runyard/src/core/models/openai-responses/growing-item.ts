import type { JsonObject } from '../../json.js';
import type { ToolCall } from '../message.js';
import type { AnswerPiece } from '../provider/answer/answer-pieces.js';
import type { Annotation } from './citations.js';
import { summarySeparator } from './request.js';

/** One item of the output while it grows. */
export interface GrowingItem {
  readonly type: string;
  /** The text, the reasoning, the arguments of a function call, or an unfinished image, as far as they have come. */
  text: string;
  /** Of reasoning: where each part begins. */
  readonly parts: { kind: ReasoningKind; readonly start: number }[];
  annotations: Annotation[];
  /** The item as the provider sent it last. */
  wire: JsonObject;
  /** The call that the client has to answer. */
  client?: { readonly call: ToolCall; readonly data: JsonObject } | undefined;
  done: boolean;
}

export type ReasoningKind = 'summary' | 'content';

export function newItem(wire: JsonObject): GrowingItem {
  return { type: String(wire.type), text: '', parts: [], annotations: [], wire, done: false };
}

/** Items in their order, by type. */
export class ItemsByType {
  readonly #items = new Map<string, Set<GrowingItem>>();

  constructor(items: readonly GrowingItem[], except: ReadonlySet<GrowingItem | undefined>) {
    for (const item of items) {
      if (except.has(item)) continue;
      const same = this.#items.get(item.type) ?? new Set();
      this.#items.set(item.type, same.add(item));
    }
  }

  /** Takes out the preferred item if it is one of this type, else the first of them. */
  take(type: string, preferred: GrowingItem | undefined): GrowingItem | undefined {
    const same = this.#items.get(type);
    const item = preferred && same?.has(preferred) ? preferred : same?.values().next().value;
    if (item) same?.delete(item);
    return item;
  }
}

/** Begins a part of the reasoning, and returns what stands before it. */
export function beginPart({ text, parts }: GrowingItem, kind: ReasoningKind): string {
  const last = parts.at(-1);
  if (last?.start === text.length) {
    last.kind = kind;
    return '';
  }
  const before = text === '' ? '' : summarySeparator;
  parts.push({ kind, start: text.length + before.length });
  return before;
}

/** The piece of an item that is neither text nor an image. */
export function pieceOf(item: GrowingItem, answeredThere: boolean): AnswerPiece | undefined {
  const { type, text, wire, client } = item;
  if (type === 'reasoning') return reasoningPiece(item);
  if (type === 'function_call') {
    const { call_id, id, name, namespace } = wire;
    const call = { id: String(call_id ?? id ?? ''), name: String(name ?? ''), arguments: text };
    return { type: 'call', call, ...(typeof namespace === 'string' && { data: { namespace } }) };
  }
  if (!item.done) return undefined;
  return client === undefined || answeredThere ? { type: 'block', block: wire } : { type: 'call', ...client };
}

function reasoningPiece({ text, parts, wire }: GrowingItem): AnswerPiece {
  // Without its encrypted content the item means nothing to a server that stored nothing.
  const { id = '', encrypted_content } = wire;
  if (typeof encrypted_content !== 'string' || encrypted_content === '') return { type: 'reasoning', text };
  const all = parts.length > 0 ? parts : [{ kind: 'summary', start: 0 } as const];
  const ends = [...all.slice(1).map(({ start }) => start - summarySeparator.length), text.length];
  const content = all.flatMap(({ kind }, index) => (kind === 'content' ? [index] : []));
  const data = {
    id,
    encrypted_content,
    lengths: text === '' ? [] : all.map(({ start }, index) => (ends[index] ?? start) - start),
    ...(content.length > 0 && { content }),
  };
  return { type: 'reasoning', text, data };
}
