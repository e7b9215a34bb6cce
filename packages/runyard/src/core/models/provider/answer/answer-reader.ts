import type { JsonObject } from '../../../json.js';
import type { ModelChunk } from '../../model.js';
import { EventStreamParser } from '../call/event-stream.js';
import type { GrowingAnswer } from '../protocol.js';
import { RepeatedDelta } from './repeated-delta.js';

export interface AnswerReaderOptions {
  readonly answer: GrowingAnswer;
  readonly parse: (data: string, event: string) => JsonObject;
  readonly textOpening?: string | undefined;
}

/** Turns the bytes of a stream into chunks, as many as each read completes. */
export class AnswerReader {
  readonly answer: GrowingAnswer;
  /** What made the stream unreadable, after the chunks that came before it. */
  failure: unknown;
  /** There is nothing more to read. */
  done = false;
  #sawDone = false;
  #ready: ModelChunk[] = [];
  readonly #repeated: RepeatedDelta | undefined;
  readonly #parse: (data: string, event: string) => JsonObject;
  readonly #parser = new EventStreamParser((data, event) => this.#accept(data, event));
  readonly #deliver = (chunk: ModelChunk) => void this.#ready.push(chunk);

  constructor({ answer, parse, textOpening }: AnswerReaderOptions) {
    this.answer = answer;
    this.#parse = parse;
    this.#repeated = textOpening === undefined ? undefined : new RepeatedDelta(textOpening);
  }

  /** Whether the provider brought its answer to an end. */
  get complete(): boolean {
    return (this.#sawDone && this.answer.begun !== false) || this.answer.finished;
  }

  /** What the stream held beside its events. */
  get strays(): string {
    return this.#parser.strays;
  }

  take(bytes: Uint8Array | undefined): ModelChunk[] {
    this.#ready = [];
    try {
      if (bytes) this.#parser.push(bytes);
      else this.#parser.end();
    } catch (error) {
      this.failure = error;
    }
    this.done = bytes === undefined || this.#sawDone || this.answer.ended;
    return this.#ready;
  }

  #accept(data: string, event: string): void {
    if (this.#sawDone || this.answer.ended) return;
    const repeated = event === 'error' ? undefined : this.#repeated?.textIn(data);
    if (repeated !== undefined) {
      this.answer.addText(repeated, this.#deliver);
      return;
    }
    // some servers keep the connection alive with events that hold nothing
    const given = data.trim();
    if (given === '[DONE]') {
      this.#sawDone = true;
    } else if (given !== '') {
      const onlyText = this.answer.accept(this.#parse(data, event), this.#deliver);
      if (onlyText === undefined) this.#repeated?.forget();
      else this.#repeated?.learn(data, onlyText);
    }
  }
}
