import { isJsonObject, type Json, parseJson } from '../../json.js';
import type { InputFieldType } from '../../tools/questions/person-form.js';

type Fitted = { readonly fits: true; readonly value: Json } | { readonly fits: false };

const misfit: Fitted = { fits: false };

/** What a field of this type takes, in words. */
export const typeInWords: Readonly<Record<InputFieldType, string>> = {
  str: 'a text',
  int: 'a whole number',
  float: 'a number',
  bool: 'true or false',
  list: 'a list',
  dict: 'an object',
};

/** Reads a value as the type of its field asks. Forms send texts, so numerals and JSON texts are read as what they say. */
export function fitValue(type: InputFieldType, value: Json): Fitted {
  switch (type) {
    case 'str':
      return typeof value === 'string' ? fitted(value) : misfit;
    case 'int':
      return fittedIf(numberIn(value, /^[+-]?\d{1,16}$/), Number.isSafeInteger);
    case 'float':
      return fittedIf(numberIn(value, /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i), Number.isFinite);
    case 'bool':
      return booleanIn(value);
    case 'list':
      return fittedIf(parsed(value), Array.isArray);
    case 'dict':
      return fittedIf(parsed(value), isJsonObject);
  }
}

function fitted(value: Json): Fitted {
  return { fits: true, value };
}

function fittedIf(value: Json, fits: (value: unknown) => boolean): Fitted {
  return fits(value) ? fitted(value) : misfit;
}

/** No number needs more digits, and an expression overflows its stack over millions of them. */
const longestNumeral = 1_000;

function numberIn(value: Json, numeral: RegExp): Json {
  if (typeof value !== 'string' || value.length > longestNumeral) return value;
  return numeral.test(value.trim()) ? Number(value) : value;
}

function booleanIn(value: Json): Fitted {
  if (typeof value === 'boolean') return fitted(value);
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return word === 'true' || word === 'false' ? fitted(word === 'true') : misfit;
}

function parsed(value: Json): Json {
  if (typeof value !== 'string') return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}
