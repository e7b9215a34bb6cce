import PostalMime, { type Address, type Email } from 'postal-mime';
import { ContentUnreadable } from '../../../core/knowledge/readers/reader.js';
import { gathered, type Parser } from '../parse-budget.js';
import { innerFile } from './inner-file.js';
import { markdownOf, parsedPage } from './page.js';

const deepestPart = 50;

/** A message with its headers, then its attachments, each read with the reader that fits it. */
export const readEmail: Parser = async function* (content, budget) {
  const bytes = await gathered(content, budget.limits.wholeFileBytes);
  const email = await parsedEmail(bytes);
  if (email.headers.length === 0) throw new ContentUnreadable();
  const text = messageText(email);
  budget.text(text.length);
  yield { name: content.name, content: text, metadata: about(email) };
  for (const [index, { filename, mimeType, content: attached, related }] of email.attachments.entries()) {
    // pictures that the text shows are no documents
    if (related === true && mimeType.startsWith('image/')) continue;
    budget.entry();
    const path = (filename ?? `attachment-${index + 1}`).replace(/[\\/\0]/g, '_');
    yield* innerFile(bytesOf(attached), path, mimeType, budget);
    budget.progress(index + 1, email.attachments.length);
  }
};

async function parsedEmail(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { maxNestingDepth: deepestPart, forceRfc822Attachments: true });
  } catch (error) {
    throw new ContentUnreadable('The message is malformed or nested too deeply', { cause: error });
  }
}

function messageText(email: Email): string {
  const { subject, from, to, cc, date, text, html } = email;
  const headers = [
    ['Subject', subject],
    ['From', from === undefined ? undefined : addressText(from)],
    ['To', to?.map(addressText).join(', ')],
    ['Cc', cc?.map(addressText).join(', ')],
    ['Date', date],
  ].filter(([, value]) => value !== undefined && value !== '');
  const body = text?.trim() || (html === undefined ? '' : markdownOf(parsedPage(html)));
  return [headers.map(([name, value]) => `${name}: ${value}`).join('\n'), body].join('\n\n').trim();
}

function about({ subject, from, date }: Email) {
  const sender = from === undefined ? undefined : addressText(from);
  return Object.fromEntries(
    Object.entries({ subject, from: sender, date }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
    ),
  );
}

function addressText(address: Address): string {
  if (address.group !== undefined) return `${address.name}: ${address.group.map(addressText).join(', ')}`;
  return address.name === '' ? address.address : `${address.name} <${address.address}>`;
}

function bytesOf(content: ArrayBuffer | Uint8Array | string): Uint8Array {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}
