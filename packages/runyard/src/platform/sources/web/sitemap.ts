import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { FetchRefused } from '../../net/guarded-fetch.js';
import { whole } from '../bytes.js';
import { decoded, XmlRefused } from '../xml.js';
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

const root = /<(?:(\w{1,20}):)?(urlset|sitemapindex)[\s>]/;
const headBytes = 4_096;

/** Whether a text begins as a sitemap does. */
export function isSitemap(head: Uint8Array): boolean {
  return root.test(Buffer.from(head.subarray(0, headBytes)).toString());
}

/** Reads a sitemap, with the sitemaps that it names. */
export async function readSitemap(answer: WebAnswer, client: WebClient): Promise<Sitemap> {
  const pages = new Set<string>();
  const failures: { url: string; failure: string }[] = [];
  const take = (address: string | undefined) => {
    if (address !== undefined && pages.size < mostPages) pages.add(address);
  };
  const first = await readPart(answer);
  if (!first.isIndex) for (const page of first.locations) take(page);
  else {
    const parts = [...new Set(first.locations)];
    if (parts.length > mostSitemaps)
      failures.push({
        url: answer.url,
        failure: `It names ${parts.length} sitemaps; the first ${mostSitemaps} are read.`,
      });
    for (const part of parts.slice(0, mostSitemaps)) {
      try {
        const { isIndex, locations } = await readPart(await client.open(part));
        // an index names sitemaps, a sitemap names pages: an index within an index is not followed
        if (isIndex) throw new FetchRefused('It is an index within an index of sitemaps.');
        for (const page of locations) take(page);
      } catch (error) {
        if (!(error instanceof FetchRefused)) throw error;
        failures.push({ url: part, failure: error.message });
      }
    }
  }
  return { pages: [...pages], failures };
}

interface SitemapPart {
  readonly isIndex: boolean;
  readonly locations: readonly string[];
}

async function readPart({ body, url }: WebAnswer): Promise<SitemapPart> {
  const bytes = await whole(body, sitemapBytes, 'The sitemap');
  try {
    return await partOf((await unpacked(bytes)).toString(), url);
  } catch (error) {
    throw new FetchRefused(
      `The sitemap cannot be read: ${error instanceof XmlRefused ? error.message : `it is broken, or larger than ${sitemapBytes} bytes.`}`,
    );
  }
}

/** So many addresses are read before others get their turn: a sitemap may have tens of thousands. */
const atOnce = 500;

/** Only the addresses are looked for: a tree of a large sitemap would stop the process for a second. */
async function partOf(text: string, base: string): Promise<SitemapPart> {
  const [found, prefix, name] = root.exec(text.slice(0, headBytes)) ?? [];
  if (found === undefined) throw new XmlRefused('It does not begin as a sitemap does.');
  if (text.slice(0, text.indexOf(found)).includes('<!DOCTYPE'))
    throw new XmlRefused('The XML declares a document type.');
  const qualified = prefix === undefined ? '' : `${prefix}:`;
  if (!text.includes(`</${qualified}${name}>`)) throw new XmlRefused('The XML is not complete.');
  const tag = `<${qualified}loc>`;
  const locations: string[] = [];
  for (let at = text.indexOf(tag), count = 1; at >= 0 && count <= mostPages; count++) {
    const begin = at + tag.length;
    const end = text.indexOf(`</${qualified}loc>`, begin);
    if (end < 0) break;
    const address = pageAddress(locationOf(text.slice(begin, end)), base);
    if (address !== undefined) locations.push(address);
    if (count % atOnce === 0) await nextTurn();
    at = text.indexOf(tag, end);
  }
  return { isIndex: name === 'sitemapindex', locations };
}

function locationOf(text: string): string {
  const given = text.trim();
  return given.startsWith('<![CDATA[') ? given.slice(9, -3).trim() : decoded(given);
}

const gunzipped = promisify(gunzip);

/** `sitemap.xml.gz` is packed by itself, not for the transport. */
async function unpacked(bytes: Buffer): Promise<Buffer> {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isPacked ? gunzipped(bytes, { maxOutputLength: sitemapBytes }) : bytes;
}

/** The links of an `llms.txt`, each once, in their order. */
export function llmsLinks(text: string, url: string): readonly string[] {
  const links = [...text.matchAll(/\[[^[\]\n]{0,500}\]\(([^()\s]{1,2000})\)/g)]
    .map(([, address = '']) => pageAddress(address, url))
    .filter((address) => address !== undefined);
  return [...new Set(links)];
}
