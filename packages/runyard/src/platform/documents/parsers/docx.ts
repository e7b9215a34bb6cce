import mammoth from 'mammoth';
import type { Parser } from '../parse-budget.js';
import { OfficeFile } from './office-file.js';

/** The paragraphs of a Word document, with a blank line between them. */
export const readDocx: Parser = async function* (content, budget) {
  const file = await OfficeFile.open(content, budget, '.docx');
  const archive = await file.repacked((path) => /\.(xml|rels)$/i.test(path));
  const { value } = await mammoth.extractRawText({
    buffer: Buffer.from(archive.buffer, archive.byteOffset, archive.length),
  });
  const text = value.replace(/\n{3,}/g, '\n\n').trim();
  budget.text(text.length);
  yield { name: content.name, content: text, metadata: {} };
};
