import { NetworkError } from './errors.js';
import { timer } from './waiting.js';

/** One server-sent event of the service. */
export interface Frame {
  /** The index of an event; other frames have none. */
  readonly index: number | undefined;
  readonly name: string;
  readonly data: string;
}

/** Reads the frames of a response. Throws when the connection breaks, or is silent for longer than `silenceMs`. */
export async function* framesIn(body: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new FrameParser();
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read());
      if (done) return;
      yield* parser.framesOf(decoder.decode(value, { stream: true }));
    }
  } finally {
    // closes the connection; it may have failed already
    reader.cancel().catch(() => {});
  }
}

/** Reads `text/event-stream`: lines end with LF, CR or CRLF, a frame with an empty line. */
class FrameParser {
  /** The begin of a line whose end has not come. It is only appended to, so that a long one costs its length. */
  #line = '';
  #afterReturn = false;
  #id: string | undefined;
  #name = 'message';
  #data: string[] = [];

  *framesOf(text: string): Generator<Frame> {
    if (text === '') return;
    let from = this.#afterReturn && text.startsWith('\n') ? 1 : 0;
    this.#afterReturn = text.endsWith('\r');
    const ends = /\r\n?|\n/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end; end = ends.exec(text)) {
      const line = this.#line + text.slice(from, end.index);
      this.#line = '';
      from = ends.lastIndex;
      if (line !== '') this.#add(line);
      else if (this.#data.length > 0) yield this.#frame();
      else this.#reset();
    }
    this.#line += text.slice(from);
  }

  #add(line: string): void {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#name = value;
    else if (field === 'id') this.#id = value;
  }

  #frame(): Frame {
    const index = this.#id !== undefined && /^\d+$/.test(this.#id) ? Number(this.#id) : undefined;
    const frame = { index, name: this.#name, data: this.#data.join('\n') };
    this.#reset();
    return frame;
  }

  #reset(): void {
    this.#id = undefined;
    this.#name = 'message';
    this.#data = [];
  }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let stop = () => {};
  const silence = new Promise<never>((_resolve, reject) => {
    stop = timer(ms, () => reject(new NetworkError(`Nothing came for ${ms} ms`)));
  });
  return Promise.race([work, silence]).finally(() => stop());
}
