import { holdsLongText, LongTexts, packed, unpackedPieces } from '../../../core/runs/journal/long-texts.js';
import {
  type JsonPiecesReply,
  jsonPieces,
  type Reply,
  reply,
} from '../../../platform/http/response/results.js';

/** A body as an answer. One with long texts is sent as it is made: as JSON it stands nowhere whole. */
export function bodyReply(
  body: object,
  headers: Readonly<Record<string, string>> = {},
): JsonPiecesReply | Reply {
  return holdsLongText(body) ? jsonPieces(packedPieces(body), headers) : reply(200, body, headers);
}

/** The JSON of a body; of one with long texts in pieces. */
export async function* jsonPiecesOf(body: object): AsyncGenerator<string> {
  if (holdsLongText(body)) yield* packedPieces(body);
  else yield JSON.stringify(body);
}

function packedPieces(body: object): AsyncGenerator<string> {
  const texts = new LongTexts(0);
  return unpackedPieces(
    packed(body, (text) => texts.idOf(text)),
    texts,
  );
}
