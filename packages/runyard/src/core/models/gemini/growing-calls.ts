import { newCallId } from '../../ids.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { AnswerPiece } from '../provider/answer/answer-pieces.js';
import { addPartialArgument, emptyArguments } from './partial-arguments.js';

type CallPiece = Extract<AnswerPiece, { type: 'call' }>;

interface GrowingCall {
  readonly piece: CallPiece;
  readonly call: { readonly id: string; readonly name: string; arguments: string };
  args: JsonObject;
  /** More of it is announced. */
  open: boolean;
  /** A part of it could not be put anywhere. */
  spoiled: boolean;
}

/** The function calls of an answer. Each comes as a whole, or in parts of which only the first need name it. */
export class GrowingCalls {
  readonly #calls: GrowingCall[] = [];
  readonly #byId = new Map<string, GrowingCall>();
  readonly #open = new Set<GrowingCall>();
  #last: GrowingCall | undefined;

  /** Takes in the call of one part. Returns the piece of a call that begins with it. */
  accept(wire: JsonObject, signature: string | undefined): CallPiece | undefined {
    const parts = Array.isArray(wire.partialArgs) ? wire.partialArgs.filter(isJsonObject) : [];
    const known = this.#continuedBy(wire);
    // The mark of the end of a call is an empty call.
    if (!known && typeof wire.name !== 'string' && !wire.args && parts.length === 0) return undefined;
    const growing = known ?? this.#begin(wire);
    this.#last = growing;
    for (const part of parts) if (!addPartialArgument(growing.args, part)) growing.spoiled = true;
    if (isJsonObject(wire.args) && Object.keys(wire.args).length > 0) growing.args = wire.args;
    growing.open = wire.willContinue === true || parts.some(({ willContinue }) => willContinue === true);
    if (growing.open) this.#open.add(growing);
    else this.#open.delete(growing);
    if (signature !== undefined) growing.piece.data = { ...growing.piece.data, signature };
    return known ? undefined : growing.piece;
  }

  /**
   * Writes the arguments down. Those of a call that was cut off stay without their closing brace: no tool takes them,
   * and the model learns that it has to call again.
   */
  end(finishReason: string | undefined, lastPiece: AnswerPiece | undefined): void {
    for (const { piece, call, args, open, spoiled } of this.#calls) {
      const begunOnly =
        finishReason === 'MAX_TOKENS' && piece === lastPiece && Object.keys(args).length === 0;
      const text = JSON.stringify(args);
      const complete = !spoiled && !begunOnly && (!open || finishReason === 'STOP');
      call.arguments = complete ? text : text.slice(0, -1);
    }
  }

  #begin({ id, name }: JsonObject): GrowingCall {
    const given = typeof id === 'string' && id !== '';
    const call = { id: given ? id : newCallId(), name: String(name ?? ''), arguments: '' };
    const piece: CallPiece = { type: 'call', call, ...(given && { data: { id: true } }) };
    const growing = { piece, call, args: emptyArguments(), open: false, spoiled: false };
    this.#calls.push(growing);
    if (given) this.#byId.set(id, growing);
    return growing;
  }

  #continuedBy({ id, name, args }: JsonObject): GrowingCall | undefined {
    const named = typeof name === 'string' && name !== '';
    const identified = typeof id === 'string' && id !== '' ? this.#byId.get(id) : undefined;
    if (identified && (identified.open || !named)) return identified;
    const last = this.#last?.open ? this.#last : ([...this.#open].at(-1) ?? this.#last);
    if (!named) return args ? undefined : last;
    return last?.open && last.call.name === name && !id && !args ? last : undefined;
  }
}
