import { errors } from '../errors.js';
import { storable } from '../storable-json.js';
import type { AgentSettings } from './definition.js';
import { checkLearning } from './learning/learning-settings.js';

/** Refuses numbers for which the stages of a run would not do what their settings say. `owner` as in `Agent 'bank'`. */
export function checkStageSettings(owner: string, settings: AgentSettings): void {
  const { reasoningMinSteps, reasoningMaxSteps, numFollowups, compressToolResultsAboveTokens } = settings;
  const { retries = 0, delayBetweenRetriesMs = 0 } = settings;
  if (!Number.isInteger(retries) || retries < 0)
    throw errors.invalidConfig(`${owner} has retries: ${retries}. Give a whole number, 0 or more.`);
  if (!(delayBetweenRetriesMs >= 0)) {
    throw errors.invalidConfig(
      `${owner} has delayBetweenRetriesMs: ${delayBetweenRetriesMs}. Give milliseconds, 0 or more.`,
    );
  }
  checkStorable(owner, settings);
  checkLearning(owner, settings);
  checkCount(owner, 'reasoningMinSteps', reasoningMinSteps);
  checkCount(owner, 'reasoningMaxSteps', reasoningMaxSteps);
  checkCount(owner, 'numFollowups', numFollowups);
  checkCount(owner, 'numMemoriesInContext', settings.numMemoriesInContext);
  checkCount(owner, 'compressToolResultsAboveTokens', compressToolResultsAboveTokens);
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
      throw errors.invalidConfig(`${owner}: ${(error as Error).message}`);
    }
  }
}

function checkCount(owner: string, name: string, count: number | undefined): void {
  if (count === undefined || (Number.isInteger(count) && count > 0)) return;
  throw errors.invalidConfig(`${owner} has ${name}: ${count}. Give a whole number above 0.`);
}

export function checkTimezone(owner: string, timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw errors.invalidConfig(
      `${owner} has the time zone '${timezone}', which does not exist. Give a name such as 'Europe/Paris'.`,
    );
  }
}
