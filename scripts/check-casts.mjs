import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { readSources } from './lib/read-sources.mjs';

/** Files of loops over typed arrays, by index and without iterators: each index is within its array. */
const numeric = new Set([
  'capabilities/knowledge/chunks/nearest/bit-index.ts',
  'core/knowledge/search/bit-vectors.ts',
  'core/knowledge/search/least.ts',
  'core/knowledge/search/nearest.ts',
]);

/** A comment directly above one of these explains the casts within it. A function or a class is too large for that. */
const explainable = /Statement$|^VariableDeclaration$|^Property$|^PropertyDefinition$/;

/**
 * Finds casts (`x as T`, `x!`) that no comment explains, in source files given as a map from path to text. A
 * comment explains what is on its line, on the line below it, or in the statement below it. `as const` and
 * `satisfies` are not casts.
 */
export function findUnexplained(files) {
  return castsIn(files).filter(({ explained }) => !explained);
}

function castsIn(files) {
  return [...files].flatMap(([path, text]) => castsOf(path, text));
}

function castsOf(path, text) {
  const { program, comments } = parseSync(path, text);
  const lineAt = (offset) => text.slice(0, offset).split('\n').length;
  const commented = new Set(comments.map(({ end }) => lineAt(end)));
  const found = [];
  const visit = (node, parent, statement) => {
    if (Array.isArray(node)) {
      for (const child of node) visit(child, parent, statement);
      return;
    }
    if (!node || typeof node !== 'object') return;
    const kind = castOf(node, parent);
    if (kind !== undefined) {
      const line = lineAt(kind === '!' ? node.end : node.typeAnnotation.start);
      const explained =
        (kind === '!' && numeric.has(path)) ||
        [line, line - 1, statement - 1].some((one) => commented.has(one));
      found.push({ path, line, kind, explained });
    }
    const within = explainable.test(node.type ?? '') ? lineAt(node.start) : statement;
    for (const key in node)
      if (typeof node[key] === 'object') visit(node[key], node.type ? node : parent, within);
  };
  visit(program, undefined, 0);
  return found;
}

function castOf(node, parent) {
  if (node.type === 'TSNonNullExpression') return '!';
  if (node.type !== 'TSAsExpression' || node.typeAnnotation.typeName?.name === 'const') return undefined;
  // `x as unknown as T` is two nodes and one cast
  if (parent?.type === 'TSAsExpression' && isUnknown(node)) return undefined;
  return node.expression.type === 'TSAsExpression' && isUnknown(node.expression) ? 'as unknown as' : 'as';
}

function isUnknown({ typeAnnotation }) {
  return typeAnnotation.type === 'TSUnknownKeyword';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const packages = join(dirname(fileURLToPath(import.meta.url)), '../packages');
  // each on its own: files of two packages may have the same path
  const sources = ['runyard', 'client', 'console'].map((name) => [
    name,
    readSources(join(packages, name, 'src')),
  ]);
  if (process.argv.includes('--count')) {
    const casts = sources.flatMap(([, files]) => castsIn(files));
    for (const kind of ['as', 'as unknown as', '!'])
      console.log(`${kind}: ${casts.filter((cast) => cast.kind === kind).length}`);
  }
  const unexplained = sources.flatMap(([name, files]) =>
    findUnexplained(files).map((cast) => ({ ...cast, path: `packages/${name}/src/${cast.path}` })),
  );
  for (const { path, line, kind } of unexplained)
    console.log(`${path}:${line} has a cast (${kind}): remove it, or say in a comment why it is safe`);
  process.exitCode = unexplained.length > 0 ? 1 : 0;
}
