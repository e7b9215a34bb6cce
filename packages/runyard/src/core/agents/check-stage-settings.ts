import { errors } from '../errors/errors.js';
import { thrownError } from '../errors/thrown-error.js';
import { storable } from '../storable-json.js';
import type { AgentSettings } from './definition.js';
import { checkKnowledgeUse } from './knowledge/knowledge-use.js';
import { checkLearning } from './learning/learning-settings.js';
import { checkWorkingMemory } from './working-memory/working-memory-settings.js';

/** Refuses settings that do not go together, and what the runs could not store. `owner` as in `Agent 'bank'`. */
export function checkStageSettings(owner: string, settings: AgentSettings): void {
  const { reasoningMinSteps, reasoningMaxSteps } = settings;
  checkStorable(owner, settings);
  checkLearning(owner, settings);
  checkWorkingMemory(owner, settings);
  checkKnowledgeUse(owner, settings);
  if ((reasoningMinSteps ?? 1) > (reasoningMaxSteps ?? Number.POSITIVE_INFINITY)) {
    throw errors.invalidConfig(
      `${owner} has reasoningMinSteps: ${reasoningMinSteps}, more than its reasoningMaxSteps: ${reasoningMaxSteps}.`,
    );
  }
}

/** These are stored with every run: what cannot be stored would fail each of them. */
function checkStorable(owner: string, { sessionState, metadata, dependencies = {} }: AgentSettings): void {
  const values = Object.entries(dependencies).filter(([, value]) => typeof value !== 'function');
  const given = { sessionState, metadata, dependencies: Object.fromEntries(values) };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    try {
      storable(value, name);
    } catch (error) {
      throw errors.invalidConfig(`${owner}: ${thrownError(error).message}`);
    }
  }
}
