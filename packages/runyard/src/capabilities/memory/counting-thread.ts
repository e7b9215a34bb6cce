import type * as WorkerThreads from 'node:worker_threads';

/** What the thread is started with. */
export interface CountingThreadData {
  /** Where the tokenizer is. */
  readonly path: string;
}

interface Tokenizer {
  countTokens(text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }): number;
}

/**
 * The body of the thread that counts the tokens of the texts that each message has. It is started from its own source text, so that it needs no file of its
 * own next to the built or the TypeScript sources; hence it uses nothing but its parameters and its types.
 */
export function countingThread(threads: typeof WorkerThreads, load: (path: string) => unknown): void {
  const { path }: CountingThreadData = threads.workerData;
  // the tokenizer whose path the data has
  const { countTokens } = load(path) as Tokenizer;
  // what looks like a special token is plain text in a memory
  const options = { disallowedSpecial: new Set<string>() };
  // A word costs the square of its length. Cutting before a blank changes no count, and cutting a monster of a word
  // changes it by one.
  const pieces = /[^\s]{1,1000}|\s+[^\s]{0,1000}/g;
  const longest = 1_000;
  const count = (text: string) => {
    if (text.length <= longest) return countTokens(text, options);
    let tokens = 0;
    let part = '';
    for (const piece of text.match(pieces) ?? []) {
      if (part.length + piece.length > longest && part !== '') {
        tokens += countTokens(part, options);
        part = '';
      }
      part += piece;
    }
    return tokens + (part === '' ? 0 : countTokens(part, options));
  };
  const { parentPort } = threads;
  parentPort?.on('message', (texts: readonly string[]) => parentPort.postMessage(texts.map(count)));
}
