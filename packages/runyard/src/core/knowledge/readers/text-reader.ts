import type { Document } from '../document.js';
import { decodedText } from './decoded-text.js';
import type { ReadableContent } from './reader.js';

/** The longest document that one text becomes, in characters: a longer text becomes several, so that memory is bounded. */
export const longestPart = 1_048_576;

/** Reads a text as one document, or as parts that end at a line where it is longer than `longestPart`. */
export async function* readText(content: ReadableContent, part = longestPart): AsyncIterable<Document> {
  const { name } = content;
  let number = 0;
  let text = '';
  for await (const piece of decodedText(content.open())) {
    text += piece;
    while (text.length > part) {
      const end = endOfPart(text, part);
      number += 1;
      yield { name, content: text.slice(0, end), metadata: { part: number } };
      text = text.slice(end);
    }
  }
  if (text.trim() === '') return;
  yield { name, content: text, metadata: number === 0 ? {} : { part: number + 1 } };
}

/** After the last blank line in the second half of the part, else after the last line, else at its end. */
function endOfPart(text: string, part: number): number {
  const half = part / 2;
  const paragraph = text.lastIndexOf('\n\n', part - 2);
  if (paragraph > half) return paragraph + 2;
  const line = text.lastIndexOf('\n', part - 1);
  if (line > half) return line + 1;
  const unit = text.charCodeAt(part);
  return unit >= 0xdc00 && unit <= 0xdfff ? part - 1 : part;
}
