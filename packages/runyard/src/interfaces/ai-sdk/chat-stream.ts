import type { JsonObject } from '../../core/json.js';
import { fieldsOf } from '../../core/objects.js';
import { type LoggedEvent, oneLineJson } from '../../core/runs/events/logged-event.js';
import type { RunKind, StepRecord } from '../../core/runs/run.js';
import type { StreamEvent } from '../../platform/http/response/event-reader.js';
import { runIdHeader } from '../../platform/http/response/respond.js';
import { type EventStreamReply, eventStream } from '../../platform/http/response/results.js';
import type { Chunk, RestedRun } from './chunk.js';
import { restChunks } from './rest-chunks.js';
import { UiParts } from './ui-parts.js';

export interface ChatStreamOptions {
  readonly kind: RunKind;
  readonly runId: string;
  readonly sessionId: string;
  readonly events: { next(): Promise<readonly LoggedEvent[] | null>; close(): void };
  /** Calls that the client shows and that it has just answered. */
  readonly answered?: readonly string[];
  /** The steps of the run so far. */
  readonly steps: () => Promise<readonly StepRecord[]>;
  /** Undefined if this process has given the run up: the stream ends, the run does not. */
  readonly rested: () => Promise<RestedRun | undefined>;
}

const headers = { 'x-vercel-ai-ui-message-stream': 'v1' };
const done: StreamEvent = { index: null, name: '', data: '[DONE]' };

/** The stream of one message, which has the id of its run. It holds no events. */
export function chatStream(options: ChatStreamOptions): EventStreamReply {
  const stream = new ChatStream(options);
  return eventStream(
    {
      async next() {
        const chunks = await stream.next();
        return chunks === null ? null : chunks.map((one) => (one === 'done' ? done : frameOf(one)));
      },
      close: () => stream.close(),
    },
    { ...headers, ...runIdHeader(options.runId) },
  );
}

function frameOf(chunk: Chunk): StreamEvent {
  return { index: null, name: '', data: oneLineJson(chunk) };
}

/** Events after which calls that were answered have their outcome. */
const settling = /^(?:Team)?ModelRequestStarted$/;

class ChatStream {
  private readonly parts: UiParts;
  private state: 'new' | 'open' | 'over' = 'new';
  private closed = false;

  constructor(private readonly options: ChatStreamOptions) {
    this.parts = new UiParts(options.kind, options.runId, options.answered);
  }

  async next(): Promise<readonly (Chunk | 'done')[] | null> {
    while (this.state !== 'over') {
      const chunks = await this.some();
      if (chunks.length > 0) return chunks;
    }
    return null;
  }

  close(): void {
    this.closed = true;
    this.options.events.close();
  }

  private async some(): Promise<readonly (Chunk | 'done')[]> {
    const { runId, sessionId, events } = this.options;
    if (this.state === 'new') {
      this.state = 'open';
      const messageMetadata: JsonObject = { runId, sessionId, status: 'running' };
      return [{ type: 'start', messageId: runId, messageMetadata }];
    }
    const logged = await events.next();
    if (logged === null) return this.last();
    const chunks: Chunk[] = [];
    for (const event of logged) {
      if (this.parts.calls.hasWaiting && settling.test(event.name)) chunks.push(...(await this.settled()));
      const found = this.parts.of(event);
      // to wait for each piece would take longer than all of them
      chunks.push(...(found instanceof Promise ? await found : found));
    }
    return chunks;
  }

  private async settled(): Promise<Chunk[]> {
    return this.parts.calls.settled(await this.options.steps());
  }

  private async last(): Promise<readonly (Chunk | 'done')[]> {
    this.state = 'over';
    const rested = this.closed ? undefined : await this.options.rested();
    // without its end the client knows that it has to come back
    if (rested === undefined) return [];
    const settled = this.parts.calls.hasWaiting ? this.parts.calls.settled(rested.view.steps) : [];
    return [...settled, ...restChunks(this.parts, rested, fieldsOf(rested.body)), 'done'];
  }
}
