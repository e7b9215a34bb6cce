import { errors } from '../errors/errors.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import {
  anyOf,
  callable,
  having,
  instanceOf,
  listOf,
  name,
  objectOf,
  required,
  text,
} from '../options/kinds.js';
import { Tool } from './tool.js';
import type { ToolSource } from './tool-source.js';

/** What an agent can be given as a tool: one, a kit of them, or a source that is asked for each run. */
export type ToolEntry = Tool | Toolkit | ToolSource;

export interface ToolkitOptions {
  readonly name: string;
  readonly tools: readonly ToolEntry[];
  /** Only these, by the names that they have inside the kit. */
  readonly include?: readonly string[];
  /** All but these. */
  readonly exclude?: readonly string[];
  /** Stands before the name of each tool. */
  readonly prefix?: string;
  /** Added to the agent's system message: how the tools belong together. */
  readonly instructions?: string;
}

/** Tools that belong together. */
export class Toolkit {
  constructor(readonly options: ToolkitOptions) {
    checkOptions(ownerOf('Toolkit', options), options, toolkitOptions);
    checkNames(options);
  }

  get name(): string {
    return this.options.name;
  }

  /** The tools of the kit among those of its entries, under their names outside of it. */
  select(inside: readonly Tool[]): readonly Tool[] {
    const { include, exclude, prefix = '' } = this.options;
    return inside
      .filter(({ name }) => include?.includes(name) ?? true)
      .filter(({ name }) => !exclude?.includes(name))
      .map((tool) => tool.named(prefix + tool.name));
  }
}

const toolSource = having<Pick<ToolSource, 'name' | 'tools' | 'close'>>('a tool source', {
  name: required(text),
  tools: required(callable),
  close: required(callable),
});

/** What an agent can be given as a tool, for the checks of options. */
export const toolEntry = {
  ...anyOf(instanceOf(Tool, 'a tool'), instanceOf(Toolkit, 'a toolkit'), toolSource),
  allowed: 'what tool(), toolkit(), mcpTools() or a function of runyard/tools made',
};

const toolkitOptions = objectOf<ToolkitOptions>({
  name: required(name),
  tools: required(listOf(toolEntry)),
  include: listOf(text),
  exclude: listOf(text),
  prefix: text,
  instructions: text,
});

export function toolkit(options: ToolkitOptions): Toolkit {
  return new Toolkit(options);
}

/** A misspelt name would leave a tool in that was to be left out. What a source has is not known here. */
function checkNames({ name, tools, include = [], exclude = [] }: ToolkitOptions): void {
  const fixed = fixedTools(tools);
  if (fixed === undefined) return;
  const known = new Set(fixed.map((tool) => tool.name));
  const unknown = [...include, ...exclude].filter((wanted) => !known.has(wanted));
  if (unknown.length > 0) {
    throw errors.invalidConfig(
      `Toolkit '${name}' has no tool '${unknown.join("', '")}'. It has: ${[...known].join(', ') || '(none)'}.`,
    );
  }
}

/** The tools of the entries; undefined where a source is among them. */
function fixedTools(entries: readonly ToolEntry[]): readonly Tool[] | undefined {
  const found: Tool[] = [];
  for (const entry of entries) {
    const inside = entry instanceof Toolkit ? fixedTools(entry.options.tools) : undefined;
    if (entry instanceof Tool) found.push(entry);
    else if (entry instanceof Toolkit && inside !== undefined) found.push(...entry.select(inside));
    else return undefined;
  }
  return found;
}
