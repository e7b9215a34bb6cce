/** One frame of an event stream, as it came over the wire. */
export interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** The data line as it was sent. */
  readonly data: string;
  readonly payload: EventPayload;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever the service sent.
export type EventPayload = Record<string, any> & { event: string; event_index: number };

/** Reads a response as a stream of events and keeps everything that came. */
export class SseClient {
  readonly frames: Frame[] = [];
  readonly comments: string[] = [];
  /** True when the server ended the body; false while it is open or when it broke off. */
  endedCleanly = false;
  /** Settles when the stream is over, however it ended. */
  readonly over: Promise<void>;
  private text = '';
  private wake: () => void = () => {};
  private closed = false;

  constructor(readonly response: Response) {
    this.over = this.read();
  }

  get names(): string[] {
    return this.frames.map(({ payload }) => payload.event);
  }

  get events(): EventPayload[] {
    return this.frames.map(({ payload }) => payload);
  }

  /** All deltas together. */
  get content(): string {
    const deltas = this.events.filter(({ event }) => event === 'RunContent');
    return deltas.map(({ content }) => content as string).join('');
  }

  first(name: string): EventPayload {
    const found = this.events.find(({ event }) => event === name);
    if (!found) throw new Error(`No ${name} among ${this.names.join(', ')}`);
    return found;
  }

  all(name: string): EventPayload[] {
    return this.events.filter(({ event }) => event === name);
  }

  /** Waits for an event of this name. */
  async event(name: string): Promise<EventPayload> {
    return this.until(() => this.events.find(({ event }) => event === name), name);
  }

  async until<T>(look: () => T | undefined | false, what = 'something'): Promise<T> {
    for (;;) {
      const seen = look();
      if (seen !== undefined && seen !== false) return seen;
      if (this.closed) throw new Error(`The stream ended before ${what}; it had ${this.names.join(', ')}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Reads to the end. */
  async end(): Promise<this> {
    await this.over;
    if (!this.endedCleanly) throw new Error(`The stream broke off after ${this.names.join(', ')}`);
    return this;
  }

  private async read(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of this.response.body ?? []) this.take(decoder.decode(chunk, { stream: true }));
      this.endedCleanly = this.text === '';
    } catch {
      this.endedCleanly = false;
    }
    this.closed = true;
    this.wake();
  }

  private take(piece: string): void {
    this.text += piece;
    for (let at = this.text.indexOf('\n\n'); at !== -1; at = this.text.indexOf('\n\n')) {
      const block = this.text.slice(0, at);
      this.text = this.text.slice(at + 2);
      if (block.startsWith(':')) this.comments.push(block);
      else this.frames.push(frameOf(block));
    }
    this.wake();
  }
}

/** Strict on purpose: a frame is an id line, an event line and one data line, in this order. */
function frameOf(block: string): Frame {
  const match = /^(?:id: (\d+)\n)?event: (\w+)\ndata: ([^\n\r]*)$/.exec(block);
  if (!match) throw new Error(`This is not a frame of the contract: ${JSON.stringify(block.slice(0, 300))}`);
  const [, id, event, data = ''] = match;
  return { id, event, data, payload: JSON.parse(data) as EventPayload };
}
