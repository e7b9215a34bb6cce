import { newCallId } from '../../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { AnswerPiece } from '../provider/answer/answer-pieces.js';

interface Fragment {
  id: string;
  name: string;
  arguments: string;
}

/** A tool call while its fragments arrive. */
interface GrowingCall extends Fragment {
  /** Whether the last fragment of the arguments ends as they all do: only then is it worth a look at the whole. */
  closed: boolean;
  /** What belongs to the call and is sent back with it, as Gemini's thought signatures. */
  extra?: JsonObject;
}

/** Puts the tool calls of an answer together. */
export class GrowingCalls {
  readonly #calls: GrowingCall[] = [];
  readonly #byIndex = new Map<number, GrowingCall>();
  readonly #byId = new Map<string, GrowingCall>();

  get pieces(): AnswerPiece[] {
    return this.#calls
      .filter(({ name }) => name !== '')
      .map(({ id, name, arguments: text, extra }) => ({
        type: 'call',
        call: { id: id || newCallId(), name, arguments: text },
        ...(extra && { data: { extra_content: extra } }),
      }));
  }

  /** Takes in a fragment of a stream, or a call that is whole. */
  accept(wire: JsonObject, isWhole: boolean): void {
    const called = isJsonObject(wire.function) ? wire.function : {};
    const { arguments: given } = called;
    const isObject = typeof given === 'object' && given !== null;
    const fragment: Fragment = {
      id: textOf(wire.id),
      name: textOf(called.name),
      arguments: isObject ? JSON.stringify(given) : textOf(given),
    };
    const call = isWhole ? this.#begin() : this.#callFor(wire.index, fragment);
    if (call.id === '') call.id = fragment.id;
    if (fragment.id !== '') this.#byId.set(fragment.id, call);
    if (call.name === '') call.name = fragment.name;
    if (isObject) call.arguments = fragment.arguments;
    else if (!repeats(call, fragment)) call.arguments += fragment.arguments;
    if (fragment.arguments.trim() !== '') call.closed = fragment.arguments.trimEnd().endsWith('}');
    if (isJsonObject(wire.extra_content)) call.extra = wire.extra_content;
  }

  /**
   * Which call a fragment belongs to. The index decides where there is one, but servers exist that leave it out,
   * and others that number every call 0: there a new id, or a name after complete arguments, begins a new call.
   */
  #callFor(index: Json | undefined, fragment: Fragment): GrowingCall {
    const numbered = typeof index === 'number';
    const { id } = fragment;
    const current = numbered ? this.#byIndex.get(index) : (this.#byId.get(id) ?? this.#calls.at(-1));
    if (current && !beginsAnother(current, fragment)) return current;
    const begun = this.#begin();
    if (numbered) this.#byIndex.set(index, begun);
    return begun;
  }

  #begin(): GrowingCall {
    const begun: GrowingCall = { id: '', name: '', arguments: '', closed: false };
    this.#calls.push(begun);
    return begun;
  }
}

function beginsAnother(current: GrowingCall, fragment: Fragment): boolean {
  const { id, name } = fragment;
  if (id !== '' && current.id !== '' && id !== current.id) return true;
  if (id !== '' && id === current.id && (fragment.arguments.trim() === '' || repeats(current, fragment)))
    return false;
  if (name === '' || current.name === '') return false;
  return (id === '' && name !== current.name) || isComplete(current);
}

/** Some servers send a call that came in fragments once more as a whole. */
function repeats(current: GrowingCall, { id, arguments: text }: Fragment): boolean {
  return id !== '' && id === current.id && text === current.arguments && isComplete(current);
}

function isComplete({ arguments: text, closed }: GrowingCall): boolean {
  if (!closed) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
