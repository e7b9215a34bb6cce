import type { JsonObject } from '../../../core/json.js';
import type { Parser } from '../parse-budget.js';
import { markdownOf, pageText, parsedPage, titleOf } from './page.js';

/** The main part of a page as Markdown, with its title. */
export const readHtml: Parser = async function* (content, budget) {
  const page = parsedPage(await pageText(content, budget));
  // before the page is stripped: a heading in its header counts
  const title = titleOf(page);
  const text = markdownOf(page);
  budget.text(text.length);
  const metadata: JsonObject = title === undefined ? {} : { title };
  yield { name: content.name, content: text, metadata };
};
