import { errors } from '../errors/errors.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import {
  anyOf,
  callable,
  flag,
  having,
  instanceOf,
  kind,
  listOf,
  name,
  objectOf,
  required,
  text,
} from '../options/kinds.js';
import { Tool } from './tool.js';
import { isToolComponent, plainEntry, type ToolComponent } from './tool-component.js';
import type { ToolSource } from './tool-source.js';

/** A tool, a kit of tools, or a source that is asked for each run. */
export type PlainToolEntry = Tool | Toolkit | ToolSource;

/** What an agent can be given as a tool. A component is the tool that its `asTool()` makes. */
export type ToolEntry = PlainToolEntry | ToolComponent;

/** Tools by the names that they have inside the kit, or all of them. */
type NamesOrAll = boolean | readonly string[];

export interface ToolkitOptions {
  readonly name: string;
  readonly tools: readonly ToolEntry[];
  /** Only these, by the names that they have inside the kit. */
  readonly include?: readonly string[];
  /** All but these. */
  readonly exclude?: readonly string[];
  /** Stands before the name of each tool. */
  readonly prefix?: string;
  /** A person has to agree to each call of these, or of all. */
  readonly requiresConfirmation?: NamesOrAll;
  /** The caller of the run executes the calls of these, or of all. */
  readonly externalExecution?: NamesOrAll;
  /** The run ends after a call of one of these, or of any. */
  readonly stopAfterCall?: NamesOrAll;
  /** The results of these, or of all, are also shown as a part of the answer. */
  readonly showResult?: NamesOrAll;
  /** Added to the agent's system message: how the tools belong together. */
  readonly instructions?: string;
}

const changing = ['requiresConfirmation', 'externalExecution', 'stopAfterCall', 'showResult'] as const;

/** Tools that belong together. */
export class Toolkit {
  private readonly changed = new WeakMap<Tool, Tool>();

  constructor(readonly options: ToolkitOptions) {
    checkOptions(ownerOf('Toolkit', options), options, toolkitOptions);
    const fixed = fixedTools(options.tools);
    if (fixed === undefined) return;
    this.checkNames(fixed);
    // what does not go together is refused here, not in the first run
    this.select(fixed);
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
      .map((tool) => this.withGates(tool).named(prefix + tool.name));
  }

  /** A misspelt name would leave a tool in that was to be left out, or let a call through that was to wait. */
  checkNames(inside: readonly Tool[]): void {
    const { name, include = [], exclude = [] } = this.options;
    const gated = changing.flatMap((setting) => namesIn(this.options[setting]));
    const known = new Set(inside.map((tool) => tool.name));
    const unknown = [...include, ...exclude, ...gated].filter((wanted) => !known.has(wanted));
    if (unknown.length > 0) {
      throw errors.invalidConfig(
        `Toolkit '${name}' has no tool '${unknown.join("', '")}'. It has: ${[...known].join(', ') || '(none)'}.`,
      );
    }
  }

  /** The tool with what the kit adds to it. A kit takes no gate away. */
  private withGates(tool: Tool): Tool {
    const added = changing.filter((setting) => isFor(tool, this.options[setting]));
    if (added.length === 0) return tool;
    const known =
      this.changed.get(tool) ?? tool.changed(Object.fromEntries(added.map((name) => [name, true])));
    this.changed.set(tool, known);
    return known;
  }
}

const toolSource = having<Pick<ToolSource, 'name' | 'tools' | 'close'>>('a tool source', {
  name: required(text),
  tools: required(callable),
  close: required(callable),
});

const made = 'what tool(), toolkit(), mcpTools() or a function of runyard/tools made';

/** A tool for those who have no run that a component could be a part of, for the checks of options. */
export const plainToolEntry = {
  ...anyOf(instanceOf(Tool, 'a tool'), instanceOf(Toolkit, 'a toolkit'), toolSource),
  allowed: made,
};

/** What an agent can be given as a tool, for the checks of options. */
export const toolEntry = {
  ...anyOf(kind('a component', isToolComponent), plainToolEntry),
  allowed: `${made}, or an agent, a team or a workflow`,
};

const namesOrAll = { ...anyOf(flag, listOf(text)), allowed: 'true or a list of names' };

const toolkitOptions = objectOf<ToolkitOptions>({
  name: required(name),
  tools: required(listOf(toolEntry)),
  include: listOf(text),
  exclude: listOf(text),
  prefix: text,
  requiresConfirmation: namesOrAll,
  externalExecution: namesOrAll,
  stopAfterCall: namesOrAll,
  showResult: namesOrAll,
  instructions: text,
});

export function toolkit(options: ToolkitOptions): Toolkit {
  return new Toolkit(options);
}

function namesIn(setting: NamesOrAll = false): readonly string[] {
  return typeof setting === 'boolean' ? [] : setting;
}

function isFor({ name }: Tool, setting: NamesOrAll = false): boolean {
  return typeof setting === 'boolean' ? setting : setting.includes(name);
}

/** The tools of the entries; undefined where a source is among them. */
function fixedTools(entries: readonly ToolEntry[]): readonly Tool[] | undefined {
  const found: Tool[] = [];
  for (const given of entries) {
    const entry = plainEntry(given);
    const inside = entry instanceof Toolkit ? fixedTools(entry.options.tools) : undefined;
    if (entry instanceof Tool) found.push(entry);
    else if (entry instanceof Toolkit && inside !== undefined) found.push(...entry.select(inside));
    else return undefined;
  }
  return found;
}
