import { type AguiEvent, type AguiMessage, answerId, resultText } from './agui-event.js';

/** What a lane shows of a tool call. */
export interface ShownCall {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly tool_args: unknown;
}

/**
 * The messages of one run in a stream: the run that the client asked for, or one within it. It opens a message when there
 * is something to say, and closes what is open before something else begins.
 */
export class Lane {
  private text: string | null = null;
  private reasoning: { readonly id: string; isOpen: boolean } | null = null;
  private reasonings = 0;
  /** The text of the last message that had any. */
  lastText = '';
  /** What the stream has said in this lane, to say it again when some of it is void. */
  readonly said: { id: string; text: string; calls: ShownCall[]; results: Map<string, string> }[] = [];

  constructor(
    readonly runId: string,
    /** Marks the events of a run within the run. */
    private readonly owner: { readonly subagentRunId?: string },
    /** Whether the client is shown what this run says. */
    private readonly speaks: boolean,
    /** How many answers of the model are complete. */
    private position = 0,
  ) {}

  /** A piece of an answer; an empty one says nothing. */
  *piece(delta: string): Generator<AguiEvent> {
    if (delta === '' || !this.speaks) return;
    yield* this.endReasoning();
    const messageId = this.messageId();
    if (this.text === null) {
      this.text = '';
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...this.owner };
    }
    this.text += delta;
    this.entry().text = this.text;
    this.lastText = this.text;
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta, ...this.owner };
  }

  *endText(): Generator<AguiEvent> {
    if (this.text === null) return;
    this.text = null;
    yield { type: 'TEXT_MESSAGE_END', messageId: this.messageId(), ...this.owner };
  }

  /** An answer of the model is complete: what follows is another message. */
  *nextAnswer(): Generator<AguiEvent> {
    yield* this.endText();
    this.position++;
  }

  /** The model is asked once more for the same answer: what it said is void. Returns whether it had said anything. */
  *restart(): Generator<AguiEvent, boolean> {
    yield* this.end();
    const last = this.said.at(-1);
    if (last === undefined || last.id !== this.messageId() || last.calls.length > 0) return false;
    this.said.pop();
    this.lastText = this.said.findLast(({ text }) => text !== '')?.text ?? '';
    return true;
  }

  *think(delta: string): Generator<AguiEvent> {
    if (delta === '' || !this.speaks) return;
    yield* this.endText();
    if (this.reasoning === null) yield* this.startReasoning();
    const reasoning = this.reasoning;
    if (reasoning === null) return;
    const { id: messageId } = reasoning;
    if (!reasoning.isOpen) {
      reasoning.isOpen = true;
      yield { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...this.owner };
    }
    yield { type: 'REASONING_MESSAGE_CONTENT', messageId, delta, ...this.owner };
  }

  *startReasoning(): Generator<AguiEvent> {
    if (this.reasoning !== null || !this.speaks) return;
    yield* this.endText();
    const id = `${this.runId}-reasoning-${this.reasonings++}`;
    this.reasoning = { id, isOpen: false };
    yield { type: 'REASONING_START', messageId: id, ...this.owner };
  }

  *endReasoning(): Generator<AguiEvent> {
    if (this.reasoning === null) return;
    const { id: messageId, isOpen } = this.reasoning;
    this.reasoning = null;
    if (isOpen) yield { type: 'REASONING_MESSAGE_END', messageId, ...this.owner };
    yield { type: 'REASONING_END', messageId, ...this.owner };
  }

  /** A call with its arguments, which are complete. It belongs to the answer before it. */
  *call(call: ShownCall): Generator<AguiEvent> {
    yield* this.end();
    const { tool_call_id: toolCallId, tool_name: toolCallName, tool_args: args } = call;
    const at = Math.max(this.position - 1, 0);
    const parentMessageId = answerId(this.runId, at);
    this.entry(at).calls.push(call);
    const { owner } = this;
    yield { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId, ...owner };
    yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args ?? {}), ...owner };
    yield { type: 'TOOL_CALL_END', toolCallId, ...owner };
  }

  *result(toolCallId: string, result: string | null): Generator<AguiEvent> {
    const content = resultText(result);
    const asked = this.said.find(({ calls }) => calls.some(({ tool_call_id: id }) => id === toolCallId));
    asked?.results.set(toolCallId, content);
    const { owner } = this;
    yield { type: 'TOOL_CALL_RESULT', messageId: toolCallId, toolCallId, role: 'tool', content, ...owner };
  }

  *end(): Generator<AguiEvent> {
    yield* this.endReasoning();
    yield* this.endText();
  }

  /** What the stream has said, as messages. */
  *messages(): Generator<AguiMessage> {
    const { owner } = this;
    for (const { id, text, calls, results } of this.said) {
      const toolCalls = calls.map((call) => ({
        id: call.tool_call_id,
        type: 'function',
        function: { name: call.tool_name, arguments: JSON.stringify(call.tool_args ?? {}) },
      }));
      yield {
        id,
        role: 'assistant',
        ...(text !== '' && { content: text }),
        ...(toolCalls.length > 0 && { toolCalls }),
        ...owner,
      };
      for (const [toolCallId, content] of results)
        yield { id: toolCallId, role: 'tool', toolCallId, content, ...owner };
    }
  }

  private messageId(): string {
    return answerId(this.runId, this.position);
  }

  private entry(position = this.position) {
    const id = answerId(this.runId, position);
    const known = this.said.find((one) => one.id === id);
    if (known !== undefined) return known;
    const entry = { id, text: '', calls: [], results: new Map<string, string>() };
    this.said.push(entry);
    return entry;
  }
}
