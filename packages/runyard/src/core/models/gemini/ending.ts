import { isJsonObject, type Json } from '../../json.js';
import type { FinishReason } from '../model.js';

/** How an answer ended, in Google's words. */
export interface Ending {
  readonly word: string;
  /** The prompt was blocked, for whichever reason. */
  readonly blocked?: true;
  readonly message: Json | undefined;
  /** They name the categories of harm that stopped the answer. */
  readonly safetyRatings: Json | undefined;
}

export function endingParts(
  ending: Ending | undefined,
  called: boolean,
): { readonly finishReason: FinishReason; readonly finishMessage?: string } {
  const finishReason = ending?.blocked ? 'content_filter' : reasonOf(ending?.word, called);
  const explained =
    ending !== undefined && ending.word !== 'STOP' && (finishReason !== 'length' || ending.message);
  return { finishReason, ...(explained && { finishMessage: explanation(ending) }) };
}

function reasonOf(word: string | undefined, called: boolean): FinishReason {
  switch (word) {
    case 'STOP':
      return called ? 'tool_calls' : 'stop';
    case 'MAX_TOKENS':
      return 'length';
    case 'SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'LANGUAGE':
    case 'MODEL_ARMOR':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
      return 'content_filter';
    default:
      return called ? 'tool_calls' : 'other';
  }
}

function explanation({ word, message, safetyRatings }: Ending): string {
  const ratings = Array.isArray(safetyRatings) ? safetyRatings.filter(isJsonObject) : [];
  const blocked = ratings.filter((rating) => rating.blocked === true).map(({ category }) => String(category));
  const said = typeof message === 'string' && message !== '' ? `: ${message}` : '';
  return `${word}${said}${blocked.length > 0 ? ` (${blocked.join(', ')})` : ''}`;
}
