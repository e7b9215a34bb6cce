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
    return this.texts.join('\n\n').replace(broadcasts, '@$1$2');
  }

  /** The run has ended with this answer. What was shown of another one is replaced. */
  conclude(answer: string): void {
    this.close();
    const all = squeezed(this.said.join(''));
    const last = squeezed(this.said.at(-1) ?? '');
    const whole = squeezed(answer);
    if (whole === '' || all.endsWith(whole) || (last !== '' && whole.endsWith(last))) return;
    this.said.splice(-1, 1, answer);
  }

  /** Adds a line about the run. */
  remark(line: string): void {
    this.close();
    this.said.push(line);
  }

  private get texts(): string[] {
    return [...this.said, this.current].filter((text) => text.trim() !== '');
  }

  private piece(logged: LoggedEvent): void {
    if (!this.isOwn(logged)) return;
    const piece = logged.piece ?? contentIn(logged);
    this.current = piece === '' ? '' : this.current + piece;
  }

  private close(): void {
    if (this.current.trim() !== '') this.said.push(this.current);
    this.current = '';
  }

  /** What members and steps say goes to those who asked them. */
  private isOwn(logged: LoggedEvent): boolean {
    return logged.runId === this.runId;
  }
}

const ends = new Set(['ModelRequestCompleted', 'RunContentCompleted', 'ToolCallStarted']);

function contentIn({ data }: LoggedEvent): string {
  const { content } = JSON.parse(data);
  return typeof content === 'string' ? content : '';
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, '');
}
