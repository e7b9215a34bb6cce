import { expect, it } from 'vitest';
import {
  chunk,
  geminiId,
  stopped,
  streamed,
  whole,
} from '../../../../test/support/providers/gemini-calls.js';
import { cutAnywhere, secret } from '../../../../test/support/providers/model-calls.js';
import { plainEvents } from '../../../../test/support/providers/model-server.js';
import { parseArguments } from '../../tools/call/parse-arguments.js';
import { gemini } from './gemini.js';

const begin = (name: string, rest: object = {}) => ({ functionCall: { name, willContinue: true, ...rest } });
const more = (partialArgs: object[], rest: object = {}) => ({
  functionCall: { partialArgs, willContinue: true, ...rest },
});
const end = { functionCall: {} };
const word = (jsonPath: string, stringValue: string, willContinue?: boolean) => ({
  jsonPath,
  stringValue,
  ...(willContinue && { willContinue }),
});

/** Names and arguments of the calls in a stream with one part in each event. */
async function callsIn(parts: object[], finish: object = stopped) {
  const { toolCalls } = await streamed([...parts.map((part) => chunk([part])), chunk([], finish)]);
  return toolCalls.map(({ name, arguments: text }) => [name, text]);
}

it('assembles values at nested paths, and strings that come in pieces', async () => {
  const calls = await callsIn([
    begin('book'),
    more([word('$.city', 'New ', true)]),
    more([word('$.city', 'Delhi', true)]),
    more([word('$.city', ''), { jsonPath: '$.nights', numberValue: 2 }]),
    more([{ jsonPath: '$.guests[0].child', boolValue: false }]),
    more([{ jsonPath: '$.guests[0].note', nullValue: 'NULL_VALUE' }]),
    more([word('$.guests[1].names[0]', 'Ann'), word('$.guests[1].names[1]', 'Bo')]),
    more([word(`$['odd.key']["it's \\"so\\" \\u00e9"]`, 'yes'), word(`$['odd.key']['it\\'s']`, 'too')]),
    end,
  ]);
  expect(calls).toEqual([['book', expect.any(String)]]);
  expect(JSON.parse(calls[0]![1]!)).toEqual({
    city: 'New Delhi',
    nights: 2,
    guests: [{ child: false, note: null }, { names: ['Ann', 'Bo'] }],
    'odd.key': { 'it\'s "so" é': 'yes', "it's": 'too' },
  });
});

it.each([
  [
    'one after the other',
    [begin('a'), more([word('$.x', '1')]), end, begin('a'), more([word('$.x', '2')]), end],
  ],
  [
    'by their ids',
    [
      begin('a', { id: '1' }),
      begin('a', { id: '2' }),
      more([word('$.x', '2')], { id: '2' }),
      more([word('$.x', '1')], { id: '1' }),
      { functionCall: { id: '2' } },
      end,
    ],
  ],
  [
    'each named again',
    [
      begin('a', { id: '1' }),
      more([word('$.x', '1')], { name: 'a', id: '1' }),
      end,
      begin('a'),
      more([word('$.x', '2')], { name: 'a' }),
      end,
    ],
  ],
  [
    'marked as continued by their values alone',
    [
      { functionCall: { name: 'a', partialArgs: [word('$.x', '', true)] } },
      { functionCall: { partialArgs: [word('$.x', '1')] } },
      { functionCall: { name: 'a', args: { x: '2' } } },
    ],
  ],
])('keeps several calls apart: %s', async (_, parts) => {
  expect(await callsIn(parts)).toEqual([
    ['a', '{"x":"1"}'],
    ['a', '{"x":"2"}'],
  ]);
});

it('keeps the signature and the id of a call that comes in parts', async () => {
  const parts = [{ ...begin('a', { id: 'fc-1' }), thoughtSignature: 'SIG' }, more([word('$.x', '1')]), end];
  const { toolCalls, providerData } = await streamed([chunk(parts, stopped)]);
  expect(toolCalls).toEqual([{ id: 'fc-1', name: 'a', arguments: '{"x":"1"}' }]);
  expect(providerData?.layout).toMatchObject({
    pieces: [{ call: 'fc-1', data: { id: true, signature: 'SIG' } }],
  });
});

it.each([
  ['a prototype', '$.__proto__.polluted'],
  ['a constructor', "$['constructor']['prototype']['polluted']"],
])('a path to %s is a path like any other', async (_, jsonPath) => {
  const [[, text] = []] = await callsIn([begin('a'), more([word(jsonPath, 'yes')]), end]);
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
  expect(text).toContain('"polluted":"yes"');
});

it.each([
  ['a huge index', '$.list[999999999]'],
  ['an index with too many digits', '$.list[4294967294000]'],
  ['a step that is not of one value', '$.list[*]'],
  ['no root', 'list'],
  ['the root itself', '$'],
  ['a value inside a text', '$.text.length'],
  ['thousands of levels', `$${'.a'.repeat(50_000)}`],
])('a call with %s in a path does not reach its tool', async (_, jsonPath) => {
  const [[, text = ''] = []] = await callsIn([
    begin('a'),
    more([word('$.text', 'x'), word(jsonPath, 'y')]),
    end,
  ]);
  expect(parseArguments(text).ok).toBe(false);
});

it.each([
  ['in a value', [begin('a'), more([word('$.x', 'half', true)])]],
  ['between values', [begin('a'), more([word('$.x', 'whole')])]],
  ['after its name', [begin('a')]],
  ['before its arguments', [{ functionCall: { name: 'a' } }]],
  ['with empty arguments', [{ functionCall: { name: 'a', args: {} } }]],
])('a call that the token limit cuts off %s does not reach its tool', async (_, parts) => {
  const response = await streamed([chunk(parts, { finishReason: 'MAX_TOKENS' })]);
  expect(response.finishReason).toBe('length');
  expect(response.toolCalls.map((call) => parseArguments(call.arguments).ok)).toEqual([false]);
});

it('a call that was complete before the limit is made', async () => {
  const call = { functionCall: { name: 'now' } };
  const { toolCalls } = await whole(chunk([call, { text: 'And' }], { finishReason: 'MAX_TOKENS' }));
  expect(toolCalls).toMatchObject([{ name: 'now', arguments: '{}' }]);
});

it('is the same whichever byte the stream is cut at', async () => {
  const parts = [begin('a', { id: '1' }), more([word('$.é', '世', true)]), more([word('$.é', '🌍')]), end];
  const raw = plainEvents([{ candidates: [{ content: { parts }, ...stopped }] }]);
  for (const result of await cutAnywhere(raw, (fetch) => gemini({ id: geminiId, apiKey: secret, fetch }))) {
    expect(result.response.toolCalls).toEqual([{ id: '1', name: 'a', arguments: '{"é":"世🌍"}' }]);
  }
});
