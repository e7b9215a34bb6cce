import { gunzipSync } from 'node:zlib';
import { FetchRefused } from '../../net/guarded-fetch.js';
import { whole } from '../bytes.js';
import { childrenOf, parseXml, textOf, type XmlElement, XmlRefused } from '../xml.js';
import { pageAddress } from './addresses.js';
import type { WebAnswer, WebClient } from './web-client.js';

export interface Sitemap {
  /** The pages, each once, in their order. */
  readonly pages: readonly string[];
  /** Parts of it that could not be read. */
  readonly failures: readonly { readonly url: string; readonly failure: string }[];
}

/** As the format bounds them. */
const mostPages = 50_000;
const sitemapBytes = 50_000_000;
const mostSitemaps = 100;

/** Whether a text begins as a sitemap does. */
export function isSitemap(head: Uint8Array): boolean {
  return /<(?:\w+:)?(?:urlset|sitemapindex)[\s>]/.test(Buffer.from(head.subarray(0, 4_096)).toString());
}

/** Reads a sitemap, with the sitemaps that it names. */
export async function readSitemap(answer: WebAnswer, client: WebClient): Promise<Sitemap> {
  const pages = new Set<string>();
  const failures: { url: string; failure: string }[] = [];
  const take = (address: string | undefined) => {
    if (address !== undefined && pages.size < mostPages) pages.add(address);
  };
  const root = await sitemapOf(answer);
  if (root.name !== 'sitemapindex') for (const page of locations(root, 'url', answer.url)) take(page);
  else {
    const parts = [...new Set(locations(root, 'sitemap', answer.url))];
    if (parts.length > mostSitemaps)
      failures.push({
        url: answer.url,
        failure: `It names ${parts.length} sitemaps; the first ${mostSitemaps} are read.`,
      });
    for (const part of parts.slice(0, mostSitemaps)) {
      try {
        const url = await client.open(part);
        for (const page of locations(await sitemapOf(url), 'url', part)) take(page);
      } catch (error) {
        if (!(error instanceof FetchRefused)) throw error;
        failures.push({ url: part, failure: error.message });
      }
    }
  }
  return { pages: [...pages], failures };
}

/** An index names sitemaps, a sitemap names pages: an index within an index is not followed. */
function locations(root: XmlElement, entry: 'url' | 'sitemap', base: string): readonly string[] {
  return childrenOf(root, entry)
    .map((element) => pageAddress(textOf(element, 'loc')?.trim() ?? '', base))
    .filter((address) => address !== undefined);
}

async function sitemapOf({ body }: WebAnswer): Promise<XmlElement> {
  const bytes = await whole(body, sitemapBytes, 'The sitemap');
  try {
    return parseXml(unpacked(bytes).toString());
  } catch (error) {
    throw new FetchRefused(
      `The sitemap cannot be read: ${error instanceof XmlRefused ? error.message : `it is broken, or larger than ${sitemapBytes} bytes.`}`,
    );
  }
}

/** `sitemap.xml.gz` is packed by itself, not for the transport. */
function unpacked(bytes: Buffer): Buffer {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isPacked ? gunzipSync(bytes, { maxOutputLength: sitemapBytes }) : bytes;
}

/** The links of an `llms.txt`, each once, in their order. */
export function llmsLinks(text: string, url: string): readonly string[] {
  const links = [...text.matchAll(/\[[^\]\n]{0,500}\]\(([^()\s]{1,2000})\)/g)]
    .map(([, address = '']) => pageAddress(address, url))
    .filter((address) => address !== undefined);
  return [...new Set(links)];
}
