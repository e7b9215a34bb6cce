/** A request to a provider, as the wire needs it. */
export interface OutgoingRequest {
  readonly url: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the answer is read while it is written. */
  readonly streamed: boolean;
}

/** The beginning of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string;
  /** Made when they are asked for: only failures need all of them. */
  headers(): Headers;
}

/** Bytes of an answer: a promise only where they have to be waited for. */
export type Arriving = Uint8Array | undefined | Promise<Uint8Array | undefined>;

/** One request and its answer while it arrives. */
export interface Exchange {
  /** Resolves when the status and the headers are there. */
  readonly head: Promise<AnswerHead>;
  /** Whether the answer has arrived completely, and its connection is free. */
  readonly ended: boolean;
  /** The next bytes of the body, at once if they are there; undefined at its end. One call at a time, after the head. */
  read(): Arriving;
  /** Closes the connection. What waits for the head or for bytes fails with the reason. */
  abort(reason: unknown): void;
}

/** Sends a request. */
export type Transport = (request: OutgoingRequest) => Exchange;
