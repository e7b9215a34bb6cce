import type { Json, JsonObject } from '../../json.js';
import { shown } from '../../options/faults.js';
import { flag, word } from '../../options/kinds.js';
import { compileExpression, Expression, type ExpressionPlace } from '../../workflows/definition/cel.js';
import { type ConfigKey, given, isAbsent, plain } from '../config-keys.js';
import type { Reading } from '../reading.js';
import { functionName } from '../values/named-values.js';
import type { Writing } from '../writing.js';

interface Decision {
  readonly key: string;
  readonly typeKey: string;
  readonly place: ExpressionPlace;
}

/** What decides which way a workflow takes: a function by its name, or a CEL text, as a second key says. */
export function decision({ key, typeKey, place }: Decision): ConfigKey {
  const types = word('function', 'cel');
  return {
    keys: [key, typeKey],
    read: (config, at) => {
      const type = plain(typeKey, types).read(config, at) ?? 'function';
      return given(config[key], (value) => {
        const there = at.within(key);
        return type === 'cel' ? expression(value, place, there) : functionName.read(value, there);
      });
    },
    write: (setting, at) => decisionKeys(setting, key, typeKey, at),
  };
}

/** The same for a condition, which may be a constant. */
export function evaluator({ key, typeKey, place }: Decision): ConfigKey {
  const chosen = decision({ key, typeKey, place });
  return {
    keys: [key, typeKey],
    read: (config, at) => {
      const { [key]: value, [typeKey]: type } = config;
      if (isAbsent(value))
        return at.within(key).fault('is missing. Give true, false, a function or a CEL text.');
      if (type !== 'bool' && (typeof value !== 'boolean' || !isAbsent(type))) return chosen.read(config, at);
      return at.within(key).checked(flag, value);
    },
    write: (setting, at) =>
      typeof setting === 'boolean' ? { [key]: setting, [typeKey]: 'bool' } : chosen.write(setting, at),
  };
}

const selecting = decision({ key: 'selector', typeKey: 'selector_type', place: 'router' });

/** Who chooses the way of a router: a function, an expression, or a person. */
export const selector: ConfigKey = {
  keys: ['selector', 'selector_type', 'requires_user_input'],
  read: (config, at) => {
    const asks = plain('requires_user_input', flag).read(config, at);
    const isGiven = !isAbsent(config.selector);
    if (asks === true && isGiven)
      return at.within('selector').fault('is given, although requires_user_input is true. Leave one out.');
    if (asks === true) return 'user';
    if (!isGiven)
      return at
        .within('selector')
        .fault('is missing. Give a function or a CEL text, or requires_user_input.');
    return selecting.read(config, at);
  },
  write: (setting, at) => (setting === 'user' ? { requires_user_input: true } : selecting.write(setting, at)),
};

function expression(value: Json, place: ExpressionPlace, at: Reading): string | undefined {
  if (typeof value !== 'string') return at.fault(`is ${shown(value)}. Give a CEL text.`);
  return at.made(() => compileExpression(value, place, 'The step').text);
}

function decisionKeys(setting: unknown, key: string, typeKey: string, at: Writing): JsonObject {
  if (setting instanceof Expression) return { [key]: setting.text, [typeKey]: 'cel' };
  const named = functionName.write(setting, at.within(key));
  return named === undefined ? {} : { [key]: named, [typeKey]: 'function' };
}
