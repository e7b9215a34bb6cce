import { expect, test } from 'vitest';
import { closedJson } from './partial-json.js';

const whole =
  '{"name":"A \\"b\\" \\u00e9","tags":["x",{"n":-1.5e3}],"ok":true,"none":null,"nested":{"a":[[]]}}';

test('every beginning of a JSON text can be read, and holds more than the one before', () => {
  let before = 0;
  for (let length = 1; length <= whole.length; length += 1) {
    const closed = closedJson(whole.slice(0, length)) ?? '';
    const size = JSON.stringify(JSON.parse(closed)).length;
    expect(size, whole.slice(0, length)).toBeGreaterThanOrEqual(before - 3);
    before = size;
  }
  expect(closedJson(whole)).toBe(whole);
});

test.each([
  ['', undefined],
  ['Here it is: ', undefined],
  ['```json\n{"a":"b', '{"a":"b"}'],
  ['{"a":1', '{}'],
  ['{"a":12,', '{"a":12}'],
  ['{"a":tr', '{}'],
  ['{"a":"x","b', '{"a":"x"}'],
  ['{"a":"x","b":', '{"a":"x"}'],
  ['{"a":"x\\u00', '{"a":"x"}'],
  ['{"a":"x\\', '{"a":"x"}'],
  ['[{"a":[1, 2', '[{"a":[1]}]'],
  ['{"a":1} and more {', '{"a":1}'],
  ['{"a":]', undefined],
  [`${'['.repeat(65)}`, undefined],
])('%j is read as %j', (text, closed) => {
  expect(closedJson(text)).toBe(closed);
});
