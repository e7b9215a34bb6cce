import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

/**
 * The code of a TypeScript or JavaScript file without its types, with a source map. Throws a SyntaxError whose
 * stack begins with the file and the line.
 */
export async function stripTypes(path: string): Promise<string> {
  const [text, { transformSync }] = await Promise.all([readFile(path, 'utf8'), import('oxc-transform')]);
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
