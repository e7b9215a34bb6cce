import type { ToolSource } from '../../tools/tool-source.js';

/**
 * Sources that functions of the settings returned. One that only one run has ever got was made for that run, and is
 * closed with it. One that came again is shared: it is closed with its component.
 */
export class ChosenSources {
  readonly shared = new Set<ToolSource>();
  private readonly seen = new WeakSet<ToolSource>();

  add(sources: readonly ToolSource[]): void {
    for (const source of sources) {
      if (this.seen.has(source)) this.shared.add(source);
      this.seen.add(source);
    }
  }

  async done(sources: readonly ToolSource[]): Promise<void> {
    // the run has ended: that a connection does not close well changes nothing about it
    await Promise.allSettled(
      sources.filter((source) => !this.shared.has(source)).map((source) => source.close()),
    );
  }
}
