import { z } from 'zod';
import { checkOptions } from '../../core/options/check-options.js';
import { count, listOf, milliseconds, name, objectOf } from '../../core/options/kinds.js';
import { type Tool, tool } from '../../core/tools/tool.js';
import { type GuardedResponse, guardedFetch } from '../net/guarded-fetch.js';
import { readableText } from './html-text.js';

export interface WebFetchOptions {
  /** Only these hosts, and those below them (`example.com` includes `www.example.com`). Left out: the whole web. */
  readonly onlyHosts?: readonly string[];
  /** Hosts that may be reached although their address is not public, e.g. `wiki.internal` or `127.0.0.1:8080`. */
  readonly allowedHosts?: readonly string[];
  /** Default 5 MB. */
  readonly maximumBytes?: number;
  /** How much text one call answers with. Default 20,000 characters. */
  readonly maximumCharacters?: number;
  /** Default 15 s. */
  readonly timeoutMs?: number;
}

const webFetchOptions = objectOf<WebFetchOptions>({
  onlyHosts: listOf(name),
  allowedHosts: listOf(name),
  maximumBytes: count(1),
  maximumCharacters: count(1),
  timeoutMs: milliseconds(1),
});

/** Reads web pages. It reaches the public internet only. */
export function webFetch(options: WebFetchOptions = {}): Tool {
  checkOptions('webFetch()', options, webFetchOptions);
  const { maximumCharacters = 20_000, ...guard } = options;
  return tool({
    name: 'fetch_page',
    description:
      'Read a web page or a text file at a URL. HTML is turned into plain text with links. Long pages come in parts: call again with the offset that the answer names.',
    inputSchema: z.object({
      url: z.string().describe('The full URL, beginning with https:// or http://'),
      offset: z.int().min(0).default(0).describe('Where in the text to begin, in characters'),
    }),
    readOnly: true,
    execute: async ({ url, offset }, { signal }) => {
      const response = await guardedFetch(url, {
        ...guard,
        signal,
        headers: { accept: 'text/html, text/plain, application/json;q=0.9, */*;q=0.5' },
      });
      if (response.status >= 400) throw new Error(`${response.url} answered with status ${response.status}.`);
      return part(response.url, textOf(response), offset, maximumCharacters);
    },
  });
}

interface PageText {
  readonly title: string;
  readonly text: string;
}

function textOf(response: GuardedResponse): PageText {
  const type = (response.headers['content-type'] ?? 'text/plain').toLowerCase();
  const isHtml = /^(text\/html|application\/xhtml\+xml)/.test(type);
  if (!isHtml && !/^(text\/|application\/([\w.-]+\+)?(json|xml|yaml|javascript|x-ndjson))/.test(type)) {
    const size = response.body.length;
    throw new Error(`${response.url} is ${type} with ${size} bytes, not a text. Only texts can be read.`);
  }
  const decoded = decode(response.body, type);
  return isHtml ? readableText(decoded, response.url) : { title: '', text: decoded };
}

/** Reads bytes in the encoding that the server names, or the page itself. */
function decode(bytes: Uint8Array, type: string): string {
  const beginning = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  const label =
    /charset\s*=\s*["']?([\w.:-]+)/.exec(type)?.[1] ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(beginning)?.[1];
  try {
    return new TextDecoder(label ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function part(url: string, { title, text }: PageText, offset: number, length: number): string {
  const end = Math.min(offset + length, text.length);
  const head = [`URL: ${url}`, ...(title ? [`Title: ${title}`] : [])];
  if (offset > 0 && offset >= text.length)
    return [
      ...head,
      '',
      `There is nothing at offset ${offset}: the text has ${text.length} characters.`,
    ].join('\n');
  const more =
    end < text.length ? [`\n[${text.length - end} more characters. Go on with offset ${end}.]`] : [];
  return [...head, '', text.slice(offset, end), ...more].join('\n');
}
