/** `runyard/guardrails`: hooks that are ready to use. */
export {
  type ModerationOptions,
  moderationGuardrail,
} from './core/agents/hooks/guardrails/moderation.js';
export {
  type PersonalDataKind,
  type PersonalDataOptions,
  personalDataGuardrail,
} from './core/agents/hooks/guardrails/personal-data.js';
export {
  type PromptInjectionOptions,
  promptInjectionGuardrail,
  promptInjectionPatterns,
} from './core/agents/hooks/guardrails/prompt-injection.js';
