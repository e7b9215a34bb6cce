import { errors } from '../../errors/errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';

export interface ThinkingOptions {
  readonly thinking?: 'adaptive' | 'disabled' | { readonly budgetTokens: number };
  readonly parameters?: JsonObject;
}

/** `thinking` as the API takes it, given by the option or among the parameters. */
export function thinkingOf({ thinking, parameters }: ThinkingOptions): JsonObject | undefined {
  if (typeof thinking === 'object') return { type: 'enabled', budget_tokens: thinking.budgetTokens };
  if (thinking !== undefined) return { type: thinking };
  return isJsonObject(parameters?.thinking) ? parameters.thinking : undefined;
}

export function thinks(thinking: JsonObject | undefined): boolean {
  return thinking !== undefined && thinking.type !== 'disabled';
}

/** The budget of a model that thinks before every answer; those that decide for themselves have none. */
export function budgetOf(thinking: JsonObject | undefined): number | undefined {
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  return typeof budget === 'number' ? budget : undefined;
}

/** Refuses what the API would refuse in every request. */
export function checkBudget(
  thinking: JsonObject | undefined,
  parameters: JsonObject,
  maxTokens: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const budget = budgetOf(thinking);
  if (budget === undefined) return;
  const { temperature = 1, top_k, top_p, tool_choice } = parameters;
  const faults: string[] = [];
  if (temperature !== 1) faults.push('parameters.temperature must be 1 or left out');
  if (top_k !== undefined) faults.push('parameters.top_k must be left out');
  if (typeof top_p === 'number' && top_p < 0.95) faults.push('parameters.top_p must be at least 0.95');
  if (isJsonObject(tool_choice) && (tool_choice.type === 'any' || tool_choice.type === 'tool')) {
    faults.push('parameters.tool_choice must not force a call');
  }
  if (budget >= maxTokens && !thinksBetweenCalls(headers)) {
    faults.push(`maxTokens must be more than the budget of ${budget}, not ${maxTokens}`);
  }
  if (faults.length > 0) {
    throw errors.invalidConfig(`anthropic(): with a thinking budget, ${faults.join('; ')}.`);
  }
}

/** With this beta a budget is for all thoughts of a turn, and may be more than one answer takes. */
function thinksBetweenCalls(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'anthropic-beta' && value.includes('interleaved-thinking'),
  );
}
