import type { Json, JsonObject } from '../../../core/json.js';
import { fieldsOf } from '../../../core/objects.js';
import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';
import { type Run, terminalStatuses } from '../../../core/runs/run.js';
import { annotationsOf } from './annotations.js';
import { OutputItems } from './output-items.js';
import { type Pause, pauseOf } from './pause-items.js';
import { responseHead } from './response-head.js';
import { type ResponsePart, responseId } from './response-id.js';

type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** How a part of a run ended. */
interface Ending {
  readonly status: Status;
  readonly error?: JsonObject;
  readonly reason?: string;
  readonly at: number;
}

/** So many events of a response one event of its run makes at most, as far as it may not be stored yet. */
const mostFrames = 16;

/**
 * Turns the events of a run, in their order, into the events of a response and into the response itself. The same events
 * always make the same ones: a client that comes back finds them under the same numbers.
 */
export class ResponseFold {
  readonly #items: OutputItems;
  readonly #head: JsonObject;
  readonly #usage = { input: 0, cached: 0, output: 0, reasoning: 0 };
  #finishReason = 'stop';
  #ending: Ending | undefined;
  #pause: Pause | undefined;
  #sequence = 0;
  #nextIndex: number;
  #pausedAt: number | undefined;

  constructor(
    private readonly run: Run,
    private readonly part: ResponsePart,
  ) {
    this.#head = responseHead(run, part);
    this.#nextIndex = part.from ?? 0;
    this.#items = new OutputItems(run);
  }

  /** Nothing follows in this part of the run. */
  get isOver(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether the part ends with this call, which the client executes. */
  asksFor(callId: string): boolean {
    return this.#pause?.calls.some((one) => one.callId === callId) === true;
  }

  get output(): readonly JsonObject[] {
    return this.#items.shown();
  }

  /** What follows the questions of this part; undefined for one that ends with none. */
  get nextPart(): (ResponsePart & { readonly from: number }) | undefined {
    const { runId, from } = this.part;
    if (this.#pausedAt === undefined) return undefined;
    return { runId, from: this.#pausedAt + 1, ...(from !== undefined && { before: from }) };
  }

  begin(): JsonObject[] {
    const response = this.#bodyWith('in_progress');
    return this.#numbered([
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]);
  }

  /** Only an event that is no piece of a text has to be read. */
  add(logged: LoggedEvent): JsonObject[] | Promise<JsonObject[]> {
    const { piece } = logged;
    this.#skipUntil(logged.index);
    if (piece === undefined) return this.#addDecoded(logged);
    if (logged.runId !== this.run.runId) return [];
    const name = plainName(logged.name);
    if (name === 'RunContent') return this.#numbered(this.#items.text(piece, logged.index));
    if (name === 'ReasoningContentDelta') return this.#numbered(this.#items.thought(piece, logged.index));
    return [];
  }

  /** The run was cancelled while it waited: nobody will answer what this part asked for. */
  withdraw(): void {
    this.#pause = undefined;
    this.#ending = undefined;
  }

  /** The last event. `run` as it is by now. */
  finish(run: Run): JsonObject[] {
    const ending = this.#ending ?? this.#endOf(run);
    this.#ending = ending;
    const frames = this.#items.close(ending.status === 'completed' ? 'completed' : 'incomplete');
    const type =
      ending.status === 'completed' ? 'completed' : ending.status === 'failed' ? 'failed' : 'incomplete';
    return this.#numbered([
      ...frames,
      // the protocol has no event for a cancelled response: its status says what it is
      { type: `response.${type}`, response: this.body(run) },
    ]);
  }

  /** Adds pictures that the run made: `result` is base64. */
  addImages(images: readonly { readonly result: string; readonly format: string }[]): JsonObject[] {
    // they belong to the part that the run ended with
    if (this.#pause !== undefined) return [];
    return this.#numbered(this.#items.images(images));
  }

  /** The response as far as it is known. */
  body(run: Run): JsonObject {
    const status = this.#ending?.status ?? (run.status === 'pending' ? 'queued' : 'in_progress');
    return this.#bodyWith(status);
  }

  #bodyWith(status: Status): JsonObject {
    const { input, cached, output, reasoning } = this.#usage;
    const ending = this.#ending;
    const { runId, sessionId } = this.run;
    return {
      ...this.#head,
      id: responseId(this.part),
      status,
      completed_at: ending?.status === 'completed' ? ending.at : null,
      error: ending?.error ?? null,
      incomplete_details: ending?.reason === undefined ? null : { reason: ending.reason },
      output: [...this.output],
      usage:
        ending === undefined
          ? null
          : {
              input_tokens: input,
              input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
              output_tokens: output,
              output_tokens_details: { reasoning_tokens: reasoning },
              total_tokens: input + output,
            },
      runyard: {
        run_id: runId,
        session_id: sessionId,
        status: this.#pause === undefined ? runStatuses[status] : 'paused',
        ...(this.#pause && { requirements: [...this.#pause.requirements] }),
      },
    };
  }

  /**
   * A process that crashed may have sent events that were not stored, and the run leaves out their indices. Their numbers
   * are left out, too: a client that has them would miss what follows under the same ones.
   */
  #skipUntil(index: number): void {
    this.#sequence += Math.max(0, index - this.#nextIndex) * mostFrames;
    this.#nextIndex = index + 1;
  }

  #numbered(frames: readonly JsonObject[]): JsonObject[] {
    return frames.map((frame) => ({ ...frame, sequence_number: this.#sequence++ }));
  }

  async #addDecoded(logged: LoggedEvent): Promise<JsonObject[]> {
    const event = fieldsOf(await logged.decoded());
    const name = plainName(logged.name);
    // what members of a team and steps of a workflow use is paid for, too
    if (name === 'ModelRequestCompleted') this.#count(event, event.run_id === this.run.runId);
    if (event.run_id !== this.run.runId) return [];
    return this.#numbered(this.#framesOf(name, event, logged.index));
  }

  #framesOf(name: string, event: Readonly<Record<string, unknown>>, index: number): JsonObject[] {
    // events of the wire are JSON
    const content = event.content as Json | undefined;
    switch (name) {
      case 'RunContent':
        return this.#items.wholeText(contentText(content), index);
      case 'ReasoningStarted':
        return this.#items.newThought();
      case 'ReasoningStep':
        return this.#items.thought(String(event.reasoning_content ?? ''), index);
      case 'ReasoningCompleted':
        return this.#items.thoughtOver();
      case 'ToolCallStarted':
        return this.#items.callStarted(fieldsOf(event.tool), index);
      case 'ToolCallCompleted':
        return this.#items.callEnded(fieldsOf(event.tool), null, index);
      case 'ToolCallError':
        return this.#items.callEnded(fieldsOf(event.tool), String(event.error ?? ''), index);
      case 'RunPaused':
        return this.#paused(event, index);
      case 'RunCompleted': {
        this.#countWhole(event.metrics);
        const reason = incompleteReasons[String(event.finish_reason ?? this.#finishReason)];
        this.#ending = {
          status: reason ? 'incomplete' : 'completed',
          ...(reason && { reason }),
          at: timeOf(event),
        };
        return [
          ...this.#items.finalText(contentText(content), index),
          ...this.#items.annotate(annotationsOf(event.citations, contentText(content))),
        ];
      }
      case 'RunError':
        this.#ending = { status: 'failed', error: failureOf(event), at: timeOf(event) };
        return [];
      case 'RunCancelled':
        this.#ending = { status: 'cancelled', at: timeOf(event) };
        return [];
      default:
        return [];
    }
  }

  /** What the client can answer with an item makes the response complete, as it does at OpenAI; the rest does not. */
  #paused(event: Readonly<Record<string, unknown>>, index: number): JsonObject[] {
    const pause = pauseOf(this.run, event);
    this.#pause = pause;
    this.#pausedAt = index;
    const isAnswerable = pause.text === '';
    this.#ending = {
      status: isAnswerable ? 'completed' : 'incomplete',
      ...(!isAnswerable && { reason: 'input_required' }),
      at: timeOf(event),
    };
    return this.#items.asked(pause, index);
  }

  /** For a run whose last event is not there. */
  #endOf({ status, result, updatedAt }: Run): Ending {
    const at = Math.floor(updatedAt / 1000);
    const text = contentText(result?.content);
    if (status === 'error') {
      const { message, type } = result?.error ?? { message: text, type: 'error' };
      return { status: 'failed', error: failureOf({ content: message, error_type: type }), at };
    }
    if (status === 'cancelled') return { status: 'cancelled', at };
    if (!terminalStatuses.has(status)) return { status: 'incomplete', reason: 'input_required', at };
    if (text !== '') this.#items.finalText(text, 0);
    this.#countWhole(result?.metrics);
    return { status: 'completed', at };
  }

  #count(event: Readonly<Record<string, unknown>>, isOwn: boolean): void {
    const { finish_reason: reason } = event;
    if (isOwn && typeof reason === 'string') this.#finishReason = reason;
    this.#usage.input += Number(event.input_tokens ?? 0);
    this.#usage.cached += Number(event.cache_read_tokens ?? 0);
    this.#usage.output += Number(event.output_tokens ?? 0);
    this.#usage.reasoning += Number(event.reasoning_tokens ?? 0);
  }

  /** Events that were made from the journal say only what the whole run used. */
  #countWhole(metrics: unknown): void {
    if (this.#usage.input + this.#usage.output > 0 || this.part.from !== undefined) return;
    this.#count(fieldsOf(metrics ?? {}), false);
  }
}

/** In the words of the run API. */
const runStatuses: Readonly<Record<Status, string>> = {
  queued: 'pending',
  in_progress: 'running',
  completed: 'completed',
  incomplete: 'completed',
  failed: 'error',
  cancelled: 'cancelled',
};

const incompleteReasons: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

/** The events of teams and workflows have those of an agent in their names. */
function plainName(name: string): string {
  return name.replace(/^Team/, '').replace(/^Workflow(Completed|Error|Cancelled|Paused)$/, 'Run$1');
}

function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return content === undefined || content === null ? '' : JSON.stringify(content);
}

function timeOf({ created_at: time }: Readonly<Record<string, unknown>>): number {
  return Math.floor(Number(time ?? 0));
}

/** The codes of OpenAI are few: programs that do not know ours act on `server_error`. */
function failureOf(event: Readonly<Record<string, unknown>>): JsonObject {
  const { content, error, error_type: type } = event;
  const code = /rate_limit/.test(String(type)) ? 'rate_limit_exceeded' : 'server_error';
  return { code, message: String(content ?? error ?? 'The run failed.') };
}
