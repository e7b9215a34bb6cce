import { pipeline, Readable } from 'node:stream';
import { parse } from 'csv-parse';
import {
  CaseFault,
  type CaseField,
  isCaseField,
  jsonCaseFields,
  unknownField,
} from '../../core/evals/datasets/given-case.js';
import type { Json, JsonObject } from '../../core/json.js';
import { extensionOf } from '../../core/knowledge/readers/choose-reader.js';
import { decodedText } from '../../core/knowledge/readers/decoded-text.js';
import { begun, delimiterOf, isCsvError } from '../documents/parsers/csv.js';
import { JsonFault, parseUntrustedJson } from '../http/request/json-text.js';
import { type CaseFile, type FileRow, longestRow, RowFault } from './file-row.js';

interface Parsed {
  readonly record: readonly string[];
  /** How many lines the parser has read. */
  readonly info: { readonly lines: number };
}

/** The rows of a table whose header names the fields. Empty cells are not given. */
export async function* csvRows(file: CaseFile): AsyncIterable<FileRow> {
  const { sample, rest } = await begun(decodedText(file.open()));
  const parser = parse({
    delimiter: extensionOf(file.name) === '.tsv' ? '\t' : delimiterOf(sample),
    info: true,
    skip_empty_lines: true,
    // the parser reads ahead: what is wrong with a row is found in its turn
    relax_column_count: true,
    max_record_size: longestRow,
  });
  // a fault of the text reaches the loop through the parser
  pipeline(Readable.from(rest), parser, () => undefined);
  let header: readonly CaseField[] | undefined;
  let line = 1;
  try {
    for await (const parsed of parser) {
      // with the option info, the parser gives each record with where it is
      const { record, info } = parsed as Parsed;
      if (header === undefined) header = headerOf(record);
      else yield { line, fields: fieldsIn(record, header) };
      line = info.lines + 1;
    }
  } catch (error) {
    if (error instanceof CaseFault) throw new RowFault(line, error.message);
    throw isCsvError(error) ? faultOf(error.code, error.message) : error;
  }
}

function headerOf(record: readonly string[]): CaseField[] {
  const names = record.map((name) => name.trim());
  const unknown = names.find((name) => !isCaseField(name));
  if (unknown !== undefined) throw new RowFault(1, `in the header, ${unknownField(unknown).message}`);
  const fields = names.filter(isCaseField);
  const twice = fields.find((name, index) => fields.indexOf(name) !== index);
  if (twice !== undefined) throw new RowFault(1, `the header names ${twice} twice.`);
  if (!fields.includes('input')) throw new RowFault(1, 'the header has no column input.');
  return fields;
}

function fieldsIn(record: readonly string[], header: readonly CaseField[]): JsonObject {
  if (record.length !== header.length)
    throw new CaseFault(
      undefined,
      `the row has ${record.length} cells, and the header ${header.length}. Quote cells that hold the delimiter.`,
    );
  const given = header.flatMap((field, column): [string, Json][] => {
    const cell = record[column] ?? '';
    return cell.trim() === '' ? [] : [[field, jsonCaseFields.includes(field) ? jsonIn(cell, field) : cell]];
  });
  return Object.fromEntries(given);
}

function jsonIn(cell: string, field: CaseField): Json {
  try {
    return parseUntrustedJson(cell);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new CaseFault(field, `the cell is no JSON: ${error.message}.`);
  }
}

const faults: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: `the row has more than ${longestRow} characters, which is the limit.`,
  CSV_QUOTE_NOT_CLOSED: 'a quoted cell does not end.',
};

function faultOf(code: string, message: string): RowFault {
  // the parser names the line in its message only, and another one for a cell that does not end
  const line = code === 'CSV_QUOTE_NOT_CLOSED' ? undefined : /line (\d+)/.exec(message)?.[1];
  return new RowFault(
    line === undefined ? undefined : Number(line),
    faults[code] ?? `the CSV is malformed: ${message}.`,
  );
}
