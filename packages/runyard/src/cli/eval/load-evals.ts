import { relative, sep } from 'node:path';
import { type Application, isApplication } from '../application.js';
import { readDotEnv } from '../dot-env.js';
import { describeFailure } from '../failure.js';
import { importPrepared, prepareImport } from '../load-entry.js';
import { withoutOutput } from '../without-output.js';
import type { LoadError } from './eval-report.js';
import { isEval, type RunnableEval } from './runnable-eval.js';

/** An eval that a file exports. */
export interface LoadedEval {
  readonly file: string;
  readonly name: string;
  readonly value: RunnableEval;
}

export interface LoadedFiles {
  readonly evals: readonly LoadedEval[];
  readonly errors: readonly LoadError[];
  /** What the files export beside evals: their agents store in it. */
  readonly applications: readonly Application[];
}

/** Imports the files one after the other. One that is broken does not keep the others from being loaded. */
export async function loadEvals(paths: readonly string[]): Promise<LoadedFiles> {
  const evals: LoadedEval[] = [];
  const errors: LoadError[] = [];
  const applications = new Set<Application>();
  const seen = new Set<RunnableEval>();
  readDotEnv(process.cwd());
  const [first] = paths;
  if (first !== undefined) await prepareImport(first);
  for (const path of paths) {
    const file = relative(process.cwd(), path).split(sep).join('/') || path;
    try {
      const exported = await withoutOutput(() => importPrepared(path));
      const own = evalsOf(exported).filter((value) => !seen.has(value));
      for (const value of Object.values(exported)) if (isApplication(value)) applications.add(value);
      if (own.length === 0)
        errors.push({ file, message: `It exports no eval (it exports ${namesOf(exported)}). ${hint}` });
      for (const value of own) {
        seen.add(value);
        evals.push({ file, name: nameOf(value, file, evals), value });
      }
    } catch (error) {
      errors.push({ file, message: describeFailure(error) });
    }
  }
  return { evals, errors, applications: [...applications] };
}

const hint = "Add: export default accuracy({ /* … */ }), with accuracy from 'runyard/evals'.";

/** Exports, and the entries of exported lists. A value under two names is one eval. */
function evalsOf(exported: Readonly<Record<string, unknown>>): RunnableEval[] {
  return [...new Set(Object.values(exported).flat().filter(isEval))];
}

/** Reports are compared by file and name: a further eval with the same name gets a number. */
function nameOf({ name }: RunnableEval, file: string, evals: readonly LoadedEval[]): string {
  const same = evals.filter((one) => one.file === file && one.value.name === name).length;
  return same === 0 ? name : `${name} (${same + 1})`;
}

function namesOf(exported: object): string {
  return Object.keys(exported).join(', ') || 'nothing';
}
