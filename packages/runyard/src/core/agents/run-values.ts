import type { Json, JsonObject } from '../json.js';
import type { RunContext } from '../runs/context.js';
import type { AgentDefinition } from './definition.js';

/** What functions of an agent's definition are told about the run. */
export interface RunValues {
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  readonly state: JsonObject;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
}

export type DependencyValue = Json | ((run: Omit<RunValues, 'dependencies'>) => Json | Promise<Json>);

export type InstructionsFunction = (
  run: RunValues,
) => string | readonly string[] | Promise<string | readonly string[]>;

/** The dependencies of a run: the agent's own, functions called, with the caller's over them. */
export async function dependenciesOf(agent: AgentDefinition, context: RunContext): Promise<JsonObject> {
  return { ...(agent.settings.dependencies as JsonObject), ...context.run.input.options.dependencies };
}
