import type { Document } from '../../../core/knowledge/document.js';
import { chooseReader } from '../../../core/knowledge/readers/choose-reader.js';
import { readJson } from '../../../core/knowledge/readers/json-reader.js';
import type { ReadableContent } from '../../../core/knowledge/readers/reader.js';
import { readerTable } from '../../../core/knowledge/readers/reader-table.js';
import { readText } from '../../../core/knowledge/readers/text-reader.js';
import type { ParseBudget, Parser } from '../parse-budget.js';

/** Each library is loaded with the first content that needs it. */
const parsers: Readonly<Record<string, Parser>> = {
  text: (content) => readText(content),
  markdown: (content) => readText(content),
  code: (content) => readText(content),
  llms_txt: (content) => readText(content),
  json: counted((content) => readJson(content)),
  csv: loaded(async () => (await import('./csv.js')).readCsv),
  field_labeled_csv: loaded(async () => (await import('./csv.js')).readLabeledCsv),
  excel: loaded(async () => (await import('./excel.js')).readExcel),
  pdf: loaded(async () => (await import('./pdf.js')).readPdf),
  docx: loaded(async () => (await import('./docx.js')).readDocx),
  pptx: loaded(async () => (await import('./pptx.js')).readPptx),
  html: loaded(async () => (await import('./html.js')).readHtml),
  website: readPage,
  email: loaded(async () => (await import('./email.js')).readEmail),
  zip: loaded(async () => (await import('./zip.js')).readZip),
};

export function parserOf(reader: string): Parser {
  const parser = parsers[reader];
  if (parser === undefined) throw new Error(`There is no parser '${reader}'.`);
  return parser;
}

/** Reads a content with the reader that fits it: a file in an archive, an attachment, a file behind an address. */
export function parseFitting(content: ReadableContent, budget: ParseBudget): AsyncIterable<Document> {
  return parserOf(chooseReader(readerTable, content)?.id ?? 'text')(content, budget);
}

/** What is behind an address: a page, or a file of another kind that the server says it is. */
async function* readPage(content: ReadableContent, budget: ParseBudget): AsyncIterable<Document> {
  const { url, mediaType } = content;
  const known =
    mediaType === undefined ? undefined : readerTable.find(({ types }) => types.includes(mediaType));
  const isPage = known === undefined ? !mediaType?.startsWith('text/') : known.id === 'html';
  const documents = parserOf(isPage ? 'html' : (known?.id ?? 'text'))(content, budget);
  for await (const document of documents)
    yield url === undefined ? document : { ...document, metadata: { ...document.metadata, url } };
}

function loaded(load: () => Promise<Parser>): Parser {
  return async function* (content, budget) {
    yield* (await load())(content, budget);
  };
}

function counted(parser: Parser): Parser {
  return async function* (content, budget) {
    let done = 0;
    for await (const document of parser(content, budget)) {
      budget.progress(++done);
      yield document;
    }
  };
}
