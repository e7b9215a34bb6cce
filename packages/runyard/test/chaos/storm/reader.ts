import type { Ledger } from './ledger.js';
import type { Random } from './random.js';
import type { Wire } from './wire.js';

/** An event with its place, as it came over the wire. */
export interface ReceivedEvent {
  readonly index: number;
  readonly name: string;
  readonly data: string;
}

/** The same, and what tools and steps had done by then. */
export interface WitnessedEvent extends ReceivedEvent {
  readonly position: number;
}

/** A client that follows one run, loses its connection, leaves by itself, and comes back for what it missed. */
export class StreamReader {
  readonly received: WitnessedEvent[] = [];
  reconnects = 0;

  constructor(
    readonly runId: string,
    private readonly wire: Wire,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {
    ledger.readers.push(this);
  }

  /** The index of the last event that it has. */
  get last(): number {
    return this.received.at(-1)?.index ?? -1;
  }

  /** Reads until the service has nothing more to send: the run has ended or waits for a person. */
  async follow(): Promise<void> {
    while (!(await this.resume()));
  }

  /** Reads a stream, or a part of it. True when the service ended it, false when it broke or was left. */
  async take(response: Response, leave: AbortController = new AbortController()): Promise<boolean> {
    const leaveAfter = this.random.chance(0.3) ? this.random.between(1, 12) : Number.POSITIVE_INFINITY;
    const from = this.received.length;
    try {
      for await (const block of blocksOf(response)) {
        this.takeBlock(block);
        if (this.received.length - from >= leaveAfter) {
          leave.abort();
          this.ledger.count('left streams');
          return false;
        }
      }
      return true;
    } catch {
      this.ledger.count('broken streams');
      return false;
    }
  }

  private async resume(): Promise<boolean> {
    const leave = new AbortController();
    const { signal } = leave;
    const path = this.ledger.pathOf(this.runId);
    const last = String(this.last);
    const response = this.random.chance(0.5)
      ? await this.wire.send(`${path}/resume`, { form: { last_event_index: last }, signal })
      : await this.wire.send(`${path}/events`, {
          headers: this.last < 0 ? {} : { 'last-event-id': last },
          signal,
        });
    this.reconnects += 1;
    if (response === undefined) return false;
    // what a plain EventSource receives when nothing is left for it
    if (response.status === 204) return true;
    if (response.status !== 200) {
      this.ledger.violation(`resume of ${this.runId} answered ${response.status}: ${await response.text()}`);
      return true;
    }
    return this.take(response, leave);
  }

  private takeBlock(block: string): void {
    const event = eventIn(block);
    if (event === undefined) this.ledger.violation(`run ${this.runId}: not a frame: ${block.slice(0, 200)}`);
    else if (event.index === null && event.name === 'error')
      this.ledger.violation(`run ${this.runId} after ${this.last}: ${event.data}`);
    else if (event.index !== null) this.takeEvent({ ...event, index: event.index });
  }

  private takeEvent(event: ReceivedEvent): void {
    if (event.index <= this.last)
      this.ledger.violation(
        `run ${this.runId}: ${event.name} ${event.index} came after index ${this.last} was there`,
      );
    else this.received.push({ ...event, position: this.ledger.effects.position });
    if (/^(Step|Run|TeamRun)Completed$/.test(event.name)) this.ledger.endsSeen += 1;
  }
}

/** The frames of a stream, without heartbeats and without a frame that broke off. */
export async function* blocksOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n')) {
      const block = text.slice(0, at);
      text = text.slice(at + 2);
      if (!block.startsWith(':')) yield block;
    }
  }
}

/** One frame; the index is null for one about the stream itself. */
export function eventIn(
  block: string,
): (Omit<ReceivedEvent, 'index'> & { index: number | null }) | undefined {
  const match = /^(?:id: (\d+)\n)?event: (\w+)\ndata: ([^\n\r]*)$/.exec(block);
  if (match === null) return undefined;
  const [, id, name = '', data = ''] = match;
  return { index: id === undefined ? null : Number(id), name, data };
}
