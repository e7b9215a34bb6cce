import { errors } from '../errors.js';
import { Tool } from './tool.js';
import type { ToolSource } from './tool-source.js';
import { type ToolEntry, Toolkit } from './toolkit.js';

export interface CollectedTools {
  readonly tools: ReadonlyMap<string, Tool>;
  /** What tools, toolkits and sources want to have said in the system message, each once. */
  readonly instructions: readonly string[];
}

/** The sources among the entries and in their toolkits: to be asked for each run, and closed at the end. */
export function toolSourcesOf(entries: readonly ToolEntry[]): readonly ToolSource[] {
  return [
    ...new Set(
      entries.flatMap((entry) => {
        if (entry instanceof Tool) return [];
        return entry instanceof Toolkit ? toolSourcesOf(entry.options.tools) : [entry];
      }),
    ),
  ];
}

/** The tools that are known without asking a source. `owner` stands in error messages: `Agent 'bank'`. */
export function collectFixedTools(owner: string, entries: readonly ToolEntry[]): CollectedTools {
  return collect(owner, entries, new Map());
}

/** All tools, those of the sources included. */
export async function collectTools(
  owner: string,
  entries: readonly ToolEntry[],
  signal: AbortSignal,
): Promise<CollectedTools> {
  const sources = toolSourcesOf(entries);
  const lists = await Promise.all(sources.map((source) => source.tools(signal)));
  return collect(owner, entries, new Map(sources.map((source, index) => [source, lists[index]!])));
}

interface FoundTool {
  readonly tool: Tool;
  /** Where it comes from, in words. */
  readonly origin: string;
  /** Set for a tool whose name nobody here has chosen. */
  readonly source: ToolSource | undefined;
}

type SourceTools = ReadonlyMap<ToolSource, readonly Tool[]>;

function collect(owner: string, entries: readonly ToolEntry[], lists: SourceTools): CollectedTools {
  const found = entries.flatMap((entry) => toolsOf(entry, lists));
  const taken = new Map<string, FoundTool>();
  // Names that the application chose go first: a server cannot take one of them for itself.
  for (const one of found) if (one.source === undefined) add(owner, taken, one);
  for (const one of found) if (one.source !== undefined) add(owner, taken, one);
  const tools = new Map(Array.from(taken, ([name, { tool }]) => [name, tool]));
  return { tools, instructions: instructionsOf(entries, tools) };
}

function toolsOf(entry: ToolEntry, lists: SourceTools): readonly FoundTool[] {
  if (entry instanceof Tool) return [{ tool: entry, origin: 'its own tools', source: undefined }];
  if (!(entry instanceof Toolkit)) {
    return (lists.get(entry) ?? []).map((tool) => ({
      tool,
      origin: `source '${entry.name}'`,
      source: entry,
    }));
  }
  return entry.options.tools
    .flatMap((inner) => toolsOf(inner, lists))
    .flatMap(({ tool, origin, source }) => {
      const kit = `toolkit '${entry.name}'`;
      const path = source === undefined && origin === 'its own tools' ? kit : `${origin} in ${kit}`;
      return entry.select([tool]).map((selected) => ({ tool: selected, origin: path, source }));
    });
}

function add(owner: string, taken: Map<string, FoundTool>, one: FoundTool): void {
  const { tool, source } = one;
  const free = [tool.name, ...(source === undefined ? [] : [prefixed(source, tool)])].find(
    (name) => !taken.has(name),
  );
  if (free === undefined) {
    throw errors.invalidConfig(
      `${owner} has two tools named '${tool.name}': one from ${taken.get(tool.name)!.origin}, one from ${one.origin}. Rename one, or give its toolkit a prefix.`,
    );
  }
  taken.set(free, { ...one, tool: tool.named(free) });
}

function prefixed(source: ToolSource, tool: Tool): string {
  return `${source.name.replace(/[^a-zA-Z0-9_-]+/g, '_')}_${tool.name}`.slice(0, 64);
}

function instructionsOf(entries: readonly ToolEntry[], tools: ReadonlyMap<string, Tool>): readonly string[] {
  const texts = new Set<string>();
  const visit = (entry: ToolEntry) => {
    if (entry instanceof Tool) return;
    const own = entry instanceof Toolkit ? entry.options.instructions : entry.instructions;
    if (own) texts.add(own);
    if (entry instanceof Toolkit) entry.options.tools.forEach(visit);
  };
  entries.forEach(visit);
  for (const { instructions } of tools.values()) if (instructions) texts.add(instructions);
  return [...texts];
}
