import { faultsInBlocks } from './check-blocks.js';
import { sizes } from './limits.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
export type Fields = Record<string, any>;

export interface Task {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly details?: string;
  readonly output?: string;
}

export interface Message {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | undefined;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
  blocks: any[];
  readonly tasks: Map<string, Task>;
  metadata: Fields | undefined;
  /** How the stream was started: every further call has to be of this kind. */
  streaming: 'markdown_text' | 'chunks' | undefined;
  stoppedByUser: boolean;
  readonly ephemeralFor: string | undefined;
  readonly files?: readonly Fields[];
}

type Content = Pick<Message, 'text' | 'blocks'> & { fields: Fields; ephemeralFor?: string | undefined };

/** An error that Slack answers with. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    readonly why = '',
  ) {
    super(code);
  }
}

/** The messages of a workspace, with the rules of the methods that write them. */
export class Workspace {
  readonly messages: Message[] = [];
  private written = 0;

  constructor(private readonly botUserId: string) {}

  post(fields: Fields, ephemeralFor?: string): Message {
    const content = contentOf(fields);
    return this.add({ ...content, fields, ephemeralFor });
  }

  /** A file is a message of its own, which has no metadata. */
  share(channel: string, threadTs: string, file: Fields): void {
    const fields = { channel, thread_ts: threadTs };
    this.messages.push({ ...this.create({ text: '', blocks: [], fields }), files: [file] });
  }

  update(fields: Fields): Message {
    const message = this.own(fields);
    if (message.streaming !== undefined)
      throw new Refused('streaming_state_conflict', 'it is still streaming');
    Object.assign(message, contentOf(fields), fields.metadata && { metadata: fields.metadata });
    return message;
  }

  remove(fields: Fields): void {
    this.messages.splice(this.messages.indexOf(this.own(fields)), 1);
  }

  startStream(fields: Fields): Message {
    if (!fields.channel.startsWith('D')) {
      if (fields.recipient_user_id === undefined) throw new Refused('missing_recipient_user_id');
      if (fields.recipient_team_id === undefined) throw new Refused('missing_recipient_team_id');
    }
    const mode = fields.task_display_mode;
    if (![undefined, 'timeline', 'plan', 'dense'].includes(mode))
      throw new Refused('invalid_arguments', mode);
    const message = this.add({ text: '', blocks: [], fields });
    message.streaming = fields.markdown_text === undefined ? 'chunks' : 'markdown_text';
    this.stream(message, fields);
    return message;
  }

  appendStream(fields: Fields): void {
    if (fields.markdown_text === undefined && fields.chunks === undefined)
      throw new Refused('markdown_text_or_chunks_required');
    this.stream(this.streamed(fields), fields);
  }

  stopStream(fields: Fields): Message {
    const message = this.streamed(fields);
    this.stream(message, fields);
    if (fields.blocks !== undefined) {
      assertBlocks(fields.blocks);
      message.blocks = fields.blocks;
    }
    if (fields.metadata !== undefined) message.metadata = fields.metadata;
    message.streaming = undefined;
    return message;
  }

  /** What `conversations.replies` answers with. */
  replies({ channel, ts, oldest = '0' }: Fields): Fields[] {
    return this.messages
      .filter((one) => one.ephemeralFor === undefined && one.channel === channel)
      .filter((one) => (one.threadTs === ts || one.ts === ts) && one.ts > oldest)
      .map(({ ts: own, threadTs, text, blocks, metadata, files }) => ({
        type: 'message',
        user: this.botUserId,
        bot_id: `B${this.botUserId.slice(1)}`,
        ts: own,
        thread_ts: threadTs,
        text,
        blocks,
        ...(metadata && { metadata }),
        ...(files && { files }),
      }));
  }

  private streamed(fields: Fields): Message {
    const message = this.own(fields);
    if (message.stoppedByUser) throw new Refused('stopped_by_user');
    if (message.streaming === undefined) throw new Refused('message_not_in_streaming_state');
    return message;
  }

  private stream(message: Message, { markdown_text: markdown, chunks }: Fields): void {
    if (markdown !== undefined && chunks !== undefined)
      throw new Refused('cannot_provide_both_markdown_text_and_chunks');
    if ((markdown ?? chunks) !== undefined && (markdown === undefined) !== (message.streaming === 'chunks'))
      throw new Refused('streaming_mode_mismatch');
    if (markdown !== undefined) assertMarkdown(markdown);
    message.text += markdown ?? '';
    for (const chunk of chunks ?? []) addChunk(message, chunk);
    if (message.text.length > sizes.streamedText)
      throw new Refused('msg_too_long', `${message.text.length} characters in a stream`);
    if (message.tasks.size > sizes.tasks) throw new Refused('msg_blocks_too_many', 'cards in a stream');
  }

  private own({ channel, ts }: Fields): Message {
    const found = this.messages.find((one) => one.channel === channel && one.ts === ts);
    if (found === undefined || found.ephemeralFor !== undefined) throw new Refused('message_not_found');
    return found;
  }

  private add(given: Content): Message {
    const message = this.create(given);
    this.messages.push(message);
    return message;
  }

  private create({ text, blocks, fields, ephemeralFor }: Content): Message {
    return {
      channel: fields.channel,
      ts: `1900000000.${String(++this.written).padStart(6, '0')}`,
      threadTs: fields.thread_ts,
      text,
      blocks,
      tasks: new Map(),
      metadata: fields.metadata,
      streaming: undefined,
      stoppedByUser: false,
      ephemeralFor,
    };
  }
}

function contentOf({ text, blocks, markdown_text: markdown, metadata }: Fields) {
  if (markdown !== undefined) {
    if (text !== undefined || blocks !== undefined) throw new Refused('markdown_text_conflict');
    assertMarkdown(markdown);
  }
  const plain = text ?? markdown ?? '';
  if (plain === '' && (blocks ?? []).length === 0) throw new Refused('no_text');
  if (plain.length > sizes.text) throw new Refused('msg_too_long', `${plain.length} characters`);
  if (blocks !== undefined) assertBlocks(blocks);
  if (metadata !== undefined) {
    if (typeof metadata.event_type !== 'string' || typeof metadata.event_payload !== 'object')
      throw new Refused('invalid_metadata_format');
    if (JSON.stringify(metadata).length > sizes.metadataBytes) throw new Refused('metadata_too_large');
  }
  return { text: plain, blocks: blocks ?? [] };
}

function assertMarkdown(text: string): void {
  if (text.length > sizes.markdownText)
    throw new Refused('msg_too_long', `markdown_text with ${text.length} characters`);
}

function assertBlocks(blocks: unknown): void {
  const [fault] = faultsInBlocks(blocks);
  if (fault !== undefined) throw new Refused('invalid_blocks', fault);
}

const statuses = ['pending', 'in_progress', 'complete', 'error'];

function addChunk(message: Message, chunk: Fields): void {
  const refused = (why: string) => new Refused('invalid_chunks', why);
  switch (chunk.type) {
    case 'markdown_text':
      if (typeof chunk.text !== 'string' || chunk.text === '') throw refused('a chunk without text');
      assertMarkdown(chunk.text);
      message.text += chunk.text;
      return;
    case 'task_update': {
      const { id, title, status, details, output } = chunk;
      if (!id || !title || !statuses.includes(status)) throw refused(JSON.stringify(chunk));
      for (const one of [title, details, output])
        if (one !== undefined && one.length > sizes.taskText)
          throw refused(`a card with ${one.length} characters`);
      message.tasks.set(id, { ...message.tasks.get(id), id, title, status, ...chunk });
      return;
    }
    case 'plan_update':
      if (!chunk.title || chunk.title.length > sizes.taskText) throw refused('the title of a plan');
      return;
    case 'blocks':
      assertBlocks(chunk.blocks);
      message.blocks.push(...chunk.blocks);
      return;
    default:
      throw refused(`the type ${chunk.type}`);
  }
}
