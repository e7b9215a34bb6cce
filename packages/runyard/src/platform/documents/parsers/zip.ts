import { archiveEntries, inflate } from '../archive.js';
import { gathered, type Parser } from '../parse-budget.js';
import { innerFile } from './inner-file.js';

/** What systems put into archives beside the files of a person. */
const clutter = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$)/;

/** Each file of an archive, read with the reader that fits it. */
export const readZip: Parser = async function* (content, budget) {
  const bytes = await gathered(content, budget.limits.wholeFileBytes);
  const entries = archiveEntries(bytes, budget).filter(({ path }) => !clutter.test(path));
  for (const [index, entry] of entries.entries()) {
    yield* innerFile(inflate(bytes, entry, budget), entry.path, undefined, budget);
    budget.progress(index + 1, entries.length);
  }
};
