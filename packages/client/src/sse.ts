import { NetworkError } from './errors.js';

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
  let text = '';
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read());
      if (done) return;
      // the end of a frame may be spread over two pieces
      let from = Math.max(0, text.length - 1);
      text += decoder.decode(value, { stream: true });
      let begin = 0;
      for (let end = text.indexOf('\n\n', from); end >= 0; end = text.indexOf('\n\n', from)) {
        const frame = frameIn(text.slice(begin, end));
        begin = end + 2;
        from = begin;
        if (frame) yield frame;
      }
      text = text.slice(begin);
    }
  } finally {
    // closes the connection; it may have failed already
    reader.cancel().catch(() => {});
  }
}

function frameIn(text: string): Frame | undefined {
  const fields: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    // a line that begins with a colon is a heartbeat
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  const { id, event = 'message', data } = fields;
  return data === undefined ? undefined : { index: id === undefined ? id : Number(id), name: event, data };
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new NetworkError(`Nothing came for ${ms} ms`)), ms);
  });
  return Promise.race([work, silence]).finally(() => clearTimeout(timer));
}
