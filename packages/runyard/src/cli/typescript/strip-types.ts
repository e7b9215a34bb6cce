import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { dependencyVersions, version } from '../../platform/version.js';
import { keepCode, keptCode, placeOf } from './kept-code.js';

type Compiler = Pick<typeof import('oxc-transform'), 'transformSync'>;

const options = { sourcemap: true, sourceType: 'module' } as const;

/** What the code depends on beside its source. */
export const maker = JSON.stringify([version, dependencyVersions['oxc-transform'], options]);

/**
 * The code of a TypeScript or JavaScript file without its types, with a source map. Throws a SyntaxError whose
 * stack begins with the file and the line. The compiler, a library of several megabytes, is loaded for the first file
 * whose code no earlier process has kept.
 */
export async function stripTypes(path: string): Promise<string> {
  const source = sourceAt(path);
  return source.kept ?? stripped(source, await import('oxc-transform'));
}

/** The same where Node can `require` modules. */
export function stripTypesAtOnce(path: string): string {
  const source = sourceAt(path);
  return source.kept ?? stripped(source, createRequire(import.meta.url)('oxc-transform'));
}

type Source = ReturnType<typeof sourceAt>;

function sourceAt(path: string) {
  const text = readFileSync(path, 'utf8');
  const place = placeOf(path, text, maker);
  return { path, text, place, kept: place && keptCode(place) };
}

function stripped({ path, text, place }: Source, { transformSync }: Compiler): string {
  // a comparison in JavaScript may read like the arguments of a type
  const lang = /\.m?ts$/.test(path) ? 'ts' : 'js';
  const { code, map, errors } = transformSync(path, text, { ...options, lang });
  const fault = errors.find((error) => error.severity === 'Error');
  if (fault) {
    const before = Buffer.from(text).subarray(0, fault.labels[0]?.start ?? 0);
    const failure = new SyntaxError(
      fault.helpMessage ? `${fault.message} (${fault.helpMessage})` : fault.message,
    );
    failure.stack = `${pathToFileURL(path).href}:${before.toString().split('\n').length}\n${failure.name}: ${failure.message}`;
    throw failure;
  }
  const described = JSON.stringify({ ...map, sources: [pathToFileURL(path).href], sourcesContent: [text] });
  const mapped = `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(described).toString('base64')}`;
  if (place) keepCode(place, mapped);
  return mapped;
}
