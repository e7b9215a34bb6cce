import type { ToolSource } from '../../tools/tool-source.js';

/** Sources that a run has got, or that a definition names. Components may share them: this is over all components. */
const known = new WeakSet<ToolSource>();
/** Those that came again, or that a definition names: they are closed with a component, and with no run. */
const shared = new WeakSet<ToolSource>();

/** Notes the sources that a definition names: a function of another one may return them, too. */
export function noteNamed(sources: readonly ToolSource[]): void {
  for (const source of sources) {
    known.add(source);
    shared.add(source);
  }
}

/**
 * Sources that the functions of one component returned. One that only one run has ever got was made for that run, and
 * is closed with it.
 */
export class ChosenSources {
  private readonly held = new Set<ToolSource>();

  /** Those to close with the component. */
  get shared(): readonly ToolSource[] {
    return [...this.held].filter((source) => shared.has(source));
  }

  add(sources: readonly ToolSource[]): void {
    for (const source of sources) {
      if (known.has(source)) shared.add(source);
      known.add(source);
      this.held.add(source);
    }
  }

  async done(sources: readonly ToolSource[]): Promise<void> {
    const own = sources.filter((source) => !shared.has(source));
    for (const source of own) this.held.delete(source);
    // the run has ended: that a connection does not close well changes nothing about it
    await Promise.allSettled(own.map((source) => source.close()));
  }
}
