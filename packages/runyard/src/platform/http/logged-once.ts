import type { Log } from '../../core/log.js';
import { escapeControls } from '../log-escape.js';

const mostRemembered = 100;
export const longestShown = 200;

/** Logs what clients send once for each text, as long as there are not too many of them to remember. */
export class LoggedOnce {
  readonly #seen = new Set<string>();

  constructor(
    private readonly log: Log,
    private readonly name: string,
    private readonly message: string,
  ) {}

  note(text: string): void {
    const shown = escapeControls(text.slice(0, longestShown));
    if (this.#seen.has(shown)) return;
    const [oldest] = this.#seen;
    if (oldest !== undefined && this.#seen.size >= mostRemembered) this.#seen.delete(oldest);
    this.#seen.add(shown);
    this.log.warn({ [this.name]: shown }, this.message);
  }
}
