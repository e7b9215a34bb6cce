import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { objectsIn } from '../../common/answers/question.js';
import type { SlackApi, SlackThread } from '../parts.js';
import { hasCode, SlackCallError } from '../web/call-error.js';

/** The kind of metadata by which a message of ours is found again. */
const answerEvent = 'runyard_answer';

interface Part {
  ts: string;
  /** A stream takes what is appended; a message that is no stream (any longer) is written again as a whole. */
  mode: 'stream' | 'edit';
  /** What it shows; undefined when that is not known. */
  sent: string | undefined;
  /** A person has deleted it. */
  gone: boolean;
}

export interface MessagesOptions {
  readonly api: SlackApi;
  readonly thread: SlackThread;
  readonly runId: string;
  /** The last event before the answer: a run that pauses has several answers. */
  readonly after: number;
  readonly streaming: boolean;
  readonly taskDisplayMode: string;
  readonly signal: AbortSignal;
  readonly progress: JsonObject | undefined;
  save(progress: JsonObject): Promise<void>;
}

/** A person stopped the answer in Slack. */
export class StoppedByUser extends Error {}

/**
 * The messages of one answer. They are brought to what they should say, whatever they said before: by appending to a
 * stream, or by writing a message again. What has to be known for that after a crash is which messages there are, and
 * that is kept before and after each new one.
 */
export class Messages {
  private readonly parts: Part[];
  /** A process ended while it began a message: it may be there. */
  private isBeginning: boolean;

  constructor(private readonly options: MessagesOptions) {
    const { parts, beginning } = options.progress ?? {};
    this.parts = objectsIn(parts).map(({ ts, gone }) => ({
      ts: String(ts),
      mode: 'edit',
      sent: undefined,
      gone: gone === true,
    }));
    this.isBeginning = beginning === true;
  }

  get isEmpty(): boolean {
    return this.parts.length === 0;
  }

  /** Whether a little more text is worth a call: a message that is no stream is sent as a whole. */
  isWorth(characters: number, bufferSize: number): boolean {
    const last = this.parts.at(-1);
    return characters >= (last?.mode === 'edit' ? bufferSize * 10 : bufferSize);
  }

  /** Brings the messages to these texts. `cards`: chunks for the last of them. `done`: nothing more comes. */
  async show(texts: readonly string[], cards: readonly JsonObject[], done: boolean): Promise<void> {
    for (const [at, text] of texts.entries()) {
      const isLast = at === texts.length - 1;
      const chunks = isLast ? cards : [];
      if (at >= this.parts.length && text === '' && chunks.length === 0) continue;
      await this.showPart(at, text, chunks, done || !isLast);
    }
    while (this.parts.length > texts.length) await this.removeLast();
  }

  private async showPart(
    at: number,
    text: string,
    cards: readonly JsonObject[],
    done: boolean,
  ): Promise<void> {
    const known = this.parts[at];
    const part = known ?? (await this.begin(text, cards));
    if (part.gone) return;
    try {
      const rest =
        part.sent !== undefined && text.startsWith(part.sent) ? text.slice(part.sent.length) : undefined;
      if (part.mode === 'edit' || rest === undefined) await this.rewrite(part, text);
      // a stream begins with its cards and text
      else await this.stream(part, text, known === undefined ? [] : [...cards, ...markdown(rest)], done);
    } catch (error) {
      if (!hasCode(error, 'message_not_found', 'cant_update_message', 'edit_window_closed')) throw error;
      // a person has deleted it: what it said is not said again
      part.gone = true;
      await this.save();
    }
  }

  private async stream(part: Part, text: string, chunks: JsonObject[], done: boolean): Promise<void> {
    const { api, thread, signal } = this.options;
    const place = { channel: thread.channel, ts: part.ts };
    try {
      if (done)
        await api.call(
          'chat.stopStream',
          { ...place, ...this.stamp, ...(chunks.length > 0 && { chunks }) },
          signal,
        );
      else if (chunks.length > 0) await api.call('chat.appendStream', { ...place, chunks }, signal);
      part.sent = text;
      if (done) part.mode = 'edit';
    } catch (error) {
      if (hasCode(error, 'stopped_by_user')) throw new StoppedByUser();
      const isLost = error instanceof SlackCallError && error.retryable;
      // Slack closes streams after some minutes. And whether a lost call was done is not known: the whole text is right
      if (!isLost && !hasCode(error, 'message_not_in_streaming_state')) throw error;
      part.sent = undefined;
      await this.rewrite(part, text);
    }
  }

  /** Writes a message again, as a whole. It may be repeated. */
  private async rewrite(part: Part, text: string): Promise<void> {
    if (part.sent === text || (text === '' && part.sent === undefined && part.mode === 'edit')) return;
    const { api, thread, signal } = this.options;
    const place = { channel: thread.channel, ts: part.ts };
    if (part.mode === 'stream' || part.sent === undefined) {
      await api.call('chat.stopStream', { ...place, ...this.stamp }, signal).catch((error) => {
        if (hasCode(error, 'stopped_by_user')) throw new StoppedByUser();
        if (!hasCode(error, 'message_not_in_streaming_state')) throw error;
      });
      part.mode = 'edit';
    }
    if (text !== '') await api.call('chat.update', { ...place, markdown_text: text, ...this.stamp }, signal);
    part.sent = text;
  }

  private async begin(text: string, cards: readonly JsonObject[]): Promise<Part> {
    const found = this.isBeginning ? await this.findLost() : undefined;
    this.isBeginning = found === undefined;
    if (found === undefined) await this.save();
    const part = found ?? (await this.start(text, cards));
    this.isBeginning = false;
    this.parts.push(part);
    await this.save();
    return part;
  }

  private async start(text: string, cards: readonly JsonObject[]): Promise<Part> {
    const { api, thread, streaming, taskDisplayMode, signal } = this.options;
    const place = { channel: thread.channel, thread_ts: thread.threadTs };
    if (streaming) {
      try {
        const { ts } = await api.call(
          'chat.startStream',
          {
            ...place,
            chunks: [...cards, ...markdown(text)],
            task_display_mode: taskDisplayMode,
            recipient_user_id: thread.askerId,
            recipient_team_id: thread.askerTeamId,
          },
          signal,
        );
        return { ts: String(ts), mode: 'stream', sent: text, gone: false };
      } catch (error) {
        // not every channel has streams, and not everyone is streamed to: another app, for example
        if (!(error instanceof SlackCallError) || error.retryable) throw error;
      }
    }
    const { ts } = await api.call(
      'chat.postMessage',
      { ...place, markdown_text: text || '…', ...this.stamp },
      signal,
    );
    return { ts: String(ts), mode: 'edit', sent: text || '…', gone: false };
  }

  /** The message that a process began before it ended, or whose answer was lost. */
  private async findLost(): Promise<Part | undefined> {
    const { api, thread, signal } = this.options;
    const { bot_id: bot } = await api.call('auth.test', {}, signal);
    const { messages } = await api.call(
      'conversations.replies',
      {
        channel: thread.channel,
        ts: thread.threadTs,
        oldest: this.parts.at(-1)?.ts ?? thread.threadTs,
        limit: 999,
        include_all_metadata: true,
      },
      signal,
    );
    const known = new Set(this.parts.map(({ ts }) => ts));
    const found = objectsIn(messages)
      .filter((one) => one.bot_id === bot && !known.has(String(one.ts)) && this.mayBeOurs(one))
      .at(-1);
    return found && { ts: String(found.ts), mode: 'edit', sent: undefined, gone: false };
  }

  /** A stream has no metadata before it ends, and a file never; every other message of ours says whose it is. */
  private mayBeOurs({ metadata, files }: JsonObject): boolean {
    if (!isJsonObject(metadata) || metadata.event_type === undefined) return files === undefined;
    const { event_type: type, event_payload: payload } = metadata;
    const { runId, after } = this.options;
    return (
      type === answerEvent && isJsonObject(payload) && payload.run_id === runId && payload.after === after
    );
  }

  private get stamp(): { metadata: JsonObject } {
    const { runId, after } = this.options;
    return { metadata: { event_type: answerEvent, event_payload: { run_id: runId, after } } };
  }

  /** A text that became shorter leaves messages over. */
  private async removeLast(): Promise<void> {
    const part = this.parts.pop();
    if (part === undefined) return;
    const { api, thread, signal } = this.options;
    await this.rewrite(part, '').catch(() => {});
    await api.call('chat.delete', { channel: thread.channel, ts: part.ts }, signal).catch((error) => {
      if (!hasCode(error, 'message_not_found')) throw error;
    });
    await this.save();
  }

  private save(): Promise<void> {
    return this.options.save({
      parts: this.parts.map(({ ts, gone }) => ({ ts, ...(gone && { gone }) })),
      beginning: this.isBeginning,
    });
  }
}

function markdown(text: string): JsonObject[] {
  return text === '' ? [] : [{ type: 'markdown_text', text }];
}
