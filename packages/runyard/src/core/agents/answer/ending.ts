import type { CitationsBody, EndingFields } from '../../events/agent-event.js';
import type { Citation, Citations } from '../../models/citations.js';
import type { AnswerEnding } from '../../models/model.js';
import { type Writable, withoutUndefined } from '../../objects.js';
import type { ModelRecord } from '../journal-records.js';

type Ending = Partial<AnswerEnding>;

/** The part of a result that says how its answer ended. */
export function endingOf({ finishReason, finishMessage, citations }: Ending): Ending {
  const ending: Writable<Ending> = finishReason === undefined ? {} : { finishReason };
  if (finishMessage !== undefined) ending.finishMessage = finishMessage;
  if (citations !== undefined) ending.citations = citations;
  return ending;
}

/** How a model call ended. One that asked for tools is the last one when a tool ended the run. */
export function endingOfCall(record: ModelRecord): Ending {
  const { toolCalls, citations } = record;
  return toolCalls === undefined ? endingOf(record) : endingOf({ finishReason: 'tool_calls', citations });
}

/** The ending of a call that rewrote an answer: when it cites nothing itself, the sources are those of the answer. */
export function rewrittenEnding(record: ModelRecord, { citations }: Ending): Ending {
  return { ...withoutPlaces(citations === undefined ? {} : { citations }), ...endingOfCall(record) };
}

/** The same for a content that is no longer the text of the call: the places in that text mean nothing in it. */
export function withoutPlaces(ending: Ending): Ending {
  if (ending.citations === undefined) return ending;
  const { sources, ...queries } = ending.citations;
  const placeless = sources.map(({ start: _start, end: _end, ...source }) => source);
  return { ...ending, citations: { ...queries, sources: unique(placeless) } };
}

/** The wire's words for it. What is unknown is left out. */
export function endingFields({ finishReason, finishMessage, citations }: Ending): EndingFields {
  const fields: EndingFields = finishReason === undefined ? {} : { finish_reason: finishReason };
  if (finishMessage !== undefined) fields.finish_message = finishMessage;
  if (citations !== undefined) fields.citations = citationsBody(citations);
  return fields;
}

/** `urls` and `documents` are for a list below the answer; `sources` says which part of the answer rests on what. */
function citationsBody({ sources, searchQueries = [] }: Citations): CitationsBody {
  const pages = new Map<string, { url: string; title?: string }>();
  for (const { url, title } of sources) {
    if (url !== undefined && pages.get(url)?.title === undefined)
      pages.set(url, withoutUndefined({ url, title }));
  }
  const documents = sources
    .filter(({ url }) => url === undefined)
    .map(({ title, citedText, filename }) =>
      withoutUndefined({ document_title: title, cited_text: citedText, file_name: filename }),
    )
    .filter((document) => Object.keys(document).length > 0);
  const parts = {
    urls: [...pages.values()],
    documents: unique(documents),
    search_queries: [...searchQueries],
    sources: sources.map(sourceBody),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part.length > 0));
}

function sourceBody(source: Citation) {
  return withoutUndefined({
    url: source.url,
    title: source.title,
    cited_text: source.citedText,
    file_id: source.fileId,
    file_name: source.filename,
    document_index: source.documentIndex,
    start_index: source.start,
    end_index: source.end,
  });
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
