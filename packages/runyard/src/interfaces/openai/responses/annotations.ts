import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { fieldsOf } from '../../../core/objects.js';

/** What an answer cites, as annotations of its text. */
export function annotationsOf(citations: unknown, text: string): JsonObject[] {
  const { urls, sources } = fieldsOf(citations ?? {});
  const placed = listIn(sources)
    .filter(({ url }) => typeof url === 'string')
    .map(({ url, title, start_index: start = 0, end_index: end = text.length }) => ({
      type: 'url_citation',
      url: String(url),
      title: String(title ?? url),
      start_index: Number(start),
      end_index: Number(end),
    }));
  const known = new Set(placed.map(({ url }) => url));
  const others = listIn(urls)
    .filter(({ url }) => typeof url === 'string' && !known.has(url))
    .map(({ url, title }) => ({
      type: 'url_citation',
      url: String(url),
      title: String(title ?? url),
      start_index: 0,
      end_index: text.length,
    }));
  return [...placed, ...others];
}

function listIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
