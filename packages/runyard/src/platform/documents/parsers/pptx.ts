import type { Parser } from '../parse-budget.js';
import { OfficeFile } from './office-file.js';

/** One document for each slide, in the order of the presentation: its text, then its notes. */
export const readPptx: Parser = async function* (content, budget) {
  const file = await OfficeFile.open(content, budget, '.pptx');
  const slides = slidePaths(file);
  budget.pages(slides.length, 'slides');
  for (const [index, path] of slides.entries()) {
    const notes = [...relations(file, path).values()].find((target) => target.includes('notesSlide'));
    const texts = [slideText(file.text(path))];
    if (notes !== undefined && file.paths.includes(notes)) texts.push(notesText(file.text(notes)));
    const text = texts.filter((part) => part !== '').join('\n\n');
    budget.text(text.length);
    budget.progress(index + 1, slides.length);
    if (text !== '') yield { name: content.name, content: text, metadata: { slide: index + 1 } };
  }
};

function slidePaths(file: OfficeFile): string[] {
  const presentation = 'ppt/presentation.xml';
  const targets = relations(file, presentation);
  const ordered = Array.from(file.text(presentation).matchAll(/<p:sldId\b[^>]*\br:id="([^"]+)"/g), ([, id]) =>
    targets.get(id ?? ''),
  );
  const known = new Set(file.paths);
  const found = ordered.filter((path): path is string => path !== undefined && known.has(path));
  if (found.length > 0) return found;
  // a file without the list: by the number in the name
  const number = (path: string) => Number(/(\d+)\.xml$/.exec(path)?.[1] ?? 0);
  return file.paths
    .filter((path) => /^ppt\/slides\/[^/]+\.xml$/.test(path))
    .sort((a, b) => number(a) - number(b));
}

/** The parts that a part refers to, by the id that it uses for them. */
function relations(file: OfficeFile, path: string): Map<string, string> {
  const folder = path.replace(/[^/]+$/, '');
  const text = file.text(`${folder}_rels/${path.slice(folder.length)}.rels`);
  const found = new Map<string, string>();
  for (const [tag] of text.matchAll(/<Relationship\b[^>]*>/g)) {
    const id = /\bId="([^"]+)"/.exec(tag)?.[1];
    const target = /\bTarget="([^"]+)"/.exec(tag)?.[1];
    if (id !== undefined && target !== undefined) found.set(id, resolved(folder, target));
  }
  return found;
}

function resolved(folder: string, target: string): string {
  const path = target.startsWith('/') ? [] : folder.split('/').slice(0, -1);
  for (const step of target.replace(/^\//, '').split('/')) {
    if (step === '..') path.pop();
    else path.push(step);
  }
  return path.join('/');
}

/** A line for each paragraph, and for each row of a table. */
function slideText(xml: string): string {
  const lines: string[] = [];
  for (const [, row, paragraph] of xml.matchAll(/<a:tr\b([\s\S]*?)<\/a:tr>|<a:p\b([\s\S]*?)<\/a:p>/g)) {
    const cells = row === undefined ? undefined : Array.from(row.matchAll(/<a:tc\b([\s\S]*?)<\/a:tc>/g));
    lines.push(
      cells === undefined
        ? runText(paragraph ?? '')
        : cells.map(([, cell]) => runText(cell ?? '')).join(' | '),
    );
  }
  return lines.filter((line) => line.trim() !== '').join('\n');
}

function notesText(xml: string): string {
  // the number of the slide is a field of the notes page, not a note
  const text = slideText(xml.replace(/<a:fld\b[\s\S]*?<\/a:fld>/g, ''));
  return text === '' ? '' : `Notes:\n${text}`;
}

function runText(xml: string): string {
  let text = '';
  for (const [, content] of xml.matchAll(/<a:t(?:\s[^>]*)?>([^<]*)<\/a:t>|<a:br\b[^>]*>|<\/a:p>/g))
    text += content ?? ' ';
  return unescaped(text).trim();
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w{1,8}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
