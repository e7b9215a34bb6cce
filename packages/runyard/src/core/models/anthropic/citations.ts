import { isJsonObject, type JsonObject } from '../../json.js';
import { CitationList, type CitedFields } from '../citations.js';
import { type AnswerPiece, textGap } from '../provider/answer/answer-pieces.js';

/** What the texts of an answer cite, and what was searched for. A citation supports the whole of its text block. */
export function citationsOf(pieces: readonly AnswerPiece[]): CitationList {
  const list = new CitationList();
  let end = 0;
  for (const piece of pieces) {
    if (piece.type === 'block') addQuery(list, piece.block);
    if (piece.type !== 'text') continue;
    const start = end + (piece.gap ? textGap.length : 0);
    end = start + piece.text.length;
    const citations = Array.isArray(piece.data?.citations) ? piece.data.citations : [];
    for (const citation of citations) {
      if (isJsonObject(citation)) list.add({ ...sourceOf(citation), start, end });
    }
  }
  return list;
}

function addQuery(list: CitationList, { type, name, input }: JsonObject): void {
  if (type !== 'server_tool_use' || name !== 'web_search' || !isJsonObject(input)) return;
  if (typeof input.query === 'string') list.addQuery(input.query);
}

/** A document, a search result of the request or a page of the web: the kinds of location differ only in their fields. */
function sourceOf(citation: JsonObject): CitedFields {
  const { url, source, title, document_title, cited_text, file_id, document_index, search_result_index } =
    citation;
  const address = url ?? source;
  return {
    [URL.canParse(String(address)) ? 'url' : 'filename']: address,
    title: title ?? document_title,
    citedText: cited_text,
    fileId: file_id,
    documentIndex: document_index ?? search_result_index,
  };
}
