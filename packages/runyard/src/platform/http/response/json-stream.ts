import type { ServerResponse } from 'node:http';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Exchange } from '../exchange.js';
import { type PageRequest, pageOf } from '../request/pagination.js';
import { headerList, sendContent } from './respond.js';

/** Up to here an answer is collected and sent whole. */
const collectedCharacters = 64 * 1024;

/** A list of any length as JSON text, an entry at a time. What has no value in an entry is left out, as in any body. */
export async function* jsonList(entries: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<string> {
  let before = '[';
  for await (const entry of entries) {
    yield before + JSON.stringify(entry);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** The same of entries that are JSON text already, in pieces. */
export async function* jsonListOf(
  entries: AsyncIterable<AsyncIterable<string>> | Iterable<AsyncIterable<string> | Iterable<string>>,
): AsyncGenerator<string> {
  let before = '[';
  for await (const entry of entries) {
    yield before;
    yield* entry;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** A page of any length as JSON text. */
export async function* jsonPage(
  entries: AsyncIterable<unknown> | Iterable<unknown>,
  request: PageRequest,
  total: number,
  searchTimeMs = 0,
): AsyncGenerator<string> {
  yield '{"data":';
  yield* jsonList(entries);
  yield `,"meta":${JSON.stringify(pageOf([], request, total, searchTimeMs).meta)}}`;
}

/**
 * Sends JSON that comes in pieces, no faster than the client takes it. An early failure is answered
 * as any error is; after that the response is broken off.
 */
export async function sendJsonPieces(
  exchange: Exchange,
  pieces: AsyncIterable<string>,
  headers?: Readonly<Record<string, string>>,
  contentType = 'application/json',
): Promise<void> {
  const { response } = exchange;
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < collectedCharacters) continue;
    if (!response.headersSent)
      response.writeHead(200, [...headerList(exchange, headers), 'content-type', contentType]);
    await taken(response, text);
    text = '';
    // the client is gone, and the rest is not needed
    if (response.destroyed) return;
  }
  if (response.headersSent) response.end(text);
  else sendContent(exchange, 200, text, contentType, headers);
}

/** Writes, and waits until the client has taken enough of it, or is gone. */
async function taken(response: ServerResponse, text: string): Promise<void> {
  // give other work a turn: to make the next piece may take time
  if (response.write(text)) return endOfTurn();
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
