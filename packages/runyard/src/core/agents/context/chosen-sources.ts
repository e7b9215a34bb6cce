import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolSource } from '../../tools/tool-source.js';

/** Sources that a run has got, or that a definition names. Components may share them: this is over all components. */
const known = new WeakSet<ToolSource>();
/** Those that came again, or that a definition names: they are closed with a component, and with no run. */
const shared = new WeakSet<ToolSource>();

/** Those that a factory has made: its run closes them, also where a function of what it built returns them. */
const built = new WeakSet<ToolSource>();

/** The sources that a function of the application has made so far, while it makes something for one run. */
const making = new AsyncLocalStorage<Set<ToolSource>>();

/** Calls a function of the application that makes something for one run. `made` receives the sources that it makes. */
export function makingSources<T>(made: Set<ToolSource>, make: () => T): T {
  return making.run(made, make);
}

/** Notes a source that was just made: for all runs, unless a function makes it for one. */
export function madeHere<Source extends ToolSource>(source: Source): Source {
  making.getStore()?.add(source);
  noteNamed([source]);
  return source;
}

/** Notes the sources that a definition names: a function may return them, too. What is made for one run defines nothing. */
export function noteNamed(sources: readonly ToolSource[]): void {
  if (making.getStore() !== undefined) return;
  for (const source of sources) {
    known.add(source);
    shared.add(source);
  }
}

/**
 * Sources that the functions of one component, or a factory, returned. One that only one run has ever got was made for
 * that run, and is closed with it.
 */
export class ChosenSources {
  private readonly held = new Set<ToolSource>();
  private readonly closing = new Set<Promise<unknown>>();

  /** Of what a factory has built: each source once, those first that were made meanwhile. */
  addBuilt(made: ReadonlySet<ToolSource>, sources: readonly ToolSource[]): ReadonlySet<ToolSource> {
    for (const source of made) built.add(source);
    const all = new Set([...made, ...sources]);
    this.hold(all);
    return all;
  }

  /** What functions returned for a run. The answer is what the run has to be done with. */
  add(sources: readonly ToolSource[]): readonly ToolSource[] {
    const own = sources.filter((source) => !built.has(source));
    this.hold(own);
    return own;
  }

  private hold(sources: Iterable<ToolSource>): void {
    for (const source of sources) {
      if (known.has(source)) shared.add(source);
      known.add(source);
      this.held.add(source);
    }
  }

  async done(sources: Iterable<ToolSource>): Promise<void> {
    const own = [...sources].filter((source) => !shared.has(source) && this.held.delete(source));
    // the run has ended: that a connection does not close well changes nothing about it
    const closing = Promise.allSettled(own.map((source) => source.close()));
    this.closing.add(closing);
    await closing;
    this.closing.delete(closing);
  }

  /** Closes those that stay open for other runs, and waits for those that are being closed. */
  async close(): Promise<void> {
    const stay = [...this.held].filter((source) => shared.has(source));
    await Promise.all([...stay.map((source) => source.close()), ...this.closing]);
  }
}
