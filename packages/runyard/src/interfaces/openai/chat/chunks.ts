import { RunyardError } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';
import type { ObjectReader } from '../frames.js';
import { openaiErrorOf } from '../protocol-errors.js';
import { type CompletionHead, headFields, usageBody } from './completion.js';
import type { Outcome } from './outcome.js';

/** The events of a run. */
interface Events {
  next(): Promise<readonly LoggedEvent[] | null>;
  close(): void;
}

export interface ChunkOptions {
  readonly head: CompletionHead;
  /** Left out: the whole answer is sent at once, when the run rests. */
  readonly events?: Events;
  readonly includeUsage: boolean;
  /** The text is sent when it is whole: what the model writes is not yet what the client asked for. */
  readonly isWhole: boolean;
  /** The outcome of the run when it rests. */
  readonly rested: () => Promise<Outcome>;
}

const separator = '\n\n';

/** The chunks of an answer, made from the events of its run. It holds no events. */
export class ChunkReader implements ObjectReader {
  private begun = false;
  private over = false;
  private closed = false;
  /** What has been sent of the text that the run writes at the moment. */
  private text = '';
  private hasSent = false;
  /** The next piece begins another text. */
  private isFresh = false;
  private hasReasoned = false;

  constructor(private readonly options: ChunkOptions) {}

  async next(): Promise<readonly JsonObject[] | null> {
    while (!this.over && !this.closed) {
      const chunks = await this.some();
      if (chunks.length > 0) return chunks;
    }
    return null;
  }

  close(): void {
    this.closed = true;
    this.options.events?.close();
  }

  private async some(): Promise<JsonObject[]> {
    if (!this.begun) {
      this.begun = true;
      return [this.chunk({ role: 'assistant', content: '', refusal: null })];
    }
    const events = (await this.options.events?.next()) ?? null;
    if (events === null) return this.last();
    return events.flatMap((event) => this.pieceOf(event));
  }

  /** Only the texts of the run itself are its answer: those of members and steps are parts of their own runs. */
  private pieceOf(event: LoggedEvent): JsonObject[] {
    const { piece, name } = event;
    if (piece === undefined || event.runId !== this.options.head.runId) return [];
    if (name === 'RunContent' || name === 'TeamRunContent')
      return this.options.isWhole ? [] : this.written(piece);
    if (name !== 'ReasoningContentDelta' && name !== 'TeamReasoningContentDelta') return [];
    this.hasReasoned ||= piece !== '';
    return piece === '' ? [] : [this.chunk({ reasoning_content: piece })];
  }

  /** Each text begins with an empty piece: that of the next turn, or of one that is written once more after a crash. */
  private written(piece: string): JsonObject[] {
    if (piece === '') {
      this.isFresh = true;
      return [];
    }
    if (this.isFresh) this.text = '';
    const isNext = this.isFresh && this.hasSent;
    this.isFresh = false;
    this.hasSent = true;
    this.text += piece;
    return [this.chunk({ content: isNext ? separator + piece : piece })];
  }

  private async last(): Promise<JsonObject[]> {
    this.over = true;
    if (this.closed) return [];
    const outcome = await this.rested();
    if (outcome.error !== undefined) return [{ error: outcome.error }];
    const { runyard } = outcome;
    const { includeUsage } = this.options;
    const { reasoning, refusal, toolCalls, annotations, finishReason, usage } = outcome;
    const chunks: JsonObject[] = [];
    if (!this.hasReasoned && reasoning) chunks.push(this.chunk({ reasoning_content: reasoning }));
    const rest = this.restOf(outcome.content ?? '');
    if (rest !== '') chunks.push(this.chunk({ content: rest }));
    if (refusal !== null) chunks.push(this.chunk({ refusal }));
    if (toolCalls.length > 0)
      chunks.push(this.chunk({ tool_calls: toolCalls.map((call, index) => ({ index, ...call })) }));
    if (annotations.length > 0) chunks.push(this.chunk({ annotations: [...annotations] }));
    chunks.push({ ...this.chunk({}, finishReason), runyard });
    if (includeUsage) chunks.push({ ...this.head(), choices: [], usage: usageBody(usage) });
    return chunks;
  }

  /** The outcome, or why there is none: the stream has begun, so an error is its last object. */
  private async rested(): Promise<(Outcome & { readonly error?: undefined }) | { error: JsonObject }> {
    try {
      const outcome = await this.options.rested();
      const { failure, runyard } = outcome;
      return failure === undefined ? outcome : { error: { ...failure.error, ...runyard } };
    } catch (error) {
      if (!(error instanceof RunyardError) || error.status === 500) throw error;
      return { error: { ...openaiErrorOf(error), run_id: this.options.head.runId } };
    }
  }

  /** What the client lacks of the answer. An answer that something changed after it was written follows whole. */
  private restOf(content: string): string {
    if (content.startsWith(this.text)) return content.slice(this.text.length);
    return content === '' || sameJson(this.text, content) ? '' : separator + content;
  }

  private head(): JsonObject {
    return { ...headFields(this.options.head, 'chat.completion.chunk'), system_fingerprint: null };
  }

  private chunk(delta: JsonObject, finishReason: string | null = null): JsonObject {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
    return { ...this.head(), choices, ...(this.options.includeUsage && { usage: null }) };
  }
}

/** Whether both texts are the same data. */
function sameJson(text: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}
