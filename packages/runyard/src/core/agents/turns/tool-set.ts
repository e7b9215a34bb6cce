import { recordedStep } from '../../runs/context.js';
import { read } from '../../runs/journal/codec.js';
import { type CollectedTools, collectTools, toolSourcesOf } from '../../tools/collect-tools.js';
import type { Tool } from '../../tools/tool.js';
import type { ToolSource } from '../../tools/tool-source.js';
import type { RunValues } from '../context/run-values.js';
import { currentValues } from '../context/values-of-run.js';
import type { AgentExecution } from '../execution.js';
import { settingsInput, sourcesRecord } from '../journal-records.js';
import { withCallerTools } from './caller-tools.js';

type AskingRun = Pick<AgentExecution, 'agent' | 'context' | 'dependencies'>;

/** The tools of a run, and the optional sources that could not be asked for theirs. */
export interface ToolSet extends CollectedTools {
  readonly unavailable: readonly string[];
}

/**
 * The tools of one run: the agent's own, the built-in ones that its settings add, those of its sources and those of the
 * caller.
 */
export function toolSetOf(run: AskingRun): ToolSet | Promise<ToolSet> {
  const { agent, context } = run;
  const { tools, toolInstructions: instructions, toolEntries } = agent;
  const sources = toolSourcesOf(toolEntries);
  if (sources.length > 0 && context.replay === null) return withSources(run, sources);
  // a replay opens no connections
  for (const { name } of sources) context.replay?.leaveOut(`the tools of '${name}'`);
  return toolSet(run, { tools, instructions }, []);
}

async function withSources(run: AskingRun, sources: readonly ToolSource[]): Promise<ToolSet> {
  const { id, toolEntries } = run.agent;
  const unavailable: string[] = [];
  const values = await valuesFor(sources, run);
  const own = await collectTools(`Agent '${id}'`, toolEntries, async (source) => {
    const found = await toolsOf(source, run, values);
    if (found === undefined) unavailable.push(source.name);
    return found ?? [];
  });
  return toolSet(run, own, unavailable);
}

function toolSet({ context }: AskingRun, own: CollectedTools, unavailable: readonly string[]): ToolSet {
  const { tools, instructions } = withCallerTools(own, context.options.callerInput?.tools);
  return { tools, instructions, unavailable };
}

export const sourcesKey = 'sources';

/**
 * What sources are asked with. For those that read it, it is recorded: a tool may have changed the state before an
 * execution after a crash asks again, and the headers of a server would be those of another run.
 */
async function valuesFor(sources: readonly ToolSource[], run: AskingRun): Promise<RunValues> {
  const { agent, context, dependencies } = run;
  const now = { ...currentValues(agent, context), dependencies };
  if (!sources.some(({ readsRun }) => readsRun === true)) return now;
  const { state, metadata } = now;
  const input = { state, dependencies, metadata };
  const spec = { kind: 'hook', name: sourcesKey, record: sourcesRecord, input } as const;
  await context.step(sourcesKey, spec, async () => ({}));
  return { ...now, ...read(recordedStep(context, sourcesKey), settingsInput) };
}

/** Optional sources that could not be asked last time, and whose outage was logged. */
const missed = new WeakSet<ToolSource>();

/** The tools of a source; undefined for an optional one that cannot be asked. */
async function toolsOf(
  source: ToolSource,
  { context }: AskingRun,
  values: RunValues,
): Promise<readonly Tool[] | undefined> {
  const { signal, log } = context;
  // what a run that is over opened would stay open
  signal.throwIfAborted();
  try {
    const tools = await context.callApplication(source.name, () => source.tools(signal, log, values));
    missed.delete(source);
    return tools;
  } catch (error) {
    signal.throwIfAborted();
    if (source.optional !== true) throw error;
    const facts = { err: error, source: source.name, runId: context.run.runId };
    if (!missed.has(source))
      log.warn(facts, 'an optional source of tools is unavailable; runs continue without it');
    missed.add(source);
    return undefined;
  }
}
