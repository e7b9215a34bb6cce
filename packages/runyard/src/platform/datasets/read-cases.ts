import { errors } from '../../core/errors/errors.js';
import { DuplicateCase, withIds } from '../../core/evals/datasets/case-ids.js';
import {
  CaseFault,
  caseFromFields,
  datasetBounds,
  type UnnamedCase,
} from '../../core/evals/datasets/given-case.js';
import type { EvalCase } from '../../core/evals/eval-case.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { extensionOf } from '../../core/knowledge/readers/choose-reader.js';
import { jsonElements, jsonLines } from '../../core/knowledge/readers/json-reader.js';
import { ContentUnreadable } from '../../core/knowledge/readers/reader.js';
import { JsonFault, parseUntrustedJson } from '../http/request/json-text.js';
import { type CaseFile, type FileRow, longestRow, RowFault } from './file-row.js';

type RowReader = (file: CaseFile) => AsyncIterable<FileRow>;

const readers: Readonly<Record<string, () => Promise<RowReader>>> = {
  '.json': async () => jsonRows,
  '.jsonl': async () => jsonLineRows,
  '.ndjson': async () => jsonLineRows,
  '.csv': async () => (await import('./csv-rows.js')).csvRows,
  '.tsv': async () => (await import('./csv-rows.js')).csvRows,
};

/**
 * Reads the cases of a file: JSON (an array of cases), JSON Lines, or CSV with a header. Only one case is parsed at a
 * time. Throws an error that names the file, the line and the field.
 */
export async function readCases(file: CaseFile): Promise<EvalCase[]> {
  const reader = readers[extensionOf(file.name) ?? ''];
  if (reader === undefined) {
    const known = Object.keys(readers).join(', ');
    throw invalid(file, undefined, `the format is not known. Give a file that ends in one of ${known}.`);
  }
  const cases: UnnamedCase[] = [];
  const lines: number[] = [];
  let line: number | undefined;
  try {
    const rows = (await reader())({ name: file.name, open: () => bounded(file) });
    for await (const row of rows) {
      line = row.line;
      if (cases.length === datasetBounds.cases)
        throw new RowFault(line, `the file has more than ${datasetBounds.cases} cases, which is the limit.`);
      cases.push(caseFromFields(row.fields));
      lines.push(line);
    }
    if (cases.length === 0) throw new RowFault(undefined, 'the file has no cases.');
    return withIds(cases);
  } catch (error) {
    if (error instanceof DuplicateCase) throw invalid(file, lines[error.index], error.message);
    if (error instanceof CaseFault) throw invalid(file, line, error.message);
    if (error instanceof RowFault) throw invalid(file, error.line, error.message);
    if (error instanceof ContentUnreadable) throw invalid(file, undefined, `${error.message}.`);
    throw error;
  }
}

function invalid({ name }: CaseFile, line: number | undefined, fault: string): Error {
  return errors.datasetFileInvalid(name, line === undefined ? undefined : `line ${line}`, fault);
}

async function* bounded({ open }: CaseFile): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const bytes of open()) {
    size += bytes.byteLength;
    if (size > datasetBounds.bytes)
      throw new RowFault(
        undefined,
        `the file has more than ${datasetBounds.bytes} bytes, which is the limit.`,
      );
    yield bytes;
  }
}

async function* jsonLineRows(file: CaseFile): AsyncIterable<FileRow> {
  let line = 0;
  for await (const text of jsonLines(file, longestRow)) {
    line += 1;
    if (text.trim() !== '') yield { line, fields: parsedFields(text, line) };
  }
}

async function* jsonRows(file: CaseFile): AsyncIterable<FileRow> {
  let line = 1;
  for await (const text of jsonElements(file, longestRow)) {
    const start = line + linesIn(text.slice(0, text.search(/\S|$/)));
    line += linesIn(text);
    yield { line: start, fields: parsedFields(text, start) };
  }
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

function parsedFields(text: string, line: number): JsonObject {
  try {
    const value = parseUntrustedJson(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new RowFault(
      line + linesIn(text.trimStart().slice(0, error.offset)),
      `the JSON is malformed: ${error.message}.`,
    );
  }
  throw new RowFault(line, 'a case is an object with an input.');
}
