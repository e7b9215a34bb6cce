import type { AgentSettings } from '../definition.js';

/** Whether a guardrail checks the answer: then nothing of it is shown before that check. */
export function isGuarded({ postHooks = [] }: AgentSettings): boolean {
  return postHooks.some((hook) => typeof hook === 'object' && hook.required === true);
}
