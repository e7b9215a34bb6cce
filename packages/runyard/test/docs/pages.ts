import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * The pages, and what the info strings of their code blocks mean. Readers see only the language.
 *
 *   ts run       a program: run to its end
 *   ts serve     a program that listens on port 8080 and stays up for the rest of the page
 *   ts app       an entry: `runyard start` serves it on port 7777 for the rest of the page
 *   ts check     only its types are checked
 *   sh run       run by the shell; status=404 names the status of its last answer when it is not 200
 *   json answer  a part of what the block before it printed; … stands for anything
 *   text answer  lines of it, in their order; … stands for anything
 */
export interface Block {
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
  /** Where it begins, for people to find it. */
  readonly line: number;
}

export interface Page {
  /** Below the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

export const repository = fileURLToPath(new URL('../../../../', import.meta.url));

const others = [
  'README.md',
  'packages/runyard/README.md',
  'packages/client/README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
];

export function allPages(): Page[] {
  const guides = readdirSync(join(repository, 'docs')).filter((name) => name.endsWith('.md'));
  const paths = [...others, ...guides.map((name) => `docs/${name}`)];
  return paths.filter((path) => existsSync(join(repository, path))).map(readPage);
}

export function readPage(path: string): Page {
  const text = readFileSync(join(repository, path), 'utf8');
  return { path, text, blocks: blocksOf(text) };
}

export function isMarked({ words }: Block): boolean {
  return ['run', 'serve', 'app', 'check'].some((word) => words.includes(word));
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  for (const match of text.matchAll(/^```([^\n`]*)\n([\s\S]*?)^```$/gm)) {
    const [language = '', ...words] = match[1]!.trim().split(/\s+/);
    blocks.push({ language, words, text: match[2]!, line: text.slice(0, match.index).split('\n').length });
  }
  return blocks;
}

/** The rows of the first table below a heading, as cells without their code marks. */
export function tableBelow(page: Page, heading: string): string[][] {
  const lines = linesBelow(page, heading);
  const first = lines.findIndex((line) => line.startsWith('|'));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith('|'));
  return lines.slice(first + 2, end).map(cellsOf);
}

/** The rows of all tables below a heading of the second level, up to the next one. */
export function tablesBelow(page: Page, heading: string): string[][] {
  const lines = linesBelow(page, heading);
  const end = lines.findIndex((line) => line.startsWith('## '));
  return lines
    .slice(0, end === -1 ? lines.length : end)
    .filter((line, index, all) => line.startsWith('|') && !isHead(all, index))
    .map(cellsOf);
}

/** The rows of the table whose first column is called this. */
export function tableHeaded(page: Page, name: string): string[][] {
  const lines = page.text.split('\n');
  const head = lines.findIndex((line) => line.startsWith('|') && cellsOf(line)[0] === name);
  if (head === -1) throw new Error(`${page.path} has no table headed '${name}'`);
  const end = lines.findIndex((line, index) => index > head && !line.startsWith('|'));
  return lines.slice(head + 2, end === -1 ? lines.length : end).map(cellsOf);
}

function linesBelow(page: Page, heading: string): string[] {
  const lines = page.text.split('\n');
  const at = lines.findIndex((line) => /^#+ /.test(line) && line.endsWith(` ${heading}`));
  if (at === -1) throw new Error(`${page.path} has no heading '${heading}'`);
  return lines.slice(at + 1);
}

/** The names of the columns, and the rule below them. */
function isHead(lines: readonly string[], index: number): boolean {
  const rule = /^\|[-|]+\|$/;
  return rule.test(lines[index]!) || rule.test(lines[index + 1] ?? '');
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('`', '').replaceAll('\\|', '|'));
}
