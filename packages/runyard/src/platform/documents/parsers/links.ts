import type { ReadableContent } from '../../../core/knowledge/readers/reader.js';
import type { Parser } from '../parse-budget.js';
import { pageText, parsedPage } from './page.js';

const mostLinks = 50_000;

/** The addresses that a page, a sitemap or a Markdown index links to: one document for each. */
export const readLinks: Parser = async function* (content, budget) {
  const text = await pageText(content, budget);
  const found = new Set<string>();
  for (const { address, base } of addresses(text, content)) {
    const absolute = resolved(address, base);
    if (absolute === undefined || found.has(absolute)) continue;
    found.add(absolute);
    yield { name: null, content: absolute, metadata: {} };
    if (found.size === mostLinks) return;
  }
};

function* addresses(
  text: string,
  { url, mediaType }: ReadableContent,
): Iterable<{ address: string; base?: string }> {
  if (/<(urlset|sitemapindex)[\s>]/i.test(text.slice(0, 4096))) {
    for (const [, address] of text.matchAll(/<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]]{1,2048})/gi))
      yield { address: (address ?? '').replaceAll('&amp;', '&').trim() };
    return;
  }
  if (mediaType?.includes('html') === true || /^\s*(<!doctype|<html)/i.test(text)) {
    const page = parsedPage(text);
    const base = resolved(page.querySelector('base')?.getAttribute('href') ?? '', url) ?? url;
    for (const link of page.querySelectorAll('a[href]'))
      yield { address: link.getAttribute('href') ?? '', base };
    return;
  }
  for (const [, linked, bare] of text.matchAll(
    /\]\(\s*<?([^)\s>]{1,2048})|(https?:\/\/[^\s)>\]"']{1,2048})/g,
  ))
    yield { address: linked ?? bare ?? '', base: url };
}

/** Undefined for what is no page: `mailto:`, `javascript:`, a broken address. */
function resolved(address: string, base: string | undefined): string | undefined {
  if (!URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  url.hash = '';
  return /^https?:$/.test(url.protocol) ? url.href : undefined;
}
