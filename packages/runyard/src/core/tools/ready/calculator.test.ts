import { describe, expect, it } from 'vitest';
import { callTool } from '../../../../test/tools/tool-call.js';
import { calculator } from './calculator.js';

const compute = (expression: string) => callTool(calculator(), { expression });

describe('calculator', () => {
  it.each([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['2 ^ 3 ^ 2', '512'],
    ['2**10', '1024'],
    ['-2^2', '-4'],
    ['(-2)^2', '4'],
    ['2 * -3', '-6'],
    ['2^-1', '0.5'],
    ['--5', '5'],
    ['0.1 + 0.2', '0.3'],
    ['10 / 4', '2.5'],
    ['7 % 3', '1'],
    ['-7 % 3', '2'],
    ['5!', '120'],
    ['3!!', '720'],
    ['1_000_000 * 3', '3000000'],
    ['1.5e3', '1500'],
    ['.5 + 5.', '5.5'],
    ['sqrt(16) + abs(-2)', '6'],
    ['round(1.005, 2)', '1.01'],
    ['round(-2.5)', '-3'],
    ['round(1234, -2)', '1200'],
    ['log(1000)', '3'],
    ['log(8, 2)', '3'],
    ['ln(e)', '1'],
    ['SIN(pi / 2)', '1'],
    ['max(1, 5, 3) - min(4, 2)', '3'],
    ['mean(1, 2, 3)', '2'],
    ['6 ÷ 2 × 3', '9'],
    ['9007199254740991', '9007199254740991'],
    ['1/3', '0.333333333333333'],
  ])('computes %s', async (expression, result) => {
    expect(await compute(expression)).toMatchObject({ content: result, error: false });
  });

  it.each([
    ['1 / 0', 'Division by zero'],
    ['5 % 0', 'Division by zero'],
    ['2 +', 'found the end'],
    ['2 3', "Expected an operator at position 3, found '3'"],
    ['(1', 'Expected )'],
    ['', 'found the end'],
    ['sqrt(-1)', 'not a number'],
    ['9^9^9', 'too large'],
    ['171!', 'from 0 to 170'],
    ['0.5!', 'whole number'],
    ['sqrt(1, 2)', 'takes 1 values, not 2'],
    ['process.exit()', "There is no 'process'"],
    ['constructor', "There is no 'constructor'"],
    ['__proto__', 'Expected a number'],
    ['sin', 'Expected ('],
    ['1;2', 'Expected an operator'],
    ['('.repeat(500), 'levels deep'],
    ['-'.repeat(900), 'levels deep'],
    ['1+'.repeat(600), 'the limit is 1000'],
  ])('refuses %s', async (expression, message) => {
    const outcome = await compute(expression);
    expect(outcome.error).toBe(true);
    expect(outcome.content).toContain(message);
  });
});
