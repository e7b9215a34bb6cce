/** The filter language of traces, as the service takes it. */
export type Expression =
  | { readonly op: 'AND' | 'OR'; readonly conditions: readonly Expression[] }
  | { readonly op: 'NOT'; readonly condition: Expression }
  | { readonly op: 'IN'; readonly key: string; readonly values: readonly Value[] }
  | { readonly op: Comparison; readonly key: string; readonly value: Value };

type Value = string | number;
type Comparison = 'EQ' | 'NEQ' | 'GT' | 'GTE' | 'LT' | 'LTE' | 'CONTAINS' | 'STARTSWITH';

export const operatorWords: Readonly<Record<string, string>> = {
  EQ: 'is',
  NEQ: 'is not',
  GT: 'is more than',
  GTE: 'is at least',
  LT: 'is less than',
  LTE: 'is at most',
  CONTAINS: 'contains',
  STARTSWITH: 'starts with',
  IN: 'is one of',
};

/** Reads an expression from JSON. Throws an error that says what is wrong. */
export function readExpression(text: string): Expression {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return checked(value, 'The filter');
}

function checked(value: unknown, place: string): Expression {
  if (!isObject(value)) throw new Error(`${place} must be an object with "op".`);
  const { op, key, condition, conditions, values } = value;
  if (op === 'AND' || op === 'OR') {
    if (!Array.isArray(conditions) || conditions.length === 0)
      throw new Error(`${place}: ${op} needs "conditions", a list with at least one expression.`);
    return { op, conditions: conditions.map((one, at) => checked(one, `Condition ${at + 1} of ${op}`)) };
  }
  if (op === 'NOT') return { op, condition: checked(condition, 'The condition of NOT') };
  if (typeof op !== 'string' || !(op in operatorWords))
    throw new Error(
      `${place}: "op" must be AND, OR, NOT or one of ${Object.keys(operatorWords).join(', ')}.`,
    );
  if (typeof key !== 'string' || key === '')
    throw new Error(`${place}: ${op} needs a "key", such as user_id.`);
  if (op === 'IN') {
    if (!Array.isArray(values) || values.length === 0 || !values.every(isValue))
      throw new Error(`${place}: IN needs "values", a list of texts or numbers.`);
    return { op, key, values };
  }
  if (!isValue(value.value)) throw new Error(`${place}: ${op} needs a "value", a text or a number.`);
  // the other operators were taken above
  return { op: op as Comparison, key, value: value.value };
}

/** One line for people: `user_id is "ada" and not (duration_ms is more than 60000)`. */
export function expressionInWords(expression: Expression, inner = false): string {
  if ('conditions' in expression) {
    const { op, conditions } = expression;
    const parts = conditions.map((one) => expressionInWords(one, conditions.length > 1));
    const words = parts.join(op === 'AND' ? ' and ' : ' or ');
    return inner && parts.length > 1 ? `(${words})` : words;
  }
  if ('condition' in expression) return `not ${expressionInWords(expression.condition, true)}`;
  const given = 'values' in expression ? expression.values : [expression.value];
  const words = given.map((value) => JSON.stringify(value)).join(', ');
  return `${expression.key} ${operatorWords[expression.op]} ${words}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isValue(value: unknown): value is Value {
  return typeof value === 'string' || typeof value === 'number';
}
