import type { JsonObject } from '../../../core/json.js';
import type { Run } from '../../../core/runs/run.js';
import type { CallItem, Pause } from './pause-items.js';

type Item = JsonObject & { id: string; type: string };

interface OpenText {
  readonly at: number;
  text: string;
  readonly annotations: JsonObject[];
}

/**
 * The output of a response while its run is executed, and the events that tell a client of it. An item has the number of
 * the event that began it in its id.
 */
export class OutputItems {
  readonly #items: Item[] = [];
  /** Items that were given up: a process crashed while they were written, or another text took their place. */
  readonly #void = new Set<number>();
  readonly #calls = new Map<string, number>();
  #message: OpenText | undefined;
  #thought: OpenText | undefined;
  /** The last message that is whole. */
  #said: OpenText | undefined;

  constructor(private readonly run: Pick<Run, 'runId' | 'componentId'>) {}

  shown(): Item[] {
    return this.#items.filter((_, at) => !this.#void.has(at));
  }

  /** A piece of the answer. Each answer begins with an empty one, also when it is given once more after a crash. */
  text(piece: string, index: number): JsonObject[] {
    if (piece === '') return this.#dropMessage();
    const frames = this.#message === undefined ? this.#openMessage(index) : [];
    const open = this.#message;
    if (open === undefined) return frames;
    open.text += piece;
    return [...frames, this.#ofPart(open, 'output_text.delta', { delta: piece, logprobs: [] })];
  }

  /** The text of an answer that comes whole. It may be the one that came in pieces before. */
  wholeText(text: string, index: number): JsonObject[] {
    if (text === '' || isSame(this.#message?.text, text)) return [];
    if (this.#message === undefined && isSame(this.#said?.text, text)) return [];
    return [...this.#dropMessage(), ...this.text(text, index)];
  }

  /** What the run ended with. It differs from what the model said last where something was made of it. */
  finalText(text: string, index: number): JsonObject[] {
    return this.wholeText(text, index);
  }

  annotate(annotations: readonly JsonObject[]): JsonObject[] {
    const open = this.#message;
    if (open === undefined) return [];
    return annotations.map((annotation) => {
      open.annotations.push(annotation);
      const annotation_index = open.annotations.length - 1;
      return this.#ofPart(open, 'output_text.annotation.added', { annotation_index, annotation });
    });
  }

  thought(piece: string, index: number): JsonObject[] {
    if (piece === '') return [];
    const frames = this.#thought === undefined ? this.#openThought(index) : [];
    const open = this.#thought;
    if (open === undefined) return frames;
    open.text += piece;
    return [...frames, this.#ofThought(open, 'reasoning_summary_text.delta', { delta: piece })];
  }

  /** Thoughts that were not over belong to a model call that is made once more. */
  newThought(): JsonObject[] {
    const open = this.#thought;
    if (open !== undefined) this.#void.add(open.at);
    return this.thoughtOver();
  }

  thoughtOver(): JsonObject[] {
    const open = this.#thought;
    if (open === undefined) return [];
    this.#thought = undefined;
    const part = { type: 'summary_text', text: open.text };
    return [
      this.#ofThought(open, 'reasoning_summary_text.done', { text: open.text }),
      this.#ofThought(open, 'reasoning_summary_part.done', { part }),
      ...this.#done(open.at, { summary: [part], status: 'completed' }),
    ];
  }

  /** A tool that the component has itself. Calls that the client executes come when the run waits for them. */
  callStarted(tool: Readonly<Record<string, unknown>>, index: number): JsonObject[] {
    const callId = String(tool.tool_call_id);
    if (tool.external_execution_required === true || this.#calls.has(callId)) return [];
    const frames = this.#closeText();
    const args = JSON.stringify(tool.tool_args ?? {});
    const id = this.#id('mcp', index);
    const at = this.#items.length;
    this.#calls.set(callId, at);
    const known = { id, type: 'mcp_call', server_label: this.run.componentId, name: String(tool.tool_name) };
    const facts = { item_id: id, output_index: at };
    const begun = { ...known, output: null, error: null, status: 'in_progress' };
    const added = this.#added({ ...begun, arguments: '' });
    // what is shown of a call while it is executed
    this.#items[at] = { ...begun, arguments: args };
    return [
      ...frames,
      ...added,
      { type: 'response.mcp_call.in_progress', ...facts },
      { type: 'response.mcp_call_arguments.delta', ...facts, delta: args },
      { type: 'response.mcp_call_arguments.done', ...facts, arguments: args },
    ];
  }

  callEnded(tool: Readonly<Record<string, unknown>>, error: string | null, index: number): JsonObject[] {
    const frames = this.callStarted(tool, index);
    const callId = String(tool.tool_call_id);
    const at = this.#calls.get(callId);
    const item = at === undefined ? undefined : this.#items[at];
    if (at === undefined || item === undefined || item.status !== 'in_progress') return frames;
    return [
      ...frames,
      {
        type: `response.mcp_call.${error === null ? 'completed' : 'failed'}`,
        item_id: item.id,
        output_index: at,
      },
      ...this.#done(at, {
        arguments: JSON.stringify(tool.tool_args ?? {}),
        output: error === null ? String(tool.result ?? '') : null,
        error,
        status: error === null ? 'completed' : 'failed',
      }),
    ];
  }

  /** What a paused run asks for. */
  asked({ calls, approvals, text }: Pause, index: number): JsonObject[] {
    return [
      ...this.#closeText(),
      ...(text === '' ? [] : this.text(text, index)),
      ...this.#closeText(),
      ...calls.flatMap((call, position) => this.#functionCall(call, `${this.#id('fc', index)}_${position}`)),
      ...approvals.flatMap((approval) => {
        const at = this.#items.length;
        // `pauseOf` gives each an id and a type
        return [...this.#added(approval as Item), ...this.#done(at, {})];
      }),
    ];
  }

  images(images: readonly { readonly result: string; readonly format: string }[]): JsonObject[] {
    return images.flatMap(({ result, format }, position) => {
      const at = this.#items.length;
      const item = { id: `ig_${this.run.runId}_${position}`, type: 'image_generation_call' };
      const frames = this.#added({ ...item, status: 'in_progress', result: null });
      return [
        ...this.#closeText(),
        ...frames,
        ...this.#done(at, { status: 'completed', result, output_format: format }),
      ];
    });
  }

  /** Ends what is open. `status`: of a message that is not over. */
  close(status: 'completed' | 'incomplete'): JsonObject[] {
    return this.#closeText(status);
  }

  #functionCall({ callId, name, arguments: args }: CallItem, id: string): JsonObject[] {
    const at = this.#items.length;
    const facts = { item_id: id, output_index: at };
    return [
      ...this.#added({
        id,
        type: 'function_call',
        call_id: callId,
        name,
        arguments: '',
        status: 'in_progress',
      }),
      { type: 'response.function_call_arguments.delta', ...facts, delta: args },
      { type: 'response.function_call_arguments.done', ...facts, name, arguments: args },
      ...this.#done(at, { arguments: args, status: 'completed' }),
    ];
  }

  #openMessage(index: number): JsonObject[] {
    const frames = this.thoughtOver();
    const at = this.#items.length;
    const message = { at, text: '', annotations: [] };
    this.#message = message;
    const item = { type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    return [
      ...frames,
      ...this.#added({ id: this.#id('msg', index), ...item }),
      this.#ofPart(message, 'content_part.added', { part: textPart(message) }),
    ];
  }

  #openThought(index: number): JsonObject[] {
    const frames = this.#closeText();
    const thought = { at: this.#items.length, text: '', annotations: [] };
    this.#thought = thought;
    const part = { type: 'summary_text', text: '' };
    return [
      ...frames,
      ...this.#added({ id: this.#id('rs', index), type: 'reasoning', summary: [], status: 'in_progress' }),
      this.#ofThought(thought, 'reasoning_summary_part.added', { part }),
    ];
  }

  #closeText(status: 'completed' | 'incomplete' = 'completed'): JsonObject[] {
    const frames = this.thoughtOver();
    const open = this.#message;
    if (open === undefined) return frames;
    this.#message = undefined;
    this.#said = open;
    const part = textPart(open);
    return [
      ...frames,
      this.#ofPart(open, 'output_text.done', { text: open.text, logprobs: [] }),
      this.#ofPart(open, 'content_part.done', { part }),
      ...this.#done(open.at, { content: [part], status }),
    ];
  }

  /** Gives up a message that is not over: another takes its place. */
  #dropMessage(): JsonObject[] {
    const open = this.#message;
    if (open === undefined) return [];
    this.#void.add(open.at);
    return this.#closeText('incomplete');
  }

  #added(item: Item): JsonObject[] {
    const output_index = this.#items.push(item) - 1;
    return [{ type: 'response.output_item.added', output_index, item }];
  }

  #done(at: number, fields: JsonObject): JsonObject[] {
    const begun = this.#items[at];
    if (begun === undefined) return [];
    const item = { ...begun, ...fields };
    this.#items[at] = item;
    return [{ type: 'response.output_item.done', output_index: at, item }];
  }

  #ofPart(open: OpenText, name: string, fields: JsonObject): JsonObject {
    return {
      type: `response.${name}`,
      item_id: this.#items[open.at]?.id ?? '',
      output_index: open.at,
      content_index: 0,
      ...fields,
    };
  }

  #ofThought(open: OpenText, name: string, fields: JsonObject): JsonObject {
    return {
      type: `response.${name}`,
      item_id: this.#items[open.at]?.id ?? '',
      output_index: open.at,
      summary_index: 0,
      ...fields,
    };
  }

  #id(prefix: string, index: number): string {
    return `${prefix}_${this.run.runId}_${index}`;
  }
}

function textPart({ text, annotations }: OpenText): JsonObject {
  return { type: 'output_text', text, annotations: [...annotations], logprobs: [] };
}

/** Whether a text is another one, also as JSON that is written in another way. */
function isSame(said: string | undefined, text: string): boolean {
  if (said === undefined) return false;
  if (said === text) return true;
  try {
    return JSON.stringify(JSON.parse(said)) === JSON.stringify(JSON.parse(text));
  } catch {
    return false;
  }
}
