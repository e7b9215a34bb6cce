import { describe, expect, it } from 'vitest';
import {
  byByte,
  callOf,
  delta,
  finish,
  modelWith,
  read,
  type Wire,
  whole,
} from '../../../../test/support/providers/chat-answers.js';
import { ask, open } from '../../../../test/support/providers/model-calls.js';

describe('the calls of an answer', () => {
  const streamed = (...fragments: Wire[][]) => [
    ...fragments.map((tool_calls) => delta({ tool_calls })),
    finish('tool_calls'),
  ];
  const cases: readonly (readonly [string, readonly object[], readonly (readonly [string, string])[]])[] = [
    [
      'begin without a name',
      streamed([{ index: 0, id: 'a', function: { arguments: '' } }], [callOf('a', '{"a":1}', { index: 0 })]),
      [['add', '{"a":1}']],
    ],
    [
      'have one id for all',
      streamed([callOf('a', '{"a":1}')], [callOf('a', '{"a":2}')]),
      [
        ['add', '{"a":1}'],
        ['add', '{"a":2}'],
      ],
    ],
    [
      'are sent once more as a whole',
      streamed(
        [callOf('a', '{"a"', { index: 0 })],
        [{ index: 0, function: { arguments: ':1}' } }],
        [callOf('a', '{"a":1}', { index: 0 })],
        [callOf('a', '', { index: 0 })],
      ),
      [['add', '{"a":1}']],
    ],
    [
      'have objects as arguments',
      streamed([callOf('a', { a: 1 }), callOf('b', { a: 2 })]),
      [
        ['add', '{"a":1}'],
        ['add', '{"a":2}'],
      ],
    ],
    [
      'are whole and all alike',
      [
        whole(
          { content: null, tool_calls: [callOf('', ''), callOf('', '')] },
          { finish_reason: 'tool_calls' },
        ),
      ],
      [
        ['add', ''],
        ['add', ''],
      ],
    ],
    [
      'are cut off by the token limit',
      [
        delta({ tool_calls: [callOf('a', '{"a":1}', { index: 0 }), callOf('b', '{"a":', { index: 1 })] }),
        finish('length'),
      ],
      [['add', '{"a":1}']],
    ],
    [
      'are cut off before their arguments',
      [
        delta({ tool_calls: [callOf('a', '', { index: 0 }), callOf('b', '', { index: 1 })] }),
        finish('length'),
      ],
      [['add', '']],
    ],
    [
      'are whole and cut off',
      [whole({ content: null, tool_calls: [callOf('a', '{"a":')] }, { finish_reason: 'length' })],
      [],
    ],
  ];

  it.each(cases)('that %s', async (_, events, calls) => {
    const [first] = events as readonly { choices?: readonly { message?: unknown }[] }[];
    const response = first?.choices?.[0]?.message
      ? await modelWith(async () => Response.json(first)).generate(ask(), open())
      : await read(byByte(events));
    expect(response.toolCalls.map((call) => [call.name, call.arguments])).toEqual(calls);
    expect(new Set(response.toolCalls.map(({ id }) => id))).not.toContain('');
    const cut =
      response.finishReason === 'length' ? 'The call of add was cut off and is not made.' : undefined;
    expect(response.finishMessage).toBe(cut);
  });
});
