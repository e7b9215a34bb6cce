import type { EventReader } from './event-reader.js';

/** An answer with a status or headers of its own. Without a body nothing is sent after the headers. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body?: unknown,
    readonly headers?: Readonly<Record<string, string>>,
  ) {}
}

/** An answer that is a stream of events. */
export class EventStreamReply {
  constructor(
    readonly source: EventReader,
    readonly headers?: Readonly<Record<string, string>>,
  ) {}
}

/** An answer that is not JSON made by us: a page, a file, a text that was serialised before. */
export class ContentReply {
  constructor(
    readonly content: string | Uint8Array,
    readonly contentType: string,
    readonly headers?: Readonly<Record<string, string>>,
    readonly status = 200,
  ) {}
}

/** An answer of JSON, or of lines of JSON, that is too long to be held at once: it is sent as it is made. */
export class JsonPiecesReply {
  constructor(
    readonly pieces: AsyncIterable<string>,
    readonly headers?: Readonly<Record<string, string>>,
    readonly contentType = 'application/json',
  ) {}
}

/** Answers JSON with another status than 200, or with further headers. */
export function reply(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return new Reply(status, body, headers);
}

/** Answers with JSON text that comes in pieces. */
export function jsonPieces(
  pieces: AsyncIterable<string>,
  headers?: Readonly<Record<string, string>>,
  contentType?: string,
): JsonPiecesReply {
  return new JsonPiecesReply(pieces, headers, contentType);
}

/** Answers with a stream of events that lasts until the source ends. */
export function eventStream(
  source: EventReader,
  headers?: Readonly<Record<string, string>>,
): EventStreamReply {
  return new EventStreamReply(source, headers);
}

/** Answers with a page. */
export function html(text: string, headers?: Readonly<Record<string, string>>): ContentReply {
  return new ContentReply(text, 'text/html; charset=utf-8', headers);
}

/** Answers with bytes, or with a text that is serialised already. */
export function asset(
  content: string | Uint8Array,
  contentType: string,
  headers?: Readonly<Record<string, string>>,
): ContentReply {
  return new ContentReply(content, contentType, headers);
}
