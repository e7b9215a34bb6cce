import { holdsLongText, LongTexts, packed, unpackedPieces } from '../../core/runs/long-texts.js';
import { type JsonPiecesReply, jsonPieces, type Reply, reply } from '../../platform/http/results.js';

/** A body as an answer. One with long texts is sent as it is made: as JSON it stands nowhere whole. */
export function bodyReply(
  body: object,
  headers: Readonly<Record<string, string>> = {},
): JsonPiecesReply | Reply {
  if (!holdsLongText(body)) return reply(200, body, headers);
  const texts = new LongTexts(0);
  return jsonPieces(unpackedPieces(packed(body, texts.idOf), texts), headers);
}
