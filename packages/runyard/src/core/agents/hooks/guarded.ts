import type { AgentSettings } from '../definition.js';

/** Whether a guardrail has the last word on the answer: then nothing of it is shown before the guardrail has spoken. */
export function isGuarded({ postHooks = [] }: AgentSettings): boolean {
  return postHooks.some((hook) => typeof hook === 'object' && hook.required === true);
}
