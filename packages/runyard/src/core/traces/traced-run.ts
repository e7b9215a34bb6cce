import { type Conversation, conversationOf } from '../agents/continuation/conversation.js';
import {
  compressionInput,
  contextRecord,
  type ModelCallRecord,
  modelCallRecord,
} from '../agents/journal-records.js';
import {
  compressedText,
  compressionKey,
  contextMessages,
  isForgotten,
  shownHistory,
  shownToModel,
  toolMessage,
  turnMessages,
  userMessageOf,
  withHistory,
} from '../agents/transcript.js';
import { messagesAfterHooks } from '../agents/turns/call-changes.js';
import type { Message } from '../models/message.js';
import { ownSteps } from '../runs/journal/child-steps.js';
import { readIf } from '../runs/journal/codec.js';
import { callRecord, tryInput } from '../runs/journal/records.js';
import { triedKey } from '../runs/journal/try-keys.js';
import type { Run, StepRecord } from '../runs/run.js';
import type { RecordedRun } from './trace-source.js';

/** A run of the trace, the outermost or one within it, with its own steps: what its spans are read from. */
export class TracedRun {
  readonly steps: readonly StepRecord[];
  private readonly byKey: ReadonlyMap<string, StepRecord>;
  /** When the last try of a step was over and waited for. */
  private readonly triedUntil: ReadonlyMap<string, number>;
  private folded: Conversation | undefined;

  constructor(
    readonly run: Run,
    all: readonly StepRecord[],
    /** What the keys of its steps begin with in the journal. */
    readonly prefix: string,
    private readonly history: ReadonlyMap<string, RecordedRun>,
    private readonly shown: readonly Message[] = [],
  ) {
    this.steps = ownSteps(all);
    this.byKey = new Map(this.steps.map((step) => [step.key, step]));
    const tries = this.steps.filter(({ kind }) => kind === 'try');
    this.triedUntil = new Map(tries.map((step) => [triedKey(step), (step.endedAt ?? 0) + delayAfter(step)]));
  }

  step(key: string): StepRecord | undefined {
    return this.byKey.get(key);
  }

  /** A call that was made again began after the try before it. */
  startOf({ key, startedAt, endedAt }: StepRecord): number {
    const begun = Math.max(startedAt, this.triedUntil.get(key) ?? 0);
    return endedAt === null ? begun : Math.min(begun, endedAt);
  }

  /** How a model of the conversation was called: what is not written down is as it was in the call before. */
  callRecord(step: StepRecord): ModelCallRecord | undefined {
    const last = this.steps.findLast(
      ({ kind, input, seq }) => kind === 'model' && input !== null && seq <= step.seq,
    );
    return readIf(last, modelCallRecord);
  }

  /** Which model a step called. */
  modelOf(step: StepRecord): { readonly id: string; readonly provider: string } {
    const { kind, name } = step;
    const used = kind === 'try' ? readIf(step, tryInput)?.model : readIf(step, callRecord)?.model;
    const { model, modelProvider } = this.run;
    // an auxiliary call has the name of its role: while it is in progress, no more is known
    const id = kind === 'auxiliary' ? (model ?? name) : name;
    return used ?? { id, provider: modelProvider ?? '' };
  }

  /** The messages that a model was shown in a turn. */
  messagesBefore(turn: number, seq?: number): Message[] {
    const { context, turns } =
      seq === undefined ? this.conversation() : conversationOf(this.steps.filter((step) => step.seq < seq));
    const messages = context?.status === 'completed' ? contextMessages(this.run, context, this.steps) : [];
    for (const { number, userMessages, model, tools } of turns) {
      if (number > turn) break;
      messages.push(...userMessages.map((step) => userMessageOf(step, this.steps)));
      if (number === turn) break;
      const said = model?.status === 'completed' ? turnMessages(model, []) : [];
      messages.push(...said);
      if (model !== undefined && isForgotten(model)) continue;
      messages.push(
        ...tools.filter(({ status }) => status === 'completed').map((tool) => this.shownResult(tool, turn)),
      );
    }
    const shown = withHistory(messages, this.historyIn(context)).map((message) =>
      shownToModel(context, message),
    );
    return [...messagesAfterHooks(shown, this.steps, turn)];
  }

  private conversation(): Conversation {
    this.folded ??= conversationOf(this.steps);
    return this.folded;
  }

  /** A result that was shortened before this turn is shown in its short form. */
  private shownResult(tool: StepRecord, turn: number): Message {
    const message = toolMessage(tool);
    const compression = this.step(compressionKey(tool.key));
    const from = readIf(compression, compressionInput)?.turn;
    if (from === undefined || from > turn) return message;
    return { ...message, content: compressedText(compression, message.content) ?? message.content };
  }

  private historyIn(context: StepRecord | undefined): readonly Message[] {
    const { history = [] } = readIf(context, contextRecord) ?? {};
    if (this.shown.length > 0) return [...this.shown];
    return shownHistory(
      context,
      history.flatMap((runId) => this.history.get(runId) ?? []),
    );
  }
}

function delayAfter(step: StepRecord): number {
  return readIf(step, tryInput)?.delay_ms ?? 0;
}
