import type { PieceEvent } from '../../events/run-event.js';
import { callOptions, onBehalf, pieceOf, responseOf } from '../../models/called-model.js';
import type { Model, ModelChunk, ModelRequest } from '../../models/model.js';
import type { Receiver } from '../../receiver.js';
import type { StepScope } from '../../runs/context.js';
import type { AgentExecution } from '../execution.js';
import type { ModelRecord } from '../journal-records.js';
import { withNewReferences } from '../knowledge/shown-references.js';
import { Thinking } from '../reasoning/thinking.js';
import { elapsedSeconds, modelRecordOf } from './model-record.js';

/** A model call whose text is emitted as it arrives. */
export interface StreamedCall {
  readonly model: Model;
  readonly request: ModelRequest;
  /** The event of each piece of text. */
  readonly delta: PieceEvent;
  /** Makes what is recorded from what the model answered. */
  readonly accepted?: (execution: AgentExecution, answer: ModelRecord) => ModelRecord;
  /** Whether the text is what the run has to show if it ends here. */
  readonly draft: boolean;
}

/**
 * Reads what a model streams, as `for await` would, and shows it. It is an object and no async function: a run waits for
 * the next piece most of its life, and the function would take a kilobyte meanwhile.
 */
export class AnswerReader {
  private readonly started = performance.now();
  private chunks: AsyncIterator<ModelChunk> | undefined;
  private thinking: Thinking | undefined;
  private firstToken: number | null = null;
  private speaking = false;

  constructor(
    private readonly execution: AgentExecution,
    private readonly call: StreamedCall,
    private readonly receiver: Receiver<ModelRecord>,
  ) {}

  begin(scope: StepScope): void {
    const { model, request } = this.call;
    try {
      this.chunks = onBehalf(this.execution.context, model, () =>
        iteratorOf(model.stream(request, callOptions(model, scope))),
      );
    } catch (error) {
      this.failed(error);
      return;
    }
    this.next();
  }

  private next(): void {
    const { chunks } = this;
    if (chunks === undefined) return;
    try {
      const next = onBehalf(this.execution.context, this.call.model, () => chunks.next());
      Promise.resolve(next).then(this.taken, this.failed);
    } catch (error) {
      this.failed(error);
    }
  }

  private readonly taken = (result: IteratorResult<ModelChunk>): void => {
    const { execution, call } = this;
    try {
      if (result.done) {
        this.failed(new Error(`The model ${call.model.id} ended its stream without a response`));
        return;
      }
      const chunk = result.value;
      if (chunk.type === 'response') {
        this.thinking?.end();
        const firstToken = this.firstToken ?? elapsedSeconds(this.started);
        const answer = modelRecordOf(responseOf(call.model, chunk.response), firstToken);
        this.close().then(() => this.answered(answer), this.failed);
        return;
      }
      this.show(chunk);
      const congestion = execution.context.congestion();
      if (congestion === undefined) this.next();
      else
        congestion.then(
          () => this.next(),
          (error: unknown) => this.breakOff(error),
        );
    } catch (error) {
      this.breakOff(error);
    }
  };

  private show(chunk: Exclude<ModelChunk, { type: 'response' }>): void {
    const { execution, call } = this;
    const { context } = execution;
    this.firstToken ??= elapsedSeconds(this.started);
    const piece = pieceOf(call.model, chunk.text);
    if (chunk.type === 'text') {
      this.thinking?.end();
      // only the first piece of an answer is empty: it says that the answer begins, also when it is given once more
      if (!this.speaking) context.emitDelta(withNewReferences(execution, call.delta), '');
      this.speaking = true;
      if (piece !== '') context.emitDelta(call.delta, piece);
      if (call.draft) context.draft.content += piece;
    } else {
      this.thinking ??= new Thinking(context);
      this.thinking.piece(piece);
    }
  }

  private answered(answer: ModelRecord): void {
    const { execution, call } = this;
    execution.context.observer?.modelAnswered(call.model, performance.now() - this.started, answer);
    let accepted: ModelRecord;
    try {
      accepted = call.accepted?.(execution, answer) ?? answer;
    } catch (error) {
      this.receiver.failed(error);
      return;
    }
    this.receiver.received(accepted);
  }

  /** What fails here ends the stream, whatever the model makes of that. */
  private breakOff(error: unknown): void {
    const failed = (): void => this.failed(error);
    this.close().then(failed, failed);
  }

  /** Tells the model that no more is read. */
  private async close(): Promise<void> {
    const { execution, call, chunks } = this;
    if (chunks?.return !== undefined) await onBehalf(execution.context, call.model, () => chunks.return?.());
  }

  private readonly failed = (error: unknown): void => {
    const { execution, call } = this;
    execution.context.observer?.modelFailed(call.model, performance.now() - this.started, error);
    this.receiver.failed(error);
  };
}

/** A model of the application may as well give a list. */
function iteratorOf(chunks: AsyncIterable<ModelChunk> | Iterable<ModelChunk>): AsyncIterator<ModelChunk> {
  return Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : waitedFor(chunks);
}

async function* waitedFor(chunks: Iterable<ModelChunk>): AsyncGenerator<ModelChunk> {
  yield* chunks;
}
