import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { errorCode } from '../core/errors/error-code.js';
import { CommandFailure } from './failure.js';
import { isOwnFile, shownPath, toPath } from './own-files.js';
import { stripTypes } from './typescript/strip-types.js';

/** Says why an entry could not be imported, and where in the application the fault is. */
export async function importFailure(thrown: unknown, path: string): Promise<CommandFailure> {
  const error = await located(thrown, path);
  if (!(error instanceof Error))
    return new CommandFailure(`${shownPath(path)} could not be loaded: it threw ${String(error)}`);
  const place = failurePlace(error, path) ?? importPlace(error) ?? shownPath(path);
  const name = error.name === 'Error' || error.name === 'RunyardError' ? '' : `${error.name}: `;
  return new CommandFailure(`${place} could not be loaded: ${name}${error.message}${hintFor(error)}`);
}

/** Node prints the line of a syntax error to the terminal but does not report it to the program: ask the compiler. */
async function located(error: unknown, path: string): Promise<unknown> {
  if (!(error instanceof SyntaxError) || failurePlace(error, path)) return error;
  return stripTypes(path).then(
    () => error,
    (fault: unknown) => fault,
  );
}

/** The line nearest to the fault that is in the person's own code, not in a package. */
function failurePlace(error: Error, path: string): string | undefined {
  const folder = dirname(path);
  for (const line of (error.stack ?? '').split('\n')) {
    // A place is in brackets, after `at`, or alone; Node writes it as a URL or, where a source map led, as a path.
    const [, place, number] =
      /(?:\(|at (?:async )?|^)((?:file:|\/|[A-Za-z]:\\).*?):(\d+)(?::\d+)?\)?$/.exec(line) ?? [];
    const file = place?.startsWith('file:') ? toPath(place) : place;
    if (!file?.startsWith(folder) || file.includes('node_modules')) continue;
    return `${shownPath(file)}:${number}`;
  }
  return undefined;
}

/** The import of what Node does not find: its error names the file, but not the line. */
function importPlace({ message }: Error): string | undefined {
  const [, importer] = / imported from (.+)$/m.exec(message) ?? [];
  if (importer === undefined || !isOwnFile(importer)) return undefined;
  const [, missing = ''] = /["']([^"']+)["']/.exec(message) ?? [];
  const line = linesOf(importer).findIndex((text) => {
    const [, specifier] = /^(?!\s*(?:\/\/|\*)).*\b(?:from|import)\s*\(?\s*["']([^"']+)["']/.exec(text) ?? [];
    return specifier !== undefined && isMeant(specifier, missing, dirname(importer));
  });
  return line < 0 ? shownPath(importer) : `${shownPath(importer)}:${line + 1}`;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Node names a missing file by its path, a missing part of a package by its path there, and a package by its name. */
function isMeant(specifier: string, missing: string, folder: string): boolean {
  if (isAbsolute(missing)) return resolve(folder, specifier) === missing;
  if (missing.startsWith('./')) return specifier.endsWith(missing.slice(1)) && !specifier.startsWith('.');
  return specifier === missing || specifier.startsWith(`${missing}/`);
}

function hintFor(error: Error): string {
  const [, file = ''] = / for (.+)$/.exec(error.message) ?? [];
  if (errorCode(error) !== 'ERR_UNKNOWN_FILE_EXTENSION' || !isOwnFile(file)) return '';
  return '. Write the code in .ts, .mts, .js, .mjs or .cjs files.';
}
