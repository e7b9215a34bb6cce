import { chooseReader } from '../../../core/knowledge/readers/choose-reader.js';
import type { ReadableContent } from '../../../core/knowledge/readers/reader.js';
import type { VisitedPage } from '../../../platform/sources/web/open-url.js';
import type { BaseInDatabase } from '../base-in-database.js';
import type { StoredContent } from '../contents/content.js';
import type { FoundPart } from './parts.js';

const pageTypes: ReadonlySet<string | undefined> = new Set(['text/html', 'application/xhtml+xml']);
/** Readers of addresses: what they find is read by what it is. */
const addressReaders: ReadonlySet<string | undefined> = new Set([undefined, 'website', 'llms_txt']);

/** A page, with what is kept of it so that the reading can continue after it. */
export interface WebPart extends VisitedPage {
  readonly part: FoundPart;
}

/** What an address leads to: a file, or the pages of a site, a sitemap or an index. Without those visited before. */
export async function* pagesOfUrl(
  base: BaseInDatabase,
  { request }: StoredContent,
  url: string,
  visited: readonly VisitedPage[],
  signal: AbortSignal,
): AsyncGenerator<WebPart> {
  // what fetches pages is loaded by the first content that has an address
  const { openUrl } = await import('../../../platform/sources/web/open-url.js');
  const { reader, ...where } = { reader: request.reader, ...base.parts.web };
  const pages = openUrl(url, { ...where, signal, visited, isLlmsIndex: reader === 'llms_txt' });
  for await (const page of pages) {
    const { url: address, links } = page;
    if (page.content === undefined)
      yield { url: address, links, part: { name: address, reason: page.failure } };
    else {
      const fitting = addressReaders.has(reader) && { reader: fittingReader(base, page.content) };
      yield { url: address, links, part: { content: page.content, metadata: { url: address }, ...fitting } };
    }
  }
}

function fittingReader(
  { readers }: BaseInDatabase,
  { name, mediaType }: ReadableContent,
): string | undefined {
  if (pageTypes.has(mediaType)) return 'website';
  return chooseReader(readers, { name, mediaType })?.id;
}
