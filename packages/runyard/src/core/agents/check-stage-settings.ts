import { errors } from '../errors.js';
import type { AgentSettings } from './definition.js';

/** Refuses numbers for which the stages of a run would not do what their settings say. */
export function checkStageSettings(agentId: string, settings: AgentSettings): void {
  const { reasoningMinSteps, reasoningMaxSteps, numFollowups, compressToolResultsAboveTokens } = settings;
  const { retries = 0, delayBetweenRetriesMs = 0 } = settings;
  if (!Number.isInteger(retries) || retries < 0)
    throw errors.invalidConfig(`Agent '${agentId}' has retries: ${retries}. Give a whole number, 0 or more.`);
  if (!(delayBetweenRetriesMs >= 0)) {
    throw errors.invalidConfig(
      `Agent '${agentId}' has delayBetweenRetriesMs: ${delayBetweenRetriesMs}. Give milliseconds, 0 or more.`,
    );
  }
  checkCount(agentId, 'reasoningMinSteps', reasoningMinSteps);
  checkCount(agentId, 'reasoningMaxSteps', reasoningMaxSteps);
  checkCount(agentId, 'numFollowups', numFollowups);
  checkCount(agentId, 'compressToolResultsAboveTokens', compressToolResultsAboveTokens);
  if ((reasoningMinSteps ?? 1) > (reasoningMaxSteps ?? Number.POSITIVE_INFINITY)) {
    throw errors.invalidConfig(
      `Agent '${agentId}' has reasoningMinSteps: ${reasoningMinSteps}, more than its reasoningMaxSteps: ${reasoningMaxSteps}.`,
    );
  }
}

function checkCount(agentId: string, name: string, count: number | undefined): void {
  if (count === undefined || (Number.isInteger(count) && count > 0)) return;
  throw errors.invalidConfig(`Agent '${agentId}' has ${name}: ${count}. Give a whole number above 0.`);
}
