import { isJsonObject, type Json, type JsonObject } from '../../../json.js';
import type { Message, ToolCall } from '../../message.js';
import type { FinishReason, ModelResponse } from '../../model.js';

/**
 * One piece of an answer, in the order in which the provider sent them. `data` is what the provider wants to see
 * again beside the piece, untouched: a signature, an id. `gap` is set for a text that stands apart from the text before it.
 */
export type AnswerPiece =
  | { readonly type: 'text'; text: string; readonly gap?: boolean; data?: JsonObject }
  | { readonly type: 'reasoning'; text: string; data?: JsonObject }
  | { readonly type: 'call'; readonly call: ToolCall; data?: JsonObject }
  /** Something only the provider understands. */
  | { readonly type: 'block'; readonly block: JsonObject };

/** The separator in the content between two texts with a gap. */
export const textGap = '\n\n';

/**
 * Whether a text that begins after these pieces has a gap before it. Adjacent blocks are one text to a provider; what
 * follows a search, reasoning or a call begins a new paragraph. The gap belongs to the first delta of the text.
 */
export function hasGapAfter(pieces: readonly AnswerPiece[]): boolean {
  const last = pieces.findLastIndex((piece) => piece.type === 'text' && piece.text !== '');
  return last !== -1 && pieces.slice(last + 1).some(({ type }) => type !== 'text');
}

/**
 * The pieces without the calls that an early end cut off, and a note about them. Half of their arguments, or none, must
 * not reach a tool; arguments that are missing can only be those of the last call.
 */
export function withoutCutCalls(
  pieces: readonly AnswerPiece[],
  reason: FinishReason,
): { readonly pieces: readonly AnswerPiece[]; readonly cut?: string } {
  if (reason !== 'length' && reason !== 'content_filter') return { pieces };
  const last = pieces.findLast(({ type }) => type === 'call');
  const isCut = (piece: AnswerPiece) =>
    piece.type === 'call' && !isWhole(piece.call.arguments, piece !== last);
  const names = pieces.filter(isCut).map((piece) => piece.type === 'call' && piece.call.name);
  if (names.length === 0) return { pieces };
  const cut = `The call of ${names.join(', ')} was cut off and is not made.`;
  return { pieces: pieces.filter((piece) => !isCut(piece)), cut };
}

function isWhole(text: string, mayBeEmpty: boolean): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return mayBeEmpty && text === '';
  }
}

/** Whose pieces they are: signatures are of no use to another protocol, and mostly not to another model. */
export interface PieceOwner {
  readonly protocol: string;
  readonly model: string;
}

/** What the pieces say, and in `providerData` how to put them together again. */
export function responseParts(
  pieces: readonly AnswerPiece[],
  owner: PieceOwner,
  id?: string,
): Pick<ModelResponse, 'content' | 'reasoningContent' | 'toolCalls' | 'providerData'> {
  const reasoning = joined(pieces, 'reasoning');
  const layout = layoutOf(pieces, owner);
  const toolCalls: ToolCall[] = [];
  for (const piece of pieces) if (piece.type === 'call') toolCalls.push(piece.call);
  return {
    content: joined(pieces, 'text'),
    reasoningContent: reasoning === '' ? undefined : reasoning,
    toolCalls,
    providerData: providerDataOf(id, layout),
  };
}

function providerDataOf(id: string | undefined, layout: JsonObject | undefined): JsonObject | undefined {
  if (layout === undefined) return id === undefined ? undefined : { id };
  return id === undefined ? { layout } : { id, layout };
}

function joined(pieces: readonly AnswerPiece[], type: 'text' | 'reasoning'): string {
  let text = '';
  for (const piece of pieces) {
    if (piece.type !== type) continue;
    if (piece.type === 'text' && piece.gap) text += textGap;
    text += piece.text;
  }
  return text;
}

/** The text itself is in the message already: the layout holds only how long each piece of it is. */
function layoutOf(pieces: readonly AnswerPiece[], owner: PieceOwner): JsonObject | undefined {
  if (!pieces.some((piece) => piece.type === 'block' || piece.data !== undefined)) return undefined;
  return { ...owner, pieces: pieces.map(storedPiece) };
}

function storedPiece(piece: AnswerPiece): JsonObject {
  if (piece.type === 'block') return { block: piece.block };
  const data = piece.data === undefined ? undefined : { data: piece.data };
  if (piece.type === 'call') return { call: piece.call.id, ...data };
  const gap = piece.type === 'text' && piece.gap ? { gap: textGap.length } : undefined;
  return { [piece.type]: piece.text.length, ...gap, ...data };
}

/**
 * The pieces of an earlier answer: exactly as they came if `owner` sent them and the message has not been changed
 * since, else just its text and its calls.
 */
export function piecesOf(message: Message, owner: PieceOwner | undefined): readonly AnswerPiece[] {
  return (owner && exactPieces(message, owner)) ?? plainPieces(message);
}

function plainPieces({ content, toolCalls = [] }: Message): AnswerPiece[] {
  const text: AnswerPiece[] = content === '' ? [] : [{ type: 'text', text: content }];
  return [...text, ...toolCalls.map((call): AnswerPiece => ({ type: 'call', call }))];
}

function exactPieces(message: Message, owner: PieceOwner): AnswerPiece[] | undefined {
  const layout = message.providerData?.layout;
  if (!isJsonObject(layout) || layout.protocol !== owner.protocol || layout.model !== owner.model) {
    return undefined;
  }
  const calls = [...(message.toolCalls ?? [])].reverse();
  const texts = { text: message.content, reasoning: message.reasoningContent ?? '' };
  const used = { text: 0, reasoning: 0 };
  const pieces: AnswerPiece[] = [];
  for (const stored of Array.isArray(layout.pieces) ? layout.pieces : []) {
    if (!isJsonObject(stored)) return undefined;
    const data = isJsonObject(stored.data) ? { data: stored.data } : undefined;
    if (isJsonObject(stored.block)) {
      pieces.push({ type: 'block', block: stored.block });
    } else if (typeof stored.call === 'string') {
      // By their order: a call gets another id when the provider named it like an earlier one.
      const call = calls.pop();
      if (call === undefined) return undefined;
      pieces.push({ type: 'call', call, ...data });
    } else {
      const type = typeof stored.text === 'number' ? 'text' : 'reasoning';
      const begin = used[type] + (stored.gap === undefined ? 0 : length(stored.gap));
      const end = begin + length(stored[type]);
      pieces.push({ type, text: texts[type].slice(begin, end), ...data });
      used[type] = end;
    }
  }
  const unchanged =
    calls.length === 0 && used.text === texts.text.length && used.reasoning === texts.reasoning.length;
  return unchanged ? pieces : undefined;
}

function length(value: Json | undefined): number {
  return typeof value === 'number' ? value : Number.NaN;
}
