import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Loads the compiler, which is needed for the first file that has types. */
export async function loadCompiler(): Promise<(path: string) => string> {
  const { transformSync } = await import('oxc-transform');
  return (path) => stripped(path, transformSync);
}

/**
 * The code of a TypeScript or JavaScript file without its types, with a source map. Throws a SyntaxError whose
 * stack begins with the file and the line.
 */
export async function stripTypes(path: string): Promise<string> {
  return (await loadCompiler())(path);
}

function stripped(path: string, transformSync: typeof import('oxc-transform').transformSync): string {
  const text = readFileSync(path, 'utf8');
  const { code, map, errors } = transformSync(path, text, {
    sourcemap: true,
    lang: 'ts',
    sourceType: 'module',
  });
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
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(described).toString('base64')}`;
}
