import { describe, expect, it } from 'vitest';
import { RepeatedDelta } from './repeated-delta.js';

const chunk = (text: string, rest: object = {}) =>
  JSON.stringify({
    id: 'a',
    choices: [{ index: 0, delta: { content: text }, finish_reason: null }],
    ...rest,
  });

describe('RepeatedDelta', () => {
  it('knows nothing before it has learned', () => {
    expect(new RepeatedDelta('"content":"').textIn(chunk('x'))).toBeUndefined();
  });

  it('finds the text of chunks that are the same around it', () => {
    const repeated = new RepeatedDelta('"content":"');
    repeated.learn(chunk('Hello'), 'Hello');
    for (const text of [' world', '世界 🌍', '}', "it's", ' '])
      expect(repeated.textIn(chunk(text))).toBe(text);
  });

  it.each([
    ['a quotation mark', chunk('say "x"')],
    ['a line break', chunk('\n')],
    ['a backslash', chunk('\\')],
    ['no text', chunk('')],
    ['more around it', chunk('x', { usage: { prompt_tokens: 1 } })],
    ['another finish', chunk('x').replace('null', '"stop"')],
    ['two texts', chunk('x","more":"y')],
    ['less than what it learned', '{"id":"a"}'],
  ])('leaves a chunk with %s to the parser', (_, data) => {
    const repeated = new RepeatedDelta('"content":"');
    repeated.learn(chunk('Hello'), 'Hello');
    expect(repeated.textIn(data)).toBeUndefined();
  });

  it('learns nothing from a chunk whose text occurs twice, or is escaped', () => {
    const twice = { debug: { content: 'x' } };
    const repeated = new RepeatedDelta('"content":"');
    repeated.learn(chunk('x', twice), 'x');
    repeated.learn(chunk('a"b'), 'a"b');
    expect(repeated.textIn(chunk('x', twice))).toBeUndefined();
    expect(repeated.textIn(chunk('y'))).toBeUndefined();
  });
});
