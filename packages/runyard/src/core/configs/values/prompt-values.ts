import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { fieldsOf } from '../../objects.js';
import { shown } from '../../options/faults.js';
import { anyOf, listOf, text } from '../../options/kinds.js';
import type { ConfigValue } from '../config-keys.js';
import { functionReference, isFunctionReference } from './named-values.js';

const texts = { ...anyOf(text, listOf(text)), allowed: 'a text or a list of texts' };

/** A text, a list of texts, or a function that makes them. */
export const instructions: ConfigValue = {
  read: (value, at) =>
    isFunctionReference(value) ? functionReference.read(value, at) : at.checked(texts, value),
  // a text or a list of texts where it is no function
  write: (setting, at) =>
    typeof setting === 'function' ? functionReference.write(setting, at) : (setting as Json),
};

/** Values, and functions that are called for each run. */
export const dependencies: ConfigValue = {
  read: (value, at) => {
    if (!isJsonObject(value)) return at.fault(`is ${shown(value)}. Give an object.`);
    const read = Object.entries(value).map(([name, one]) => [
      name,
      isFunctionReference(one) ? functionReference.read(one, at.within(name)) : one,
    ]);
    return Object.fromEntries(read);
  },
  write: (setting, at) => {
    const written: JsonObject = {};
    for (const [name, value] of Object.entries(fieldsOf(setting))) {
      // what is no function is data: the definition of the component has checked that it can be stored
      const one =
        typeof value === 'function' ? functionReference.write(value, at.within(name)) : (value as Json);
      if (one === undefined) continue;
      if (typeof value !== 'function' && isFunctionReference(one))
        at.within(name).fault(
          'has the key $function, by which configurations name functions. Use another key.',
        );
      else written[name] = one;
    }
    return written;
  },
};
