import type { Model } from '../../models/model.js';
import { type ModelLike, resolveModel } from '../../models/resolve.js';
import type { AgentSettings } from '../definition.js';
import type { AgentExecution } from '../execution.js';

const resolved = new WeakMap<AgentSettings, Map<string, Model>>();

/** The model of a stage: the one that the settings name for it, or else the agent's. A name is resolved once. */
export function stageModel(
  { agent, model }: Pick<AgentExecution, 'agent' | 'model'>,
  given: ModelLike | undefined,
): Model {
  if (given === undefined) return model;
  if (typeof given !== 'string') return resolveModel(given);
  const models = resolved.get(agent.settings) ?? new Map<string, Model>();
  resolved.set(agent.settings, models);
  const known = models.get(given) ?? resolveModel(given);
  models.set(given, known);
  return known;
}
