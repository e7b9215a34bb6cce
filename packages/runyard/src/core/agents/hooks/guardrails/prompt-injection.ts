import { native } from '../../../native-code.js';
import { checkOptions } from '../../../options/check-options.js';
import { anyOf, instanceOf, listOf, name, objectOf } from '../../../options/kinds.js';
import { type Guardrail, GuardrailRefusal } from '../hook.js';
import { textsIn } from './texts.js';

const orders = 'instructions?|rules?|prompts?|guidelines?|directives?';
const strong = 'all|any|every|your|previous|prior|above|earlier|preceding|former|these|those';
const limits = 'rules?|restrictions?|limits?|limitations?|filters?|guidelines?|guardrails?|safeguards?';

/**
 * Ways to talk a model out of its instructions. They are matched against lower-case text with single blanks. Each
 * takes time that grows with the length of the text only.
 */
export const promptInjectionPatterns: readonly RegExp[] = [
  new RegExp(
    `\\b(?:ignore|disregard|forget|override|overrule|neglect) (?:(?:the|my|of) ){0,2}(?:${strong}) (?:(?:${strong}|the|my|of) ){0,4}(?:system )?(?:${orders})\\b`,
  ),
  /\b(?:ignore|disregard|forget) (?:everything|anything|what) (?:above|before|you (?:were|have been|are) told|i said)\b/,
  /\b(?:reveal|show|print|repeat|output|display|leak|tell me|give me|what (?:is|are)) (?:me )?(?:your|the) (?:hidden |secret |full |exact |original |initial |entire ){0,3}(?:system prompts?|system messages?|system instructions|initial (?:prompt|instructions)|hidden (?:prompt|instructions))\b/,
  new RegExp(
    `\\b(?:bypass|disable|turn off|switch off|deactivate|circumvent|get around) (?:(?:all|any|the|of) ){0,3}(?:your (?:safety |content |security )?(?:${limits}|safety|moderation)|(?:safety|content|security) (?:${limits}))\\b`,
  ),
  new RegExp(
    `\\b(?:you (?:have|are bound by)|pretend (?:you have|there are)|act as if you had|respond with|answer with) no (?:more )?(?:ethical |moral |content |safety )?(?:${limits})\\b`,
  ),
  /\byou are (?:now |no longer )(?:dan\b|an? unrestricted|an? unfiltered|jailbroken|in (?:developer|debug|god|admin) mode|bound by)/,
  /\b(?:enable|enter|activate|switch to) (?:the )?(?:developer|debug|god|dan|jailbreak|unrestricted) mode\b/,
  /\bdo anything now\b/,
  /\bjail ?break(?:ing|ed)? (?:yourself|mode|prompt|this|the (?:model|assistant))\b/,
  /<\|(?:im_start|im_end|system|endoftext|start_header_id)\|>|<<sys>>|\[\/?inst\]|<\/?system>/,
  /(?:^|[.!?:#-] ?)(?:new|updated|real) (?:system )?(?:instructions|prompt) ?:/,
];

export interface PromptInjectionOptions {
  /**
   * What to look for instead of `promptInjectionPatterns`: a text is found in any case, an expression is matched
   * against lower-case text with single blanks.
   */
  readonly patterns?: readonly (string | RegExp)[];
}

const promptInjectionOptions = objectOf<PromptInjectionOptions>({
  patterns: listOf(anyOf(name, instanceOf(RegExp, 'a regular expression')), 1),
});

/** Refuses input that tries to talk the model out of its instructions. Patterns stop the plain attempts only. */
export function promptInjectionGuardrail(options: PromptInjectionOptions = {}): Guardrail {
  checkOptions('promptInjectionGuardrail()', options, promptInjectionOptions);
  const { patterns = promptInjectionPatterns } = options;
  const lowered = patterns.map((pattern) => (typeof pattern === 'string' ? normal(pattern) : pattern));
  return native({
    name: 'prompt_injection_guardrail',
    required: true,
    async run({ content }) {
      for (const text of textsIn(content)) {
        const plain = normal(text);
        if (lowered.some((pattern) => found(plain, pattern))) {
          throw new GuardrailRefusal('The text tries to change the instructions of the agent.', {
            trigger: 'prompt_injection',
          });
        }
      }
      return undefined;
    },
  });
}

function found(text: string, pattern: string | RegExp): boolean {
  return typeof pattern === 'string' ? text.includes(pattern) : text.search(pattern) !== -1;
}

/** Lower case, without the marks that only hide a word from a pattern. */
function normal(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/g, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[\u2018\u2019]/g, "'");
}
