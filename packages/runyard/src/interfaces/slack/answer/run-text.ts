import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';

/** Would call everyone in a channel, or a group of people: the words of a model do not. */
const broadcasts = /<!(?:(channel|here|everyone)(?:\|[^>]*)?|subteam\^(?:[^|>]*\|@?)?([^|>]*))>/g;

/**
 * What a run says, from its events. Each call of a model says a text of its own; one that is made again, after a failure
 * or a crash, takes the place of what it said before.
 */
export class RunText {
  private readonly said: string[] = [];
  private current = '';
  /** What was said before the current text, put together; undefined when it has changed. */
  private before: string | undefined;
  private taken = 0;

  constructor(private readonly runId: string) {}

  /** Whether the text has come to an end for now: what is there should be shown. */
  take(logged: LoggedEvent): boolean {
    const name = logged.name.replace(/^Team/, '');
    if (name === 'RunContent') {
      this.piece(logged);
      return false;
    }
    if (name === 'RunStarted' || name === 'ModelRequestStarted') {
      if (this.isOwn(logged)) this.current = '';
      return false;
    }
    const isEnd = ends.has(name) && this.isOwn(logged);
    if (isEnd) this.close();
    return isEnd;
  }

  /** The whole text. */
  get text(): string {
    this.before ??= quietly(this.said.filter(isText).join('\n\n'));
    const now = isText(this.current) ? quietly(this.current) : '';
    return [this.before, now].filter(isText).join('\n\n');
  }

  /** How many characters came so far: it costs nothing to ask, unlike the text. */
  get length(): number {
    return this.taken;
  }

  /** The run has ended with this answer. What was shown of another one is replaced. */
  conclude(answer: string): void {
    this.close();
    const all = squeezed(this.said.join(''));
    const last = squeezed(this.said.at(-1) ?? '');
    const whole = squeezed(answer);
    if (whole === '' || all.endsWith(whole) || (last !== '' && whole.endsWith(last))) return;
    this.said.splice(-1, 1, answer);
    this.before = undefined;
  }

  /** Adds a line about the run. */
  remark(line: string): void {
    this.close();
    this.say(line);
  }

  private say(text: string): void {
    this.said.push(text);
    this.before = undefined;
  }

  private piece(logged: LoggedEvent): void {
    if (!this.isOwn(logged)) return;
    const piece = logged.piece ?? contentIn(logged);
    this.current = piece === '' ? '' : this.current + piece;
    this.taken += piece.length;
  }

  private close(): void {
    if (isText(this.current)) this.say(this.current);
    this.current = '';
  }

  /** What members and steps say goes to those who asked them. */
  private isOwn(logged: LoggedEvent): boolean {
    return logged.runId === this.runId;
  }
}

const ends = new Set(['ModelRequestCompleted', 'RunContentCompleted', 'ToolCallStarted']);

function isText(text: string): boolean {
  return text.trim() !== '';
}

function quietly(text: string): string {
  return text.replace(broadcasts, '@$1$2');
}

function contentIn({ data }: LoggedEvent): string {
  const { content } = JSON.parse(data);
  return typeof content === 'string' ? content : '';
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, '');
}
