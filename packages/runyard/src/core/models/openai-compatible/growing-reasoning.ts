import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { AnswerPiece } from '../provider/answer/answer-pieces.js';

/** Puts the reasoning of an answer together, with what the provider needs to see again beside it. */
export class GrowingReasoning {
  readonly pieces: AnswerPiece[] = [];

  /** Takes in the reasoning of one part, and answers with its text. */
  accept(part: JsonObject, isWhole: boolean): string {
    const details = Array.isArray(part.reasoning_details) ? part.reasoning_details.filter(isJsonObject) : [];
    const text = details.map((detail) => this.#detail(detail, isWhole)).join('');
    if (text !== '') return text;
    // The same text under an older and a newer name.
    const plain = [part.reasoning_content, part.reasoning].find(
      (given) => given && typeof given === 'string',
    );
    if (typeof plain !== 'string') return '';
    this.#grow(plain, undefined);
    return plain;
  }

  /** A part of Mistral's content, in which the reasoning is a list of texts. */
  think({ thinking }: JsonObject): string {
    const parts = Array.isArray(thinking) ? thinking : [thinking ?? null];
    const text = parts
      .map((part) => (isJsonObject(part) ? part.text : part))
      .filter(isText)
      .join('');
    if (text !== '') this.#grow(text, { type: 'thinking' });
    return text;
  }

  #grow(text: string, data: JsonObject | undefined): void {
    const last = this.pieces.at(-1);
    if (last?.type === 'reasoning' && last.data?.type === data?.type) last.text += text;
    else this.pieces.push({ type: 'reasoning', text, ...(data && { data }) });
  }

  /** A stream delivers an entry of the list in pieces with the same index, its signature last. */
  #detail(detail: JsonObject, isWhole: boolean): string {
    const { [textFieldOf(detail)]: given, ...data } = detail;
    const text = isText(given) ? given : '';
    const last = this.pieces.at(-1);
    if (!isWhole && last?.type === 'reasoning' && last.data && continues(last.data, detail, text)) {
      last.text += text;
      last.data = { ...last.data, ...known(data) };
    } else if (isText(given)) {
      this.pieces.push({ type: 'reasoning', text, data });
    } else {
      this.pieces.push({ type: 'block', block: detail });
    }
    return text;
  }
}

function continues(last: JsonObject, detail: JsonObject, text: string): boolean {
  const isSigned = isText(last.signature) && text !== '';
  return last.type === detail.type && last.index === detail.index && !isSigned;
}

function known(data: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string';
}

/** Where an entry of `reasoning_details` has its text. */
export function textFieldOf({ type }: JsonObject): string {
  return type === 'reasoning.summary' ? 'summary' : 'text';
}
