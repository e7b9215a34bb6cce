import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { decodedText } from '../../../core/knowledge/readers/decoded-text.js';
import type { ReadableContent } from '../../../core/knowledge/readers/reader.js';
import { gathered, type ParseBudget } from '../parse-budget.js';

/** A parsed page. */
export type Page = ReturnType<typeof parseHTML>['document'];

export function parsedPage(html: string): Page {
  // linkedom makes no body of a fragment
  const whole = /<body[\s>]|<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`;
  return parseHTML(whole).document;
}

/** The characters of a page: in the encoding that it names in itself, else as any text. */
export async function pageText(content: ReadableContent, budget: ParseBudget): Promise<string> {
  const bytes = await gathered(content, budget.limits.htmlBytes);
  const head = new TextDecoder('windows-1252').decode(bytes.subarray(0, 2048));
  const named = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{1,40})/i.exec(head)?.[1];
  const decoder = named === undefined || /^utf-?8$/i.test(named) ? undefined : decoderOf(named);
  if (decoder !== undefined) return decoder.decode(bytes);
  let text = '';
  for await (const piece of decodedText(only(bytes))) text += piece;
  return text;
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

async function* only(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

const clutter =
  'script,style,noscript,template,nav,header,footer,aside,iframe,svg,canvas,form,dialog,[hidden]';
/** An element of a page that says where its content is; what is shorter is a part of a list. */
const shortestMain = 200;

/** The main part of a page as Markdown: its `main` or `article`, else what looks like it, else all of it. */
export function markdownOf(page: Page): string {
  const main = page.querySelector('main,[role=main]') ?? onlyArticle(page);
  const readable = main === null ? readabilityOf(page) : undefined;
  if (readable !== undefined) return converted(parsedPage(readable).body);
  const root = main ?? page.body;
  for (const element of root.querySelectorAll(clutter)) element.remove();
  return converted(root);
}

function onlyArticle(page: Page) {
  const articles = page.querySelectorAll('article');
  return articles.length === 1 ? articles[0] : null;
}

/** Readability changes the page, so it gets a copy. Short pages are taken whole. */
function readabilityOf(page: Page): string | undefined {
  if (page.querySelectorAll('p').length < 3) return undefined;
  const article = new Readability(page.cloneNode(true), { charThreshold: shortestMain }).parse();
  const { content, textContent } = article ?? {};
  return content && (textContent?.trim().length ?? 0) >= shortestMain ? content : undefined;
}

function converted(root: unknown): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
  });
  service.remove(['script', 'style', 'noscript', 'template', 'iframe']);
  service.addRule('image', {
    filter: 'img',
    // an address of a picture says nothing to a search
    replacement: (_, node) => ('getAttribute' in node ? (node.getAttribute('alt') ?? '') : ''),
  });
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (text) => `${text.trim().replace(/\s+/g, ' ')} | `,
  });
  service.addRule('row', { filter: 'tr', replacement: (text) => `\n${text.replace(/ \| $/, '')}` });
  // linkedom's tree has what turndown uses of a DOM; the types are of different libraries
  return service
    .turndown(root as TurndownService.Node)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

export function titleOf(page: Page): string | undefined {
  const title = (page.querySelector('title')?.textContent ?? page.querySelector('h1')?.textContent ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  return title === '' ? undefined : title.slice(0, 500);
}
