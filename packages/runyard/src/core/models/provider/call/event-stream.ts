import { StringDecoder } from 'node:string_decoder';

/** One event may be large (a whole tool call in one frame), but not without end. */
const longestEvent = 16 * 1024 * 1024;

/** How much is kept of what is no part of an event. */
const longestStray = 64 * 1024;

const letterD = 100;
const letterE = 101;

/**
 * Reads server-sent events from bytes as they arrive, cut anywhere. It calls back instead of yielding, and looks
 * at each character once, because it stands on the path of every token of every stream.
 */
export class EventStreamParser {
  /** Lines that are no part of an event: some servers write an error into a stream as it is. */
  strays = '';
  readonly #decoder = new StringDecoder('utf8');
  readonly #onEvent: (data: string, event: string) => void;
  /** The beginning of a line whose end has not arrived. */
  #partial = '';
  #data = '';
  #hasData = false;
  #event = '';
  #started = false;
  #skipLineFeed = false;

  constructor(onEvent: (data: string, event: string) => void) {
    this.#onEvent = onEvent;
  }

  push(bytes: Uint8Array): void {
    this.#consume(this.#decoder.write(bytes));
  }

  /** The source has ended. An event that lacks its closing blank line counts: some servers leave it out. */
  end(): void {
    this.#consume(this.#decoder.end());
    if (this.#partial !== '') {
      const line = this.#partial;
      this.#partial = '';
      this.#line(line, 0, line.length);
    }
    this.#dispatch();
  }

  #consume(decoded: string): void {
    if (decoded === '') return;
    const text = this.#normalise(decoded);
    let start = 0;
    let end = text.indexOf('\n');
    if (end !== -1 && this.#partial !== '') {
      const line = this.#partial + text.slice(0, end);
      this.#partial = '';
      this.#line(line, 0, line.length);
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    while (end !== -1) {
      this.#line(text, start, end);
      start = end + 1;
      end = text.indexOf('\n', start);
    }
    if (start < text.length) this.#partial += start === 0 ? text : text.slice(start);
    if (this.#partial.length + this.#data.length > longestEvent) {
      throw new Error(`an event of more than ${longestEvent} characters`);
    }
  }

  /** Line ends become \n. A \r counts at once; a \n that follows it in the next bytes is then left out. */
  #normalise(decoded: string): string {
    let text = decoded;
    if (!this.#started) {
      this.#started = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (this.#skipLineFeed) {
      this.#skipLineFeed = false;
      if (text.charCodeAt(0) === 10) text = text.slice(1);
    }
    if (text.includes('\r')) {
      this.#skipLineFeed = text.endsWith('\r');
      text = text.replace(/\r\n?/g, '\n');
    }
    return text;
  }

  #line(text: string, start: number, end: number): void {
    if (start === end) {
      this.#dispatch();
    } else if (text.charCodeAt(start) === letterD && text.startsWith('data:', start) && start + 5 <= end) {
      this.#addData(text.slice(text.charCodeAt(start + 5) === 32 ? start + 6 : start + 5, end));
    } else if (text.charCodeAt(start) === letterE && text.startsWith('event:', start) && start + 6 <= end) {
      this.#event = text.slice(text.charCodeAt(start + 6) === 32 ? start + 7 : start + 6, end);
    } else {
      this.#field(text.slice(start, end));
    }
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#addData(value);
    else if (!/^(id|retry)?$/.test(name) && this.strays.length < longestStray) this.strays += `${line}\n`;
  }

  #addData(value: string): void {
    this.#data = this.#hasData ? `${this.#data}\n${value}` : value;
    this.#hasData = true;
  }

  #dispatch(): void {
    const event = this.#event;
    this.#event = '';
    if (!this.#hasData) return;
    const data = this.#data;
    this.#data = '';
    this.#hasData = false;
    this.#onEvent(data, event);
  }
}
