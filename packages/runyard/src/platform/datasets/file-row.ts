import { datasetBounds } from '../../core/evals/datasets/given-case.js';
import type { JsonObject } from '../../core/json.js';

/** A file of cases. */
export interface CaseFile {
  /** As messages name it. Its extension says the format. */
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
}

/** A case as a file has it, and the line on which it begins. */
export interface FileRow {
  readonly line: number;
  readonly fields: JsonObject;
}

/** What is wrong with one line of a file. */
export class RowFault extends Error {
  constructor(
    readonly line: number | undefined,
    message: string,
  ) {
    super(message);
    this.name = 'RowFault';
  }
}

/** A row may be a little longer than the case in it. */
export const longestRow = 2 * datasetBounds.caseCharacters;
