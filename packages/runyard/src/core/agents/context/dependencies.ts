import { reasonOf } from '../../errors/reason.js';
import type { JsonObject } from '../../json.js';
import type { RunContext } from '../../runs/context.js';
import { RunFailed } from '../../runs/executable.js';
import { storable } from '../../storable-json.js';
import type { AgentDefinition } from '../definition.js';
import { dependenciesRecord } from '../journal-records.js';
import type { DependencyValue, RunValues } from './run-values.js';
import { currentValues } from './values-of-run.js';

/** The dependencies of a run: the agent's own, functions called, with the caller's over them. */
export function dependenciesOf(
  agent: Pick<AgentDefinition, 'settings'>,
  context: RunContext,
): JsonObject | Promise<JsonObject> {
  const given = context.options.dependencies ?? {};
  const { dependencies } = agent.settings;
  if (dependencies === undefined) return { ...given };
  const values: JsonObject = {};
  const functions: DependencyFunction[] = [];
  for (const [name, value] of Object.entries(dependencies)) {
    if (Object.hasOwn(given, name)) continue;
    if (typeof value === 'function') functions.push([name, value]);
    else values[name] = value;
  }
  if (functions.length === 0) return { ...values, ...given };
  return context
    .step('dependencies', { kind: 'hook', name: 'dependencies', record: dependenciesRecord }, ({ signal }) =>
      callAll(context, functions, { ...currentValues(agent, context), signal }),
    )
    .then((resolved) => ({ ...values, ...resolved, ...given }));
}

/** What a function of the application failed with, as the end of the run. */
export function applicationFailure(type: string, what: string, error: unknown): RunFailed {
  return new RunFailed({ type, message: `${what} failed: ${reasonOf(error)}` }, { cause: error });
}

type DependencyFunction = readonly [
  name: string,
  resolve: Extract<DependencyValue, (...args: never[]) => unknown>,
];

async function callAll(
  context: RunContext,
  functions: readonly DependencyFunction[],
  run: Omit<RunValues, 'dependencies'>,
): Promise<JsonObject> {
  const resolved = await Promise.all(
    functions.map(async ([name, resolve]) => {
      try {
        // as it will be read back from the journal: a function that finds nothing leaves its key unknown
        const value = await context.callApplication(name, () => resolve(run));
        return value === undefined ? [] : [[name, storable(value, 'it returned a value that')] as const];
      } catch (error) {
        throw applicationFailure('dependency_error', `The dependency '${name}'`, error);
      }
    }),
  );
  return Object.fromEntries(resolved.flat());
}
