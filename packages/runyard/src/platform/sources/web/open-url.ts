import type { ReadableContent } from '../../../core/knowledge/readers/reader.js';
import { FetchRefused } from '../../net/guarded-fetch.js';
import { asUtf8, peeked, whole } from '../bytes.js';
import { fileNameOf, isYouTube, pageAddress, primaryDomain } from './addresses.js';
import { pageLinks } from './page-links.js';
import { isSitemap, llmsLinks, readSitemap } from './sitemap.js';
import { type WebAnswer, WebClient, type WebLimits } from './web-client.js';

export interface OpenUrlOptions extends Partial<WebLimits> {
  readonly signal: AbortSignal;
  /** How many pages are read. Default 10 of a site, 20 of an `llms.txt`, 500 of a sitemap. */
  readonly maxPages?: number | undefined;
  /** How far links are followed; the first page has depth 1. Default 3. */
  readonly maxDepth?: number | undefined;
  /** The address is that of an `llms.txt`, whatever its name. */
  readonly isLlmsIndex?: boolean | undefined;
  /** What was found before a crash: these pages are not read again, and their links are followed. */
  readonly visited?: readonly VisitedPage[] | undefined;
}

/** What a caller keeps of a page so that the reading can continue after it. */
export interface VisitedPage {
  readonly url: string;
  readonly links: readonly string[];
}

/** A page or file at an address, or why there is none. `url` is the address that was asked for. */
export type FoundPage = VisitedPage &
  (
    | { readonly content: ReadableContent; readonly failure?: never }
    | { readonly failure: string; readonly content?: never }
  );

const defaults = {
  allowedHosts: [],
  maxBytes: 1_073_741_824,
  timeoutMs: 1_800_000,
  idleMs: 15_000,
  pauseMs: 200,
  retryMs: 500,
} satisfies WebLimits;

const crawledPages = 10;
const llmsPages = 20;
const sitemapPages = 500;
/** Of a page whose links are looked for. */
const pageBytes = 20_000_000;
/** Looking for links in more of a page would keep others waiting. */
const scannedBytes = 1_000_000;
const mostLinksKept = 500;

/**
 * Reads an address: a file, a site by its links, the pages of a sitemap or of an `llms.txt`. Pages come one by one;
 * a page that cannot be read comes with its failure.
 */
export async function* openUrl(address: string, options: OpenUrlOptions): AsyncGenerator<FoundPage> {
  const url = pageAddress(address);
  if (url === undefined) {
    yield failed(address, `'${address.slice(0, 200)}' is not a web address.`);
    return;
  }
  if (isYouTube(new URL(url))) {
    yield failed(
      url,
      'YouTube gives out no transcripts without its API. Add the transcript as a text or a file.',
    );
    return;
  }
  yield* new WebReading(url, options).pages();
}

class WebReading {
  readonly #client: WebClient;
  readonly #visited: ReadonlyMap<string, readonly string[]>;
  readonly #seen = new Set<string>();

  constructor(
    private readonly start: string,
    private readonly options: OpenUrlOptions,
  ) {
    const { allowedHosts, maxBytes, timeoutMs, idleMs, pauseMs, retryMs } = { ...defaults, ...options };
    this.#client = new WebClient(
      { allowedHosts, maxBytes, timeoutMs, idleMs, pauseMs, retryMs },
      options.signal,
    );
    this.#visited = new Map(options.visited?.map((page) => [page.url, page.links]));
  }

  /** After a crash, the first address is asked again: what it is decides how to continue. */
  async *pages(): AsyncGenerator<FoundPage> {
    const { start } = this;
    this.#seen.add(start);
    let answer: WebAnswer | undefined;
    try {
      answer = await this.#client.open(start);
      for await (const page of this.#startPage(answer)) if (!this.#visited.has(page.url)) yield page;
    } catch (error) {
      if (!(error instanceof FetchRefused)) throw error;
      yield failed(start, error.message);
    } finally {
      answer?.close();
    }
  }

  async *#startPage(answer: WebAnswer): AsyncGenerator<FoundPage> {
    const { start } = this;
    this.#seen.add(answer.url);
    if (this.options.isLlmsIndex === true || /\/llms\.txt$/i.test(new URL(answer.url).pathname)) {
      const bytes = await whole(asUtf8(answer.body, answer.charset), scannedBytes, 'The file');
      yield { url: start, links: [], content: held(bytes, answer, 'text/markdown') };
      const links = llmsLinks(bytes.toString(), answer.url).filter((link) => !this.#seen.has(link));
      yield* this.#listed(links.slice(0, this.#most(llmsPages)));
      return;
    }
    if (isHtml(answer.mediaType)) {
      const page = await this.#page(start, answer);
      if (page.canonical !== undefined) this.#seen.add(page.canonical);
      yield page;
      yield* this.#followed(page.links, answer.url);
      return;
    }
    const { head, body } = await peeked(answer.body, 4_096);
    if (isSitemap(head) || /sitemap[^/]*\.xml\.gz$/i.test(new URL(answer.url).pathname))
      yield* this.#sitemap({ ...answer, body });
    else yield { url: start, links: [], content: this.#streamed(start, { ...answer, body }) };
  }

  async *#sitemap(answer: WebAnswer): AsyncGenerator<FoundPage> {
    const { pages, failures } = await readSitemap(answer, this.#client);
    for (const { url, failure } of failures) yield failed(url, failure);
    const site = primaryDomain(new URL(answer.url).hostname);
    const own = pages.filter((page) => primaryDomain(new URL(page).hostname) === site);
    const most = this.#most(sitemapPages);
    if (own.length < pages.length)
      yield failed(
        answer.url,
        `${pages.length - own.length} of its pages belong to other sites and are not read.`,
      );
    if (own.length > most)
      yield failed(answer.url, `It names ${own.length} pages; the first ${most} are read (maxPages).`);
    if (pages.length === 0) yield failed(answer.url, 'The sitemap names no pages.');
    yield* this.#listed(own.slice(0, most), true);
  }

  /** Pages that an index names: each is read, or reported. */
  async *#listed(addresses: readonly string[], asRobotsAllow = false): AsyncGenerator<FoundPage> {
    for (const address of addresses) {
      if (this.#seen.has(address)) continue;
      this.#seen.add(address);
      if (this.#visited.has(address)) continue;
      if (asRobotsAllow && !(await this.#client.allows(address)))
        yield failed(address, 'The robots.txt of the site does not allow programs to read it.');
      else yield* this.#read(address);
    }
  }

  /** Pages that links lead to, breadth first, within the site. What is no page of its own is passed over. */
  async *#followed(links: readonly string[], from: string): AsyncGenerator<FoundPage> {
    const { maxDepth = 3 } = this.options;
    const most = this.#most(crawledPages);
    const site = primaryDomain(new URL(from).hostname);
    const isOwn = (address: string) =>
      primaryDomain(new URL(address).hostname) === site && mayBePage(address) && !this.#seen.has(address);
    const queue = [{ links, depth: 1 }];
    let pages = 1;
    // What turns out to be no page costs a request too.
    let requests = most * 3;
    for (const found of queue) {
      if (found.depth >= maxDepth) return;
      for (const link of found.links) {
        if (pages >= most || requests === 0) return;
        if (!isOwn(link)) continue;
        this.#seen.add(link);
        const before = this.#visited.get(link);
        if (before !== undefined) {
          pages += 1;
          queue.push({ links: before, depth: found.depth + 1 });
          continue;
        }
        if (!(await this.#client.allows(link))) continue;
        requests -= 1;
        for await (const page of this.#read(link, isOwn)) {
          yield page;
          pages += 1;
          queue.push({ links: page.links, depth: found.depth + 1 });
        }
      }
    }
  }

  /** `isPage` is asked about the address that a followed link redirects to; a listed one may lead to any file. */
  async *#read(address: string, isPage?: (address: string) => boolean): AsyncGenerator<FoundPage> {
    let answer: WebAnswer | undefined;
    try {
      answer = await this.#client.open(address);
      if (answer.url !== address && isPage?.(answer.url) === false) return;
      this.#seen.add(answer.url);
      if (isHtml(answer.mediaType)) {
        const page = await this.#page(address, answer);
        const { canonical = answer.url } = page;
        if (canonical !== answer.url && canonical !== address && this.#seen.has(canonical)) return;
        this.#seen.add(canonical);
        // those of a listed page are not followed: there is no need to keep them
        yield isPage === undefined ? { ...page, links: [] } : page;
      } else if (isPage === undefined || isPlainText(answer.mediaType))
        yield { url: address, links: [], content: this.#streamed(address, answer) };
    } catch (error) {
      if (!(error instanceof FetchRefused)) throw error;
      yield failed(address, error.message);
    } finally {
      answer?.close();
    }
  }

  async #page(url: string, answer: WebAnswer) {
    const given = await whole(answer.body, pageBytes, 'The page');
    // a page that names its encoding is decoded by it; only one that does not needs what the server says
    const isNamed = /<meta[^>]{0,200}charset/i.test(given.toString('latin1', 0, 1_024));
    const bytes = isNamed
      ? given
      : await whole(asUtf8(once(given), answer.charset), 2 * pageBytes, 'The page');
    const { canonical, links } = pageLinks(bytes.toString('utf8', 0, scannedBytes), answer.url);
    return {
      url,
      canonical,
      links: links.slice(0, mostLinksKept),
      content: held(bytes, answer, answer.mediaType),
    };
  }

  /** Its first stream is the one that is open; each further one asks the server again. */
  #streamed(address: string, first: WebAnswer): ReadableContent {
    const client = this.#client;
    let answer: WebAnswer | undefined = first;
    return {
      name: fileNameOf(first.url) ?? fileNameOf(address),
      mediaType: first.mediaType,
      size: first.size,
      url: first.url,
      async *open() {
        const { body, charset } = answer?.isClosed() === false ? answer : await client.open(address);
        answer = undefined;
        yield* asUtf8(body, charset);
      },
    };
  }

  #most(usual: number): number {
    return this.options.maxPages ?? usual;
  }
}

function failed(url: string, failure: string): FoundPage {
  return { url, links: [], failure };
}

function held(bytes: Uint8Array, answer: WebAnswer, mediaType: string | undefined): ReadableContent {
  return {
    name: fileNameOf(answer.url),
    mediaType,
    size: bytes.length,
    url: answer.url,
    open: () => once(bytes),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function isHtml(mediaType: string | undefined): boolean {
  return mediaType === 'text/html' || mediaType === 'application/xhtml+xml';
}

function isPlainText(mediaType: string | undefined): boolean {
  return mediaType === 'text/plain' || mediaType === 'text/markdown';
}

const pageEndings = /\.(?:x?html?|php|aspx?|jsp|md|txt)$/i;

/** An address whose name ends like a file of another kind is not asked for while links are followed. */
function mayBePage(address: string): boolean {
  const name = new URL(address).pathname.split('/').at(-1) ?? '';
  return !/\.[a-z][a-z0-9]{1,5}$/i.test(name) || pageEndings.test(name);
}
