import type { PlainChunker } from './chunker.js';
import { cutToSize, numbered, overlapping, packed, sentencesToSize, unsplit } from './pieces.js';

export const markdownChunker: PlainChunker = {
  key: 'MarkdownChunker',
  name: 'MarkdownChunker',
  description:
    'Joins the sections of Markdown up to a number of characters; a longer one is cut between its blocks',
  defaults: { chunkSize: 5000, chunkOverlap: 0 },
  chunk(document, { chunkSize = 5000, chunkOverlap = 0 }) {
    if (document.content.length <= chunkSize) return unsplit(document);
    const pieces = packed(sectionPieces(document.content, chunkSize), chunkSize, '\n\n');
    return numbered(document, overlapping(pieces, chunkOverlap));
  },
};

function* sectionPieces(text: string, size: number): Iterable<string> {
  for (const blocks of sectionsOf(blocksOf(text))) {
    const section = blocks.join('\n\n');
    if (section.length <= size) yield section;
    else yield* packed(shortBlocks(blocks, size), size, '\n\n');
  }
}

function* shortBlocks(blocks: Iterable<string>, size: number): Iterable<string> {
  for (const block of blocks) {
    if (block.length <= size) yield block;
    // lines mean something in code, lists and tables
    else if (isFence(block) || /\n\s*([-*+|>]|\d+[.)])/.test(block))
      yield* packed(linesToSize(block, size), size, '\n');
    else yield* sentencesToSize(block, size);
  }
}

function* linesToSize(block: string, size: number): Iterable<string> {
  for (const line of block.split('\n')) {
    if (line.length <= size) yield line;
    else yield* cutToSize(line, size);
  }
}

/** A section begins with each heading. */
function* sectionsOf(blocks: Iterable<string>): Iterable<string[]> {
  let section: string[] = [];
  for (const block of blocks) {
    if (isHeading(block) && section.length > 0) {
      yield section;
      section = [];
    }
    section.push(block);
  }
  if (section.length > 0) yield section;
}

/** Headings, paragraphs, lists, tables and fenced code, which may have blank lines and lines that look like headings. */
function* blocksOf(text: string): Iterable<string> {
  let block: string[] = [];
  let fence: string | undefined;
  const taken = () => {
    const whole = block.join('\n');
    block = [];
    return whole;
  };
  for (const line of text.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const isOutside = fence === undefined;
    if (isOutside && (line.trim() === '' || isHeading(line) || mark !== undefined) && block.length > 0)
      yield taken();
    if (!isOutside || line.trim() !== '') block.push(line);
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    if ((isOutside && isHeading(line)) || (!isOutside && fence === undefined)) yield taken();
  }
  if (block.length > 0) yield taken();
}

function isHeading(block: string): boolean {
  return /^ {0,3}#{1,6}(\s|$)/.test(block);
}

function isFence(block: string): boolean {
  return /^ {0,3}(```|~~~)/.test(block);
}
