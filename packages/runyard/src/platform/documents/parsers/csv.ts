import { pipeline, Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { extensionOf } from '../../../core/knowledge/readers/choose-reader.js';
import { decodedText } from '../../../core/knowledge/readers/decoded-text.js';
import { ContentUnreadable, type ReadableContent } from '../../../core/knowledge/readers/reader.js';
import { longestPart } from '../../../core/knowledge/readers/text-reader.js';
import type { ParseBudget, Parser } from '../parse-budget.js';
import { rowText } from './row-text.js';

const rowsOfPage = 1000;
/** A file with no more rows is one document. */
const fewRows = 10;
const sampleCharacters = 65_536;
const longestHeader = 10_000;

/** A line for each row: one document for a small file, else one for each thousand rows. */
export const readCsv: Parser = async function* (content, budget) {
  const { name } = content;
  let lines: string[] = [];
  let length = 0;
  let page = 0;
  let row = 0;
  const taken = () => {
    page += 1;
    const metadata = { page, start_row: row - lines.length + 1, rows: lines.length };
    const document = { name, content: lines.join('\n'), metadata };
    lines = [];
    length = 0;
    return document;
  };
  for await (const record of records(content, budget)) {
    const line = rowText(record);
    lines.push(line);
    length += line.length;
    row += 1;
    budget.progress(row);
    if (lines.length === rowsOfPage || length >= longestPart) yield taken();
  }
  if (lines.length === 0) return;
  if (page === 0 && lines.length <= fewRows) yield { name, content: lines.join('\n'), metadata: {} };
  else yield taken();
};

/** One document for each row, with the name of each field. */
export const readLabeledCsv: Parser = async function* (content, budget) {
  let total = -1;
  for await (const _ of records(content, budget)) total += 1;
  let headers: string[] | undefined;
  let index = 0;
  for await (const record of records(content, budget)) {
    if (headers === undefined) {
      headers = checkedHeaders(record);
      continue;
    }
    const labeled = record
      .map((value, column) => [headers?.[column] || `Column ${column + 1}`, value.trim()] as const)
      .filter(([, value]) => value !== '')
      .map(([header, value]) => `${header}: ${value}`);
    const metadata = { row_index: index, headers, total_rows: Math.max(total, 0), source: content.name };
    index += 1;
    budget.progress(index, total);
    if (labeled.length > 0) yield { name: content.name, content: labeled.join('\n'), metadata };
  }
};

/** Each row carries them. */
function checkedHeaders(record: readonly string[]): string[] {
  const headers = record.map((header) => header.trim());
  if (headers.join('').length > longestHeader)
    throw new ContentUnreadable(`The header of the CSV file has more than ${longestHeader} characters`);
  return headers;
}

/** Rows arrive as the file is read: only one of them is in memory. */
async function* records(content: ReadableContent, budget: ParseBudget): AsyncIterable<string[]> {
  const { sample, rest } = await begun(decodedText(content.open()));
  const parser = parse({
    delimiter: extensionOf(content.name) === '.tsv' ? '\t' : delimiterOf(sample),
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: budget.limits.rowCharacters,
  });
  // a fault of the text reaches the loop through the parser
  pipeline(Readable.from(rest), parser, () => undefined);
  let count = 0;
  try {
    for await (const record of parser) {
      budget.rows(++count, 'The CSV file');
      yield record;
    }
  } catch (error) {
    throw explained(error, budget);
  }
}

/** The beginning of a text, and all of it. */
export async function begun(text: AsyncIterable<string>) {
  const pieces = text[Symbol.asyncIterator]();
  let sample = '';
  let ended = false;
  while (sample.length < sampleCharacters && !ended) {
    const piece = await pieces.next();
    if (piece.done === true) ended = true;
    else sample += piece.value;
  }
  async function* rest() {
    if (sample !== '') yield sample;
    if (ended) return;
    for (let piece = await pieces.next(); piece.done !== true; piece = await pieces.next())
      if (piece.value !== '') yield piece.value;
  }
  return { sample, rest: rest() };
}

const delimiters = [',', ';', '\t', '|'];

/** The one that divides most of the first lines into the same number of cells, more than one. */
export function delimiterOf(sample: string): string {
  const lines = sample
    .replace(/"(?:[^"]|"")*"/g, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, 20);
  const scores = delimiters.map((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const usual = counts[0] ?? 0;
    return usual === 0 ? 0 : counts.filter((count) => count === usual).length * 1000 + usual;
  });
  const best = Math.max(...scores);
  return delimiters[best <= 0 ? 0 : scores.indexOf(best)] ?? ',';
}

function explained(error: unknown, budget: ParseBudget): unknown {
  if (error instanceof ContentUnreadable || !isCsvError(error)) return error;
  if (error.code === 'CSV_MAX_RECORD_SIZE')
    return new ContentUnreadable(
      `The CSV file has a row of more than ${budget.limits.rowCharacters} characters`,
    );
  if (error.code === 'CSV_QUOTE_NOT_CLOSED')
    return new ContentUnreadable('The CSV file is malformed: a quoted cell does not end');
  return new ContentUnreadable('The CSV file is malformed', { cause: error });
}

export function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_');
}
