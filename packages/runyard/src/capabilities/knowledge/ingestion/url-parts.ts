import { chooseReader } from '../../../core/knowledge/readers/choose-reader.js';
import type { ReadableContent } from '../../../core/knowledge/readers/reader.js';
import type { BaseInDatabase } from '../base-in-database.js';
import type { StoredContent } from '../contents/content.js';
import type { FoundPart } from './parts.js';

const pageTypes: ReadonlySet<string | undefined> = new Set(['text/html', 'application/xhtml+xml']);
/** Readers of addresses: what they find is read by what it is. */
const addressReaders: ReadonlySet<string | undefined> = new Set([undefined, 'website', 'llms_txt']);

/** What an address leads to: a file, or the pages of a site, a sitemap or an index. */
export async function* pagesOfUrl(
  base: BaseInDatabase,
  { request }: StoredContent,
  url: string,
  signal: AbortSignal,
): AsyncIterable<FoundPart> {
  // what fetches pages is loaded by the first content that has an address
  const { openUrl } = await import('../../../platform/sources/web/open-url.js');
  const { reader, ...where } = { reader: request.reader, ...base.parts.web };
  const pages = openUrl(url, { ...where, signal, isLlmsIndex: reader === 'llms_txt' });
  for await (const page of pages) {
    if (page.content === undefined) yield { name: page.url, reason: page.failure };
    else
      yield {
        content: page.content,
        metadata: { url: page.url },
        ...(addressReaders.has(reader) && { reader: fittingReader(base, page.content) }),
      };
  }
}

function fittingReader(
  { readers }: BaseInDatabase,
  { name, mediaType }: ReadableContent,
): string | undefined {
  if (pageTypes.has(mediaType)) return 'website';
  return chooseReader(readers, { name, mediaType })?.id;
}
