import { createReadStream } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import { fileFault } from '../../core/errors/file-fault.js';
import type { Dataset } from '../../core/evals/datasets/dataset.js';
import type { EvalCase } from '../../core/evals/eval-case.js';
import { checkOptions, checkValue } from '../../core/options/check-options.js';
import type { Shape } from '../../core/options/kind.js';
import { anyOf, instanceOf, name, objectOf } from '../../core/options/kinds.js';

export interface DatasetFileOptions {
  /** Default: the name of the file without its extension. */
  readonly name?: string;
}

const shape: Shape<DatasetFileOptions> = { name };

/**
 * A dataset in a file: JSON (an array of cases), JSON Lines, or CSV with a header. A relative path starts at the working
 * directory; `new URL('cases.csv', import.meta.url)` at the file that says it. The file is read when its cases are
 * asked for first.
 */
export function datasetFile(file: string | URL, options: DatasetFileOptions = {}): Dataset {
  checkValue('A dataset', 'file', file, anyOf(name, instanceOf(URL, 'a URL of a file')));
  checkOptions('A dataset', options, objectOf<DatasetFileOptions>(shape));
  const path = file instanceof URL ? fileURLToPath(file) : file;
  let cases: Promise<readonly EvalCase[]> | undefined;
  return {
    name: options.name ?? basename(path, extname(path)),
    cases: () => (cases ??= casesIn(path)),
  };
}

async function casesIn(path: string): Promise<readonly EvalCase[]> {
  const { readCases } = await import('./read-cases.js');
  try {
    return await readCases({ name: path, open: () => createReadStream(path) });
  } catch (error) {
    // Node names a system call and the path
    const isOfSystem = /^E[A-Z]+$/.test(errorCode(error) ?? '');
    throw isOfSystem ? errors.datasetFileInvalid(path, undefined, fileFault(error)) : error;
  }
}
