import type { Document } from '../document.js';
import { extensionOf } from '../readers/choose-reader.js';
import type { PlainChunker } from './chunker.js';
import { bracketDepths, indentDepths, type Line, unitsOf } from './code-lines.js';
import { piecesOf } from './cut.js';
import { numbered, packed } from './pieces.js';

export const codeChunker: PlainChunker = {
  key: 'CodeChunker',
  name: 'CodeChunker',
  description: 'Keeps functions and other units of source code whole, as far as they fit',
  // what the form of a client starts with; without a number the size is smaller, as units of code are
  defaults: { chunkSize: 5000 },
  chunk(document, { chunkSize = 2048 }) {
    return numbered(document, codePieces(document, chunkSize));
  },
};

function* codePieces(document: Document, size: number): Iterable<string> {
  for (const piece of split(linesOf(document), size, -1)) yield piece.replace(/^\s*\n/, '').trimEnd();
}

/** Nearly all code is indented as it is nested. Brackets decide only where it is not: they can be in texts. */
function linesOf({ content, name, metadata }: Document): Line[] {
  const texts = content.split(/\r?\n/);
  const written = texts.filter((text) => text.trim() !== '');
  const indented = written.filter((text) => /^\s/.test(text)).length;
  const path = typeof metadata.path === 'string' ? metadata.path : name;
  const byIndent = indented * 10 >= written.length || !usesBrackets(extensionOf(path));
  return byIndent ? indentDepths(texts) : bracketDepths(texts);
}

/** Languages whose blocks are not in brackets. */
const bracketless = /^\.(pyi?|ya?ml|rb|lua|exs?|erl|jl|hs|sh|bash|zsh|fish|sql|toml|cmake|graphql|clj|m|r)$/;

function usesBrackets(extension: string | undefined): boolean {
  return extension === undefined || !bracketless.test(extension);
}

/** Code that is nested more deeply is split between lines. */
const deepestSplit = 20;

/** The units of a block, joined up to the size. One that is too long is split at the next deeper level. */
function* split(lines: readonly Line[], size: number, level: number, splits = 0): Iterable<string> {
  const text = textOf(lines);
  if (text.length <= size) {
    yield text;
    return;
  }
  const next = lines.reduce(
    (least, { depth, text: line }) => (depth > level && depth < least && line.trim() !== '' ? depth : least),
    Number.POSITIVE_INFINITY,
  );
  const isLast = next === Number.POSITIVE_INFINITY || splits === deepestSplit;
  yield* packed(isLast ? cutLines(lines, size) : unitPieces(lines, size, next, splits), size, '\n');
}

function* unitPieces(lines: readonly Line[], size: number, level: number, splits: number): Iterable<string> {
  for (const unit of unitsOf(lines, level)) yield* split(unit, size, level, splits + 1);
}

function* cutLines(lines: readonly Line[], size: number): Iterable<string> {
  for (const { text } of lines) {
    if (text.length <= size) yield text;
    else yield* piecesOf(text, size, 0, [';', '}', ',', ' ']);
  }
}

function textOf(lines: readonly Line[]): string {
  return lines.map(({ text }) => text).join('\n');
}
