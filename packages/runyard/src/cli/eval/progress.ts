import type { EvalEntry } from './eval-report.js';
import type { Paint } from './summary-text.js';
import { oneLine, timeText } from './summary-text.js';

/** Where progress goes: standard error, so that standard output has the results alone. */
export interface ProgressTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** How often a bar is drawn. */
const drawMs = 100;
const barColumns = 24;

/** Shows how far the evals are: a bar on a terminal, a line for each eval elsewhere. */
export class Progress {
  #done = 0;
  #failed = 0;
  #total = 0;
  #name = '';
  #drawnAt = Number.NEGATIVE_INFINITY;
  #shown = false;

  constructor(
    private readonly target: ProgressTarget,
    private readonly paint: Paint,
    private readonly now: () => number = () => performance.now(),
  ) {}

  began(name: string): void {
    this.#name = name;
    this.#done = 0;
    this.#failed = 0;
    this.#total = 0;
    this.#draw(true);
  }

  /** One of so many executions of cases ended. */
  executed(passed: boolean, total: number): void {
    this.#total = total;
    this.#done += 1;
    if (!passed) this.#failed += 1;
    this.#draw(false);
  }

  ended({ name, status, durationMs, cases }: EvalEntry): void {
    this.clear();
    const { paint } = this;
    const passed = cases.filter((one) => one.passed).length;
    const mark = status === 'passed' ? paint.green('✓') : paint.red('✗');
    this.target.write(
      `${mark} ${oneLine(name, 100)} ${paint.dim(`${passed}/${cases.length} passed, ${timeText(durationMs)}`)}\n`,
    );
  }

  /** Removes the bar. */
  clear(): void {
    if (this.#shown) this.target.write('\r\u001b[2K');
    this.#shown = false;
  }

  #draw(always: boolean): void {
    if (this.target.isTTY !== true) return;
    const now = this.now();
    if (!always && now - this.#drawnAt < drawMs) return;
    this.#drawnAt = now;
    const { paint, target } = this;
    const full =
      this.#total === 0 ? 0 : Math.round((barColumns * Math.min(this.#done, this.#total)) / this.#total);
    const bar = `${'█'.repeat(full)}${'░'.repeat(barColumns - full)}`;
    const failed = this.#failed === 0 ? '' : ` ${this.#failed} failed`;
    const counts = ` ${this.#done}/${this.#total}${failed} `;
    const room = (target.columns ?? 80) - barColumns - counts.length - 1;
    const name = room < 4 ? '' : oneLine(this.#name, room);
    target.write(`\r\u001b[2K${bar}${failed === '' ? counts : paint.red(counts)}${name}`);
    this.#shown = true;
  }
}
