import type { Document } from '../../../core/knowledge/document.js';
import { chooseReader } from '../../../core/knowledge/readers/choose-reader.js';
import { ContentUnreadable } from '../../../core/knowledge/readers/reader.js';
import { readerTable } from '../../../core/knowledge/readers/reader-table.js';
import { contentOf } from '../parent-content.js';
import type { ParseBudget } from '../parse-budget.js';

/**
 * Reads a file that is in another one, with `path` in the metadata of its documents. A file of no known kind is left out
 * when it is no text (a picture, a program); one of a known kind that cannot be read fails the whole, which names it.
 */
export async function* innerFile(
  bytes: Uint8Array,
  path: string,
  mediaType: string | undefined,
  budget: ParseBudget,
): AsyncIterable<Document> {
  const content = contentOf(bytes, path.replace(/^.*\//, ''), mediaType);
  try {
    for await (const document of budget.inner(content)) {
      const below = document.metadata.path;
      const whole = typeof below === 'string' ? `${path}/${below}` : path;
      yield { ...document, metadata: { ...document.metadata, path: whole } };
    }
  } catch (error) {
    if (error instanceof ContentUnreadable && isOfUnknownKind(content.name, mediaType)) return;
    const reason = error instanceof ContentUnreadable ? error.message : new ContentUnreadable().message;
    throw new ContentUnreadable(`${path}: ${reason}`, { cause: error });
  }
}

function isOfUnknownKind(name: string | null, mediaType: string | undefined): boolean {
  const others = readerTable.filter(({ id }) => id !== 'text');
  return (
    chooseReader(others, { name, mediaType }) === undefined &&
    mediaType !== 'text/plain' &&
    !/\.(txt|text|log)$/i.test(name ?? '')
  );
}
