import { reasonOf } from '../../errors/reason.js';
import type { JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import { storable } from '../../storable-json.js';
import type { Tool } from '../tool.js';
import { storeMedia, ToolResult } from '../tool-result.js';

/** The outcome of a call. `content` is what the model reads. */
export interface ToolOutcome {
  readonly content: string;
  readonly error: boolean;
  /** The arguments that it was executed with, or else those that the model gave; null when they were not JSON. */
  readonly args: JsonObject | null;
  readonly media?: readonly Media[];
  /** The run ends here. */
  readonly stop: boolean;
  readonly showResult: boolean;
  /** Of a tool with an output schema: how the content holds the value that fits it. */
  readonly written?: 'text' | 'json';
}

const longestResult = 100_000;

/** Writes what a tool returned as the model can read it. */
export async function outcomeOf(
  tool: Tool,
  args: JsonObject,
  result: unknown,
  contents: MediaContents | undefined,
): Promise<ToolOutcome> {
  const value = result instanceof ToolResult ? result.content : result;
  let content: string;
  try {
    content = textOf(value);
  } catch (error) {
    return failedOutcome(args, `'${tool.name}' ran, but ${reasonOf(error)}`);
  }
  const { media, faults } = await storeMedia(result instanceof ToolResult ? result.media : [], contents);
  if (faults.length > 0) content = [content, ...faults].join('\n');
  const shared = {
    args,
    ...(media.length > 0 && { media }),
    ...(tool.outputSchema !== undefined &&
      ({ written: typeof value === 'string' ? 'text' : 'json' } as const)),
    stop: tool.stopAfterCall,
    showResult: tool.showResult,
  };
  return { ...boundedResult(content), ...shared };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isData = typeof value === 'object' || typeof value === 'bigint';
  return JSON.stringify(isData ? storable(value, 'its result') : value) ?? '';
}

/** A result as the model gets it; one that is too long is cut, and counts as a failure that the model can correct. */
export function boundedResult(content: string): { content: string; error: boolean } {
  if (content.length <= longestResult) return { content, error: false };
  const note = `[Cut here: the result has ${content.length} characters, the limit is ${longestResult}. Ask for less.]`;
  return { content: `${content.slice(0, longestResult)}\n${note}`, error: true };
}

export function failedOutcome(args: JsonObject | null, content: string): ToolOutcome {
  // A model that must correct its call needs another turn, whatever the tool says about stopping.
  return { content, error: true, args, stop: false, showResult: false };
}
