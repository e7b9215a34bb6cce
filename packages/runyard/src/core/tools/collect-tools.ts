import { errors } from '../errors/errors.js';
import { Tool } from './tool.js';
import { plainEntry } from './tool-component.js';
import type { ToolSource } from './tool-source.js';
import { type PlainToolEntry, type ToolEntry, Toolkit } from './toolkit.js';

export interface CollectedTools {
  readonly tools: ReadonlyMap<string, Tool>;
  /** What tools, toolkits and sources add to the system message, each once. */
  readonly instructions: readonly string[];
}

/** The tools that a setting names; none where a function chooses them for each run. */
export function namedTools(
  tools: readonly ToolEntry[] | ((...args: never[]) => unknown) = [],
): readonly ToolEntry[] {
  return typeof tools === 'function' ? [] : tools;
}

const noSources: readonly ToolSource[] = [];

/** The sources among the entries and in their toolkits: to be asked for each run, and closed at the end. */
export function toolSourcesOf(entries: readonly ToolEntry[]): readonly ToolSource[] {
  if (entries.length === 0) return noSources;
  const sources = new Set<ToolSource>();
  const visit = (given: ToolEntry) => {
    const entry = plainEntry(given);
    if (entry instanceof Toolkit) entry.options.tools.forEach(visit);
    else if (!(entry instanceof Tool)) sources.add(entry);
  };
  entries.forEach(visit);
  return [...sources];
}

/** The tools that are known without asking a source. `owner` is used in error messages: `Agent 'bank'`. */
export function collectFixedTools(owner: string, entries: readonly ToolEntry[]): CollectedTools {
  return collect(owner, entries, new Map());
}

/** All tools, those of the sources included; `ask` calls a source. */
export async function collectTools(
  owner: string,
  entries: readonly ToolEntry[],
  ask: (source: ToolSource) => Promise<readonly Tool[]>,
): Promise<CollectedTools> {
  const lists = toolSourcesOf(entries).map(async (source) => [source, await ask(source)] as const);
  return collect(owner, entries, new Map(await Promise.all(lists)));
}

interface FoundTool {
  readonly tool: Tool;
  /** Where it comes from, in words. */
  readonly origin: string;
  /** Set for a tool whose name was not chosen here. */
  readonly source: ToolSource | undefined;
}

type SourceTools = ReadonlyMap<ToolSource, readonly Tool[]>;

function collect(owner: string, entries: readonly ToolEntry[], lists: SourceTools): CollectedTools {
  const found: FoundTool[] = [];
  for (const entry of entries) find(entry, lists, found);
  const taken = new Map<string, FoundTool>();
  const tools = new Map<string, Tool>();
  // Names that the application chose go first: a server cannot take one of them for itself.
  for (const one of found) if (one.source === undefined) add(owner, one, taken, tools);
  for (const one of found) if (one.source !== undefined) add(owner, one, taken, tools);
  return { tools, instructions: instructionsOf(entries, tools) };
}

const ownTools = 'its own tools';

function find(given: ToolEntry, lists: SourceTools, found: FoundTool[]): void {
  const entry: PlainToolEntry = plainEntry(given);
  if (entry instanceof Tool) found.push({ tool: entry, origin: ownTools, source: undefined });
  else if (entry instanceof Toolkit) findInKit(entry, lists, found);
  else {
    const origin = `source '${entry.name}'`;
    for (const tool of lists.get(entry) ?? []) found.push({ tool, origin, source: entry });
  }
}

function findInKit(kit: Toolkit, lists: SourceTools, found: FoundTool[]): void {
  const inside: FoundTool[] = [];
  for (const entry of kit.options.tools) find(entry, lists, inside);
  // of a source that was not asked, or gave nothing, it is not known what it has
  const isKnown = toolSourcesOf(kit.options.tools).every((source) => lists.get(source)?.length);
  if (isKnown) kit.checkNames(inside.map(({ tool }) => tool));
  const name = `toolkit '${kit.name}'`;
  for (const { tool, origin, source } of inside) {
    const [selected] = kit.select([tool]);
    const path = origin === ownTools ? name : `${origin} in ${name}`;
    if (selected !== undefined) found.push({ tool: selected, origin: path, source });
  }
}

function add(owner: string, one: FoundTool, taken: Map<string, FoundTool>, tools: Map<string, Tool>): void {
  const { tool, source } = one;
  const name = taken.has(tool.name) && source !== undefined ? prefixed(source, tool) : tool.name;
  const other = taken.get(name);
  if (other !== undefined) {
    throw errors.invalidConfig(
      `${owner} has two tools named '${name}': one from ${other.origin}, one from ${one.origin}. Rename one, or give its toolkit a prefix.`,
    );
  }
  taken.set(name, one);
  tools.set(name, tool.named(name));
}

function prefixed(source: ToolSource, tool: Tool): string {
  return `${source.name.replace(/[^a-zA-Z0-9_-]+/g, '_')}_${tool.name}`.slice(0, 64);
}

function instructionsOf(entries: readonly ToolEntry[], tools: ReadonlyMap<string, Tool>): readonly string[] {
  const texts = new Set<string>();
  const visit = (given: ToolEntry) => {
    const entry = plainEntry(given);
    if (entry instanceof Tool) return;
    const own = entry instanceof Toolkit ? entry.options.instructions : entry.instructions;
    if (own) texts.add(own);
    if (entry instanceof Toolkit) entry.options.tools.forEach(visit);
  };
  entries.forEach(visit);
  for (const { instructions } of tools.values()) if (instructions) texts.add(instructions);
  return [...texts];
}
