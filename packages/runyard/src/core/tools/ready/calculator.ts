import { z } from 'zod';
import { type Tool, tool } from '../tool.js';
import { evaluateExpression } from './expression.js';

/** Arithmetic for models, which are bad at it. Nothing is ever evaluated as code. */
export function calculator(): Tool {
  return tool({
    name: 'calculate',
    description:
      'Compute an arithmetic expression exactly. Use it for every calculation. Operators: + - * / % ^ ! and parentheses. Functions such as sqrt, log, ln, sin, round(x, digits), min, max, mean. Constants: pi, e.',
    inputSchema: z.object({
      expression: z.string().describe('The expression, e.g. "round(1299 * 1.19 / 12, 2)"'),
    }),
    readOnly: true,
    execute: ({ expression }) => withoutNoise(evaluateExpression(expression)),
  });
}

/** 0.1 + 0.2 is 0.3: the last digits of a binary fraction are noise. Whole numbers that are exact stay as they are. */
function withoutNoise(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(15)));
}
