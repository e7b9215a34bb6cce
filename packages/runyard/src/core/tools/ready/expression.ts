/** Reads and computes arithmetic. It has its own grammar and no way out of it: no names but those below. */

const longestExpression = 1_000;
const deepestNesting = 100;
const largestFactorial = 170;

const constants: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
  ['tau', 2 * Math.PI],
]);

type NumberFunction = KnownFunction['compute'];

interface KnownFunction {
  /** As a method: it may take fewer arguments than a list has, and gets as many as `least` says. */
  compute(...values: number[]): number;
  readonly least: number;
  readonly most: number;
}

const oneArgument = (compute: NumberFunction): KnownFunction => ({ compute, least: 1, most: 1 });
const manyArguments = (compute: NumberFunction): KnownFunction => ({ compute, least: 1, most: 100 });

const plainFunctions = [
  ...(['abs', 'ceil', 'floor', 'sign', 'trunc', 'sqrt', 'cbrt', 'exp', 'log10', 'log2'] as const),
  ...(['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh'] as const),
];

const functions: ReadonlyMap<string, KnownFunction> = new Map([
  ...plainFunctions.map((name): [string, KnownFunction] => [name, oneArgument(Math[name])]),
  ['ln', oneArgument(Math.log)],
  ['log', { compute: logarithm, least: 1, most: 2 }],
  ['round', { compute: roundTo, least: 1, most: 2 }],
  ['factorial', oneArgument(factorial)],
  ['atan2', { compute: Math.atan2, least: 2, most: 2 }],
  ['pow', { compute: Math.pow, least: 2, most: 2 }],
  ['root', { compute: (value: number, degree: number) => value ** (1 / degree), least: 2, most: 2 }],
  ['mod', { compute: modulo, least: 2, most: 2 }],
  ['min', manyArguments(Math.min)],
  ['max', manyArguments(Math.max)],
  ['sum', manyArguments(sum)],
  ['mean', manyArguments((...values) => sum(...values) / values.length)],
  ['hypot', manyArguments(Math.hypot)],
  ['radians', oneArgument((degrees: number) => (degrees * Math.PI) / 180)],
  ['degrees', oneArgument((radians: number) => (radians * 180) / Math.PI)],
]);

/** Computes `2 * (3 + sqrt(16))`. Throws in words that a model can act on. */
export function evaluateExpression(text: string): number {
  if (text.length > longestExpression)
    throw new Error(`The expression has ${text.length} characters, the limit is ${longestExpression}.`);
  const value = new ExpressionReader(text).readAll();
  if (Number.isNaN(value))
    throw new Error('The result is not a number, such as a root of a negative number.');
  if (!Number.isFinite(value)) throw new Error('The result is too large, or a division by zero.');
  return value;
}

class ExpressionReader {
  #position = 0;
  #depth = 0;

  constructor(private readonly text: string) {}

  readAll(): number {
    const value = this.#sum();
    this.#skipSpace();
    if (this.#position < this.text.length) throw this.#unexpected('an operator');
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#take('+')) value += this.#product();
      else if (this.#take('-')) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#peek('**')) return value;
      if (this.#take('*') || this.#take('×')) value *= this.#signed();
      else if (this.#take('/') || this.#take('÷')) value = divide(value, this.#signed());
      else if (this.#take('%')) value = modulo(value, this.#signed());
      else return value;
    }
  }

  /** A sign binds weaker than a power: -2^2 is -4. */
  #signed(): number {
    return this.#nested(() => {
      if (this.#take('-')) return -this.#signed();
      if (this.#take('+')) return this.#signed();
      const base = this.#operand();
      return this.#take('**') || this.#take('^') ? base ** this.#signed() : base;
    });
  }

  #operand(): number {
    let value = this.#value();
    while (this.#take('!')) value = factorial(value);
    return value;
  }

  #value(): number {
    if (this.#take('(')) {
      const value = this.#sum();
      this.#expect(')');
      return value;
    }
    const digits = this.#match(/(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y);
    if (digits !== undefined) return Number(digits.replaceAll('_', ''));
    const name = this.#match(/[a-zA-Zπ][a-zA-Z0-9]*/y);
    if (name === undefined) throw this.#unexpected('a number, a name or (');
    return this.#named(name === 'π' ? 'pi' : name.toLowerCase());
  }

  #named(name: string): number {
    const known = functions.get(name);
    if (known !== undefined) return this.#call(name, known);
    const constant = constants.get(name);
    if (constant !== undefined) return constant;
    throw new Error(
      `There is no '${name}'. Functions: ${[...functions.keys()].join(', ')}. Constants: ${[...constants.keys()].join(', ')}.`,
    );
  }

  #call(name: string, { compute, least, most }: KnownFunction): number {
    this.#expect('(');
    const values = [this.#sum()];
    while (this.#take(',')) values.push(this.#sum());
    this.#expect(')');
    if (values.length < least || values.length > most) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      throw new Error(`${name}() takes ${wanted} values, not ${values.length}.`);
    }
    return compute(...values);
  }

  #nested(read: () => number): number {
    if (++this.#depth > deepestNesting)
      throw new Error(`The expression is nested more than ${deepestNesting} levels deep.`);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #take(symbol: string): boolean {
    if (!this.#peek(symbol)) return false;
    this.#position += symbol.length;
    return true;
  }

  #peek(symbol: string): boolean {
    this.#skipSpace();
    return this.text.startsWith(symbol, this.#position);
  }

  #expect(symbol: string): void {
    if (!this.#take(symbol)) throw this.#unexpected(symbol);
  }

  #match(pattern: RegExp): string | undefined {
    this.#skipSpace();
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.text)?.[0];
    this.#position += found?.length ?? 0;
    return found;
  }

  #skipSpace(): void {
    while (/\s/.test(this.text.charAt(this.#position))) this.#position += 1;
  }

  #unexpected(wanted: string): Error {
    const rest = this.text.slice(this.#position, this.#position + 20);
    const found = rest === '' ? 'the end' : `'${rest}'`;
    return new Error(`Expected ${wanted} at position ${this.#position + 1}, found ${found}.`);
  }
}

function divide(value: number, by: number): number {
  if (by === 0) throw new Error('Division by zero.');
  return value / by;
}

/** The remainder with the sign of the divisor, as on paper. */
function modulo(value: number, by: number): number {
  if (by === 0) throw new Error('Division by zero.');
  return value - by * Math.floor(value / by);
}

function factorial(value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > largestFactorial)
    throw new Error(`A factorial takes a whole number from 0 to ${largestFactorial}.`);
  let product = 1;
  for (let factor = 2; factor <= value; factor++) product *= factor;
  return product;
}

function logarithm(value: number, base = 10): number {
  return base === 10 ? Math.log10(value) : Math.log(value) / Math.log(base);
}

function roundTo(value: number, digits = 0): number {
  if (!Number.isInteger(digits) || Math.abs(digits) > 15)
    throw new Error('round() takes a whole number of digits from -15 to 15.');
  // Shifting by text avoids the error that a multiplication would add: round(1.005, 2) is 1.01.
  const [mantissa, exponent = '0'] = String(Math.abs(value)).split('e');
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  return Math.sign(value) * Number(`${shifted}e${-digits}`);
}

function sum(...values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
