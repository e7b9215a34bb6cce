import { describe, expect, it } from 'vitest';
import {
  block,
  citation,
  delta,
  end,
  found,
  modelFor,
  search,
  searchCall,
  sent,
  start,
  stop,
  stream,
  text,
  thought,
  whole,
  wholeText,
  words,
} from '../../../../test/support/providers/anthropic-wire.js';
import { ask, collect, joined, kept, message, open } from '../../../../test/support/providers/model-calls.js';

describe('what Anthropic counts', () => {
  it.each([
    ['a compaction', { input_tokens: 23, output_tokens: 10 }, {}, 203, 45],
    [
      'a compaction and the cache',
      { input_tokens: 23, output_tokens: 10, cache_read_input_tokens: 5 },
      { cache_read_input_tokens: 7 },
      215,
      45,
    ],
  ])('sums up the iterations of %s, each token once', async (_, usage, compacted, input, output) => {
    const iterations = [
      { type: 'compaction', input_tokens: 180, output_tokens: 35, ...compacted },
      { type: 'message', ...usage },
    ];
    const server_tool_use = { web_search_requests: 1 };
    const last = end('end_turn', { ...usage, iterations, server_tool_use });
    const begin = { ...start, message: { ...start.message, usage: { input_tokens: 180, output_tokens: 1 } } };
    const { model } = await modelFor([stream(begin, ...words(0, 'x'), ...last)]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(response.usage).toMatchObject({
      inputTokens: input,
      outputTokens: output,
      totalTokens: input + output,
    });
    const { body } = { body: whole([text('x')], { usage: { ...usage, iterations, server_tool_use } }) };
    const other = await modelFor([{ body }]);
    expect((await other.model.generate(ask(), open())).usage).toEqual(response.usage);
  });
});

describe('a message that begins again in one stream', () => {
  const begun = [start, ...thought(0, 'Hm. '), ...words(1, 'Hel', 'lo')];
  const another = { ...start, message: { ...start.message, id: 'msg_2' } };

  it.each([
    ['repeats itself', [...thought(0, 'Hm. '), ...words(1, 'He', 'llo')], 'Hm. ', 'Hello'],
    [
      'repeats itself and adds to it',
      [...thought(0, 'Hm. '), ...words(1, 'Hello ', 'you')],
      'Hm. ',
      'Hello you',
    ],
    ['has other text', [...thought(0, 'Hm. '), ...words(1, ' you')], 'Hm. ', 'Hello you'],
    ['has only text', words(0, ' you', '!'), 'Hm. ', 'Hello you!'],
    ['has other thoughts', [...thought(0, 'Well. '), ...words(1, 'You')], 'Hm. Well. ', 'Hello\n\nYou'],
    ['has nothing', [], 'Hm. ', 'Hello'],
  ])('keeps all text and doubles nothing when it %s', async (_, events, reasoning, content) => {
    for (const again of [start, another]) {
      const { model } = await modelFor([stream(...begun, again, ...events, ...end('end_turn'))]);
      const { deltas, response } = await collect(model.stream(ask(), open()));
      expect(response).toMatchObject({ content, reasoningContent: reasoning, finishReason: 'stop' });
      expect(wholeText(deltas)).toBe(content);
      expect(deltas.flatMap((one) => (one.type === 'reasoning' ? one.text : [])).join('')).toBe(reasoning);
      expect(response.usage.inputTokens).toBe(again === start ? 127 : 254);
    }
  });

  it('makes a call once, and keeps a block once', async () => {
    const blocks = (index: number) => [
      block(index, { type: 'compaction', content: null }),
      delta(index, { type: 'compaction_delta', content: 'Ada.' }),
      block(index + 1, { type: 'tool_use', id: 'a', name: 'add', input: {} }),
      delta(index + 1, { type: 'input_json_delta', partial_json: '{"a":1}' }),
    ];
    const { model } = await modelFor([stream(start, ...blocks(0), start, ...blocks(0), ...end('tool_use'))]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(response.toolCalls).toEqual([{ id: 'a', name: 'add', arguments: '{"a":1}' }]);
    const { messages } = await sent({ messages: [message('user', 'x'), kept(response)] });
    expect(messages[1].content[0]).toEqual({ type: 'compaction', content: 'Ada.' });
    expect(messages[1].content).toHaveLength(2);
  });

  it('makes another call in the place of the first as well', async () => {
    const calls = ['a', 'b'].flatMap((id) => [
      start,
      block(0, { type: 'tool_use', id, name: 'add', input: {} }),
    ]);
    const { model } = await modelFor([stream(...calls, ...end('tool_use'))]);
    const { response } = await collect(model.stream(ask(), open()));
    expect(response.toolCalls.map(({ id }) => id)).toEqual(['a', 'b']);
  });
});

describe('blocks and events that only Anthropic understands', () => {
  const blocks = [
    searchCall({ query: 'x' }),
    found,
    {
      type: 'web_fetch_tool_result',
      tool_use_id: 'f',
      content: { type: 'web_fetch_result', url: 'https://b.example' },
    },
    {
      type: 'bash_code_execution_tool_result',
      tool_use_id: 'b',
      content: { type: 'bash_code_execution_result', stdout: '1' },
    },
    { type: 'mcp_tool_use', id: 'mcp_1', name: 'echo', server_name: 's', input: { a: 1 } },
    { type: 'mcp_tool_result', tool_use_id: 'mcp_1', is_error: false, content: [text('1')] },
    {
      type: 'tool_search_tool_result',
      tool_use_id: 't',
      content: { type: 'tool_search_tool_search_result' },
    },
    { type: 'container_upload', file_id: 'file_1' },
    { type: 'redacted_thinking', data: 'R==' },
    { type: 'of_tomorrow', text: 'not an answer', parts: [1] },
    {
      type: 'tool_use',
      id: 'a',
      name: 'add',
      input: { a: 1 },
      caller: { type: 'code_execution_20260120', tool_id: 'srv_1' },
    },
  ];

  it('are kept as they came and sent back unchanged', async () => {
    const events = blocks.flatMap((content, index) => [block(index, content), stop(index)]);
    const { model } = await modelFor([stream(start, ...events, ...end('tool_use'))]);
    const { deltas, response } = await collect(model.stream(ask(), open()));
    expect(deltas).toEqual([]);
    expect(response).toMatchObject({ content: '', toolCalls: [{ id: 'a' }] });
    const other = await modelFor([{ body: whole(blocks, { stop_reason: 'tool_use' }) }]);
    for (const answer of [response, await other.model.generate(ask(), open())]) {
      const { messages } = await sent({ messages: [message('user', 'x'), kept(answer)] });
      expect(messages[1].content).toEqual(blocks);
    }
  });

  it('never break an answer', async () => {
    const { model } = await modelFor([
      stream(
        { type: 'weather_report' },
        start,
        {
          type: 'content_block_delta',
          index: 7,
          delta: { type: 'text_delta', text: 'of no block' },
        } as never,
        block(0, { type: 'of_tomorrow', poem: 'Roses' }),
        delta(0, { type: 'text_delta', text: 'not shown' }),
        delta(0, { type: 'poem_delta', poem: ' are red' }),
        delta(0, { type: 'poem_delta', poem: null }),
        stop(0),
        block(1, text('')),
        delta(1, { type: 'shout_delta', loud: 1 }),
        delta(1, { type: 'citations_delta', citation: null }),
        { type: 'content_block_delta', index: 1, delta: null } as never,
        ...words(1, 'fine').slice(1),
        { type: 'message_delta', delta: null, usage: null } as never,
        ...end('end_turn'),
      ),
    ]);
    const { deltas, response } = await collect(model.stream(ask(), open()));
    expect(joined(deltas)).toEqual([['text', 'fine']]);
    expect(response).toMatchObject({ content: 'fine', finishReason: 'stop' });
    const { messages } = await sent({ messages: [message('user', 'x'), kept(response)] });
    expect(messages[1].content[0]).toEqual({ type: 'of_tomorrow', poem: 'Roses are red', text: 'not shown' });
  });
});

describe('a call that the token limit cuts off', () => {
  const calls = (...inputs: string[]) =>
    inputs.flatMap((partial_json, index) => [
      block(index, { type: 'tool_use', id: `t${index}`, name: `tool_${index}`, input: {} }),
      delta(index, { type: 'input_json_delta', partial_json }),
      stop(index),
    ]);

  it.each([
    ['half', ['{"a": 1, "b'], []],
    ['nothing', [''], []],
    ['what could be whole', ['{"a": 1}'], []],
    ['half after a whole one', ['{"a": 1}', '{"b'], ['tool_0']],
  ])('does not reach its tool with %s of its arguments', async (_, inputs, expected) => {
    for (const [reason, limit] of [
      ['max_tokens', 'maxTokens'],
      ['model_context_window_exceeded', 'The context window'],
    ] as const) {
      const { model } = await modelFor([stream(start, ...calls(...inputs), ...end(reason))]);
      const { response } = await collect(model.stream(ask(), open()));
      expect(response.toolCalls.map(({ name }) => name)).toEqual(expected);
      expect(response).toMatchObject({
        finishReason: 'length',
        finishMessage: `${limit} cut off the call of tool_${inputs.length - 1}: it was not made.`,
      });
      const { messages } = await sent({ messages: [message('user', 'x'), kept(response)] });
      expect(JSON.stringify(messages)).not.toContain(`tool_${inputs.length - 1}`);
    }
  });
});

describe('the texts of Anthropic', () => {
  it.each([
    ['adjacent texts', [...words(0, 'a'), ...words(1, 'b', 'c')], 'abc'],
    [
      'texts around a search',
      [...words(0, 'a'), ...search(1), block(2, found), ...words(3, 'b', 'c')],
      'a\n\nbc',
    ],
    ['texts around thoughts', [...words(0, 'a'), ...thought(1, 'Hm.'), ...words(2, 'b')], 'a\n\nb'],
    [
      'an empty text after a search',
      [...words(0, 'a'), ...search(1), ...words(2), ...words(3, 'b')],
      'a\n\nb',
    ],
    ['an empty text before all', [...words(0), ...search(1), ...words(2, 'b')], 'b'],
    ['only an empty text at the end', [...words(0, 'a'), ...search(1), ...words(2)], 'a'],
    [
      'texts that begin with their block',
      [block(0, text('a')), ...thought(1, 'Hm.'), block(2, text('b'))],
      'a\n\nb',
    ],
  ])('are joined unchanged: %s', async (_, events, content) => {
    const { model } = await modelFor([stream(start, ...events, ...end('end_turn'))]);
    const { deltas, response } = await collect(model.stream(ask(), open()));
    expect(response.content).toBe(content);
    expect(wholeText(deltas)).toBe(content);
  });

  it('cite documents, search results and pages', async () => {
    const document = { cited_text: 'c', document_index: 1, document_title: 'D' };
    const cited = [
      { type: 'char_location', ...document, file_id: 'f', start_char_index: 0, end_char_index: 1 },
      { type: 'page_location', ...document, document_title: null, start_page_number: 1, end_page_number: 2 },
      {
        type: 'content_block_location',
        ...document,
        cited_text: 'd',
        start_block_index: 0,
        end_block_index: 1,
      },
      {
        type: 'search_result_location',
        cited_text: 'e',
        search_result_index: 2,
        source: 'https://s.example',
        title: 'S',
        start_block_index: 0,
        end_block_index: 1,
      },
      {
        type: 'search_result_location',
        cited_text: 'e',
        search_result_index: 3,
        source: 'wiki/7',
        title: 'S',
      },
      { type: 'page_location', cited_text: 'f', document_index: -1 },
      citation,
    ];
    const blocks = [
      text('One. '),
      { ...text('Two'), citations: cited },
      searchCall({ query: 'q' }),
      found,
      { ...text('Three'), citations: [citation, citation] },
    ];
    const { model } = await modelFor([{ body: whole(blocks) }]);
    const response = await model.generate(ask(), open());
    const at = { start: 5, end: 8 };
    expect(response.citations).toEqual({
      sources: [
        { title: 'D', citedText: 'c', fileId: 'f', documentIndex: 1, ...at },
        { citedText: 'c', documentIndex: 1, ...at },
        { title: 'D', citedText: 'd', documentIndex: 1, ...at },
        { url: 'https://s.example', title: 'S', citedText: 'e', documentIndex: 2, ...at },
        { filename: 'wiki/7', title: 'S', citedText: 'e', documentIndex: 3, ...at },
        { citedText: 'f', ...at },
        { url: citation.url, title: 'A', citedText: citation.cited_text, ...at },
        { url: citation.url, title: 'A', citedText: citation.cited_text, start: 10, end: 15 },
      ],
      searchQueries: ['q'],
    });
    expect(response.content.slice(10, 15)).toBe('Three');
    const { messages } = await sent({ messages: [message('user', 'x'), kept(response)] });
    expect(messages[1].content).toEqual(blocks);
  });
});
