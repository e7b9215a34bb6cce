import readWorkbook from 'read-excel-file/universal';
import { longestPart } from '../../../core/knowledge/readers/text-reader.js';
import type { Parser } from '../parse-budget.js';
import { OfficeFile } from './office-file.js';
import { rowText } from './row-text.js';

/** One document for each sheet that is not empty: a line for each row, cells separated by `, `. */
export const readExcel: Parser = async function* (content, budget) {
  const file = await OfficeFile.open(content, budget, '.xlsx');
  budget.pages(file.paths.filter((path) => /^xl\/worksheets\/[^/]+\.xml$/i.test(path)).length, 'sheets');
  const archive = await file.repacked((path) => /\.(xml|rels)$/i.test(path));
  const sheets = await readWorkbook(exactBuffer(archive));
  for (const [index, { sheet, data }] of sheets.entries()) {
    budget.rows(data.length, `The sheet '${sheet}'`);
    const about = { sheet_name: sheet, sheet_index: index + 1 };
    for (const { text, firstRow, rows } of parts(data)) {
      budget.text(text.length);
      const whole = rows === data.length;
      yield {
        name: content.name,
        content: text,
        metadata: whole ? about : { ...about, start_row: firstRow, rows },
      };
    }
    budget.progress(index + 1, sheets.length);
  }
};

/** A sheet as one text, or as several where it is longer than a document may be. */
function* parts(
  data: readonly (readonly unknown[])[],
): Iterable<{ text: string; firstRow: number; rows: number }> {
  let lines: string[] = [];
  let length = 0;
  let firstRow = 1;
  for (const row of data) {
    const line = rowText(row.map(cellText));
    lines.push(line);
    length += line.length + 1;
    if (length < longestPart) continue;
    yield { text: lines.join('\n'), firstRow, rows: lines.length };
    firstRow += lines.length;
    lines = [];
    length = 0;
  }
  if (lines.some((line) => line !== '')) yield { text: lines.join('\n'), firstRow, rows: lines.length };
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (!(cell instanceof Date)) return String(cell);
  const text = Number.isNaN(cell.getTime()) ? '' : cell.toISOString();
  return text.replace(/T00:00:00\.000Z$/, '');
}

function exactBuffer(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length);
  new Uint8Array(copy).set(bytes);
  return copy;
}
