import { handled } from '../../errors/handled.js';
import type { ToolContext } from '../tool-context.js';
import { ToolResult } from '../tool-result.js';

type Generated = AsyncGenerator<unknown, unknown, void> | Generator<unknown, unknown, void>;

/** Whether the function of a tool is a generator. What compilers make of one for older engines is one as well. */
export function isGenerated(returned: unknown): returned is Generated {
  if (typeof returned !== 'object' || returned === null) return false;
  const isIterable = Symbol.asyncIterator in returned || Symbol.iterator in returned;
  return isIterable && ['next', 'return', 'throw'].every((name) => isMethod(returned, name));
}

function isMethod(owner: object, name: string): boolean {
  return typeof Reflect.get(owner, name) === 'function';
}

/**
 * Executes a generator to its end. Readers of the run see what it yields; its result is what it returns, or else what it
 * yielded last. An abort closes it, so that it can tidy up.
 */
export async function generatedResult(
  generator: Generated,
  { emit, signal }: Pick<ToolContext, 'emit' | 'signal'>,
): Promise<unknown> {
  const close = () => void handled(closed(generator));
  signal.addEventListener('abort', close, { once: true });
  let last: unknown;
  try {
    for (;;) {
      const { done, value } = await generator.next();
      if (done) return value === undefined ? last : value;
      if (value === undefined) continue;
      last = value;
      await emit({ partial_result: value instanceof ToolResult ? value.content : value });
    }
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
  }
}

async function closed(generator: Generated): Promise<unknown> {
  return generator.return(undefined);
}
