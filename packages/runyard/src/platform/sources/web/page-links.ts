import { attribute, type MarkupReader, scanMarkup } from '../../tools/html-markup.js';
import { pageAddress } from './addresses.js';

export interface PageLinks {
  /** What the page names as its own address. */
  readonly canonical: string | undefined;
  /** The addresses that it links to, each once, in their order. */
  readonly links: readonly string[];
}

const mostLinks = 1_000;

/** Where a page leads. Links that it marks as not to be followed are left out. */
export function pageLinks(html: string, url: string): PageLinks {
  const reader = new LinkReader(url);
  scanMarkup(html, reader);
  return { canonical: reader.canonical, links: reader.follows ? [...reader.links] : [] };
}

class LinkReader implements MarkupReader {
  readonly links = new Set<string>();
  canonical: string | undefined;
  follows = true;
  readonly #read = new Set<string>();
  #base: string;

  constructor(url: string) {
    this.#base = url;
  }

  text(): void {}

  end(): void {}

  start(tag: string, attributes: string): void {
    if (tag === 'a') this.#link(attributes);
    else if (tag === 'link') {
      if (words(attribute(attributes, 'rel')).includes('canonical'))
        this.canonical ??= this.#address(attributes);
    } else if (tag === 'base') this.#base = this.#address(attributes) ?? this.#base;
    else if (tag === 'meta' && attribute(attributes, 'name')?.toLowerCase() === 'robots') {
      const rules = words(attribute(attributes, 'content')?.replaceAll(',', ' '));
      if (rules.includes('nofollow') || rules.includes('none')) this.follows = false;
    }
  }

  #link(attributes: string): void {
    if (this.links.size >= mostLinks || this.#read.size >= 10 * mostLinks) return;
    // a page repeats its links: each is resolved once
    if (this.#read.has(attributes)) return;
    this.#read.add(attributes);
    if (words(attribute(attributes, 'rel')).includes('nofollow')) return;
    const address = this.#address(attributes);
    if (address !== undefined) this.links.add(address);
  }

  #address(attributes: string): string | undefined {
    const href = attribute(attributes, 'href')?.trim();
    return href === undefined || href === '' ? undefined : pageAddress(href, this.#base);
  }
}

function words(text: string | undefined): readonly string[] {
  return text?.toLowerCase().split(/\s+/) ?? [];
}
