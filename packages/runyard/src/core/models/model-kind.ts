import { fieldsOf } from '../objects.js';
import { check, isObject, within } from '../options/faults.js';
import type { Optional } from '../options/kind.js';
import { kind, text } from '../options/kinds.js';
import { isAiSdkModel } from './ai-sdk/types.js';
import { checkedName } from './name-kind.js';
import { knownProviders } from './providers.js';

/** Whatever names or is a model. */
export const model: Optional = {
  allowed: "a model, or the name of one such as 'offline' or 'openai:gpt-5-mini'",
  takes: (value) => (typeof value === 'string' ? value.trim() !== '' : isModel(value) || isAiSdkModel(value)),
  inside: (value, path, faults) => {
    if (typeof value === 'string') return checkName(value, path, faults);
    for (const [name, fact] of Object.entries(isModel(value) ? facts : factsOfAiSdk))
      check(fact, fieldsOf(value)[name], within(path, name), faults);
  },
};

const checkName = checkedName(knownProviders, ['offline', 'ai-sdk']);

const provider = kind("a text that says who serves the model, such as 'OpenAI'", text.takes);

/** What each run needs to know about its model besides its id: a part of what is stored, counted and traced. */
const facts = {
  provider,
  name: kind("a text that names the adapter, such as 'OpenAICompatible'", text.takes),
  capabilities: kind('an object that says what the model can do', isObject),
};

/** The same of a model of the AI SDK, which has other names there. */
const factsOfAiSdk = {
  provider,
  modelId: kind("a text that names the model, such as 'gpt-5-mini'", text.takes),
};

function isModel(value: unknown): boolean {
  const { id, generate, stream } = fieldsOf(value);
  return typeof id === 'string' && typeof generate === 'function' && typeof stream === 'function';
}
