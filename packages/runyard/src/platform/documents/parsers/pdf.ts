import { getDocumentProxy } from 'unpdf';
import { ContentUnreadable } from '../../../core/knowledge/readers/reader.js';
import { gathered, type Parser } from '../parse-budget.js';

/** One document for each page. */
export const readPdf: Parser = async function* (content, budget) {
  const bytes = await gathered(content, budget.limits.wholeFileBytes);
  const pdf = await opened(bytes);
  try {
    budget.pages(pdf.numPages, 'pages');
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number);
      const text = pageText((await page.getTextContent()).items);
      page.cleanup();
      budget.text(text.length);
      budget.progress(number, pdf.numPages);
      if (text !== '') yield { name: content.name, content: text, metadata: { page: number } };
    }
  } finally {
    await pdf.loadingTask.destroy();
  }
};

async function opened(bytes: Uint8Array) {
  try {
    // pdf.js takes the bytes over: those of an archive are still needed; and it refuses Buffers
    return await getDocumentProxy(new Uint8Array(bytes), {
      isEvalSupported: false,
      useSystemFonts: false,
      verbosity: 0,
    });
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException')
      throw new ContentUnreadable('The PDF is encrypted: save it without a password');
    throw new ContentUnreadable(undefined, { cause: error });
  }
}

function pageText(items: readonly object[]): string {
  let text = '';
  for (const item of items) {
    // marks of structure have no text
    if (!('str' in item)) continue;
    text += item.str;
    if ('hasEOL' in item && item.hasEOL === true) text += '\n';
  }
  return text.trim();
}
