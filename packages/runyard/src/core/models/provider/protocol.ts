import type { Json, JsonObject } from '../../json.js';
import type { MediaContents } from '../../media/media.js';
import type { Message } from '../message.js';
import type { ModelChunk, ModelRequest, ModelResponse } from '../model.js';
import type { ModelError } from '../model-error.js';

/** An answer while it is put together from the objects of the wire. */
export interface GrowingAnswer {
  /** False as long as no part of an answer has arrived, where a mark of the end may come without one. */
  readonly begun?: boolean;
  /** Whether the provider said how the answer ended. */
  readonly finished: boolean;
  /** Whether nothing more is to come. */
  readonly ended: boolean;
  /** Set when the provider paused before the end: begins the answer of the call that lets it continue. */
  readonly continuation?: (() => GrowingAnswer) | undefined;
  /**
   * Takes in one event of a stream, or the one object of a call without streaming, and hands the text in it to
   * `deliver`. Answers with the text if the event held nothing else that matters.
   */
  accept(event: JsonObject, deliver: (chunk: ModelChunk) => void): string | undefined;
  /** Takes in the text of an event that is otherwise the same as the last one that held only text. */
  addText(text: string, deliver: (chunk: ModelChunk) => void): void;
  response(media: MediaContents): ModelResponse | Promise<ModelResponse>;
}

export interface BodyOptions {
  readonly stream: boolean;
  /** Leaves out what the provider signed in earlier answers. */
  readonly unsigned: boolean;
  /** The answer so far, which the provider paused: sent back as it came, after the messages of the request. */
  readonly paused?: Message;
}

/** One provider's protocol: how a request is written and an answer is read. */
export interface Protocol {
  url(stream: boolean): string;
  readonly headers: Readonly<Record<string, string>>;
  /** What must not show in an error. */
  readonly secrets: readonly string[];
  /** A promise only where the body has to be waited for. */
  body(request: ModelRequest, options: BodyOptions): string | Promise<string>;
  answer(request: ModelRequest, fail: (error: Json) => ModelError): GrowingAnswer;
  /** What a whole answer lacks to be one. */
  lacks(body: JsonObject): string | undefined;
  /** What stands before the piece of text in an event, where events repeat themselves otherwise. */
  readonly textOpening?: string;
}
