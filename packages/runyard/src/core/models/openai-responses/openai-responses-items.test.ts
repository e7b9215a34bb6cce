import { describe, expect, it } from 'vitest';
import { joined, mediaOf } from '../../../../test/support/providers/model-calls.js';
import {
  added,
  answerOf,
  completed,
  done,
  event,
  type Item,
  inputAfter,
  part,
  read,
  response,
  said,
  words,
} from '../../../../test/support/providers/responses-answers.js';

describe('what the model made and looked up', () => {
  const image = {
    type: 'image_generation_call',
    id: 'ig_1',
    status: 'completed',
    result: Buffer.from('\x89PNG2', 'latin1').toString('base64'),
  };

  it('is a medium of the response, and goes back with its bytes', async () => {
    const media = mediaOf({ 'hash of \x89PNG2': '\x89PNG2' });
    const answer = await answerOf([image, said('m1', part('Here.'))], { media });
    expect(answer).toMatchObject({
      content: 'Here.',
      media: [{ kind: 'image', mimeType: 'image/png', hash: 'hash of \x89PNG2' }],
    });
    expect(JSON.stringify(answer.providerData)).not.toContain(image.result);
    expect(await inputAfter(answer, [], media)).toEqual([image, { role: 'assistant', content: 'Here.' }]);
    expect(await inputAfter(answer)).toEqual([{ role: 'assistant', content: 'Here.' }]);
  });

  it('is the image as it was last, whichever event brought it', async () => {
    const partial = (text: string) =>
      event('image_generation_call.partial_image', {
        item_id: 'ig_1',
        output_index: 0,
        partial_image_b64: Buffer.from(text, 'latin1').toString('base64'),
      });
    const begun = [added(0, { ...image, result: null }), partial('\x89PNG0'), partial('\x89PNG1')];
    const media = mediaOf({});
    expect((await read([...begun, done(0, image), completed], { media })).answer.media).toMatchObject([
      { hash: 'hash of \x89PNG2' },
    ]);
    expect((await read([...begun, completed], { media })).answer.media).toMatchObject([
      { hash: 'hash of \x89PNG1' },
    ]);
    expect(media.put).toHaveBeenCalledTimes(2);
  });

  it('is no image when the call has none', async () => {
    const media = mediaOf({});
    const answer = await answerOf(
      [{ ...image, result: null, status: 'failed' }, said('m1', part('Sorry.'))],
      {
        media,
      },
    );
    expect(answer.media).toBeUndefined();
    expect(media.put).not.toHaveBeenCalled();
  });

  it('counts once when its server announces and completes it twice', async () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const message = said('m1', part('Here.'));
    const twice = [search, message].flatMap((item, index) => [
      added(index, item),
      added(index, item),
      done(index, item),
      done(index, item),
    ]);
    const { answer } = await read([...twice, completed]);
    expect(await inputAfter(answer)).toEqual([search, { role: 'assistant', content: 'Here.' }]);
  });

  it('is kept as it came and sent back, also an unknown item', async () => {
    const output: Item[] = [
      { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'docs', tools: [] },
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'a', queries: ['a', 'b'] },
      },
      { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['c'], results: null },
      {
        type: 'code_interpreter_call',
        id: 'ci_1',
        status: 'completed',
        code: '1',
        container_id: 'x',
        outputs: null,
      },
      { type: 'mcp_call', id: 'mcp_1', server_label: 'docs', name: 'read', arguments: '{}', output: 'x' },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' },
      { type: 'of_tomorrow', id: 'x_1', anything: [1, { b: null }] },
      said('m1', part('Found.')),
    ];
    const answer = await answerOf(output);
    expect(answer).toMatchObject({
      content: 'Found.',
      toolCalls: [],
      citations: { sources: [], searchQueries: ['a', 'b', 'c'] },
    });
    expect(await inputAfter(answer)).toEqual([
      ...output.slice(0, -1),
      { role: 'assistant', content: 'Found.' },
    ]);
    const odd = said('m1', part('Found.'), { type: 'of_tomorrow', text: { a: 1 } });
    expect((await read([done(0, odd), completed])).answer.content).toBe('Found.');
  });

  it('is reasoning in its content as well as in its summary', async () => {
    const reasoning = {
      type: 'reasoning',
      id: 'rs_1',
      encrypted_content: 'gAAA',
      summary: [{ type: 'summary_text', text: 'In short' }],
      content: [
        { type: 'reasoning_text', text: 'At length' },
        { type: 'reasoning_text', text: 'Further' },
      ],
    };
    const answer = await answerOf([reasoning, said('m1', part('Yes.'))]);
    expect(answer.reasoningContent).toBe('In short\n\nAt length\n\nFurther');
    expect((await inputAfter(answer))[0]).toEqual(reasoning);
    const thought = (delta: string) =>
      event('reasoning_text.delta', { item_id: 'rs_1', output_index: 0, content_index: 0, delta });
    const streamed = await read([
      added(0, { ...reasoning, content: [] }),
      thought('At '),
      thought('length'),
      done(0, { ...reasoning, summary: [] }),
      completed,
    ]);
    expect(joined(streamed.deltas)).toEqual([['reasoning', 'At length']]);
    expect(streamed.answer.providerData).toMatchObject({ layout: { pieces: [{ data: { content: [0] } }] } });
  });
});

describe('the texts of several messages', () => {
  const two = [
    said('m1', part('First.')),
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    said('m2', part('Second.')),
  ];

  it('are apart in the content, and go back as they were', async () => {
    const answer = await answerOf(two);
    expect(answer.content).toBe('First.\n\nSecond.');
    expect(await inputAfter(answer)).toEqual([
      { role: 'assistant', content: 'First.' },
      two[1],
      { role: 'assistant', content: 'Second.' },
    ]);
  });

  it.each([
    [
      'that interleave',
      [words('m1', 0, 'Fi'), words('m2', 1, 'Sec'), words('m1', 0, 'rst.'), words('m2', 1, 'ond.')],
    ],
    [
      'with one index',
      [words('m1', 0, 'Fi'), words('m2', 0, 'Sec'), words('m1', 0, 'rst.'), words('m2', 0, 'ond.')],
    ],
    ['in turn', [words('m2', 1, 'Second.'), words('m1', 0, 'First.')]],
  ])('are delivered in order: %s', async (_, deltas) => {
    const index = (itemId: string) =>
      Number(deltas.find((delta) => 'item_id' in delta && delta.item_id === itemId)?.output_index);
    const begun = [added(index('m1'), said('m1')), added(index('m2'), said('m2')), ...deltas];
    const ended = [done(index('m2'), two[2]!), done(index('m1'), two[0]!)];
    for (const events of [begun, [...begun, ...ended]]) {
      const { answer } = await read([...events, completed]);
      expect(answer.content).toBe('First.\n\nSecond.');
    }
  });

  it('lose no item that another one with its index follows', async () => {
    const call = (name: string) => ({
      type: 'function_call',
      id: `fc_${name}`,
      call_id: `call_${name}`,
      name,
      arguments: `{"a":"${name}"}`,
    });
    const { answer } = await read([
      ...['one', 'two'].map((name) => added(0, { ...call(name), arguments: '' })),
      event('function_call_arguments.delta', { item_id: 'fc_one', output_index: 0, delta: '{"a"' }),
      ...['one', 'two'].map((name) => done(0, call(name))),
      completed,
    ]);
    expect(answer.toolCalls.map(({ id: callId, arguments: text }) => [callId, text])).toEqual([
      ['call_one', '{"a":"one"}'],
      ['call_two', '{"a":"two"}'],
    ]);
  });

  it('lose no item that another one with its id follows', async () => {
    const both = [said('m', part('First.')), said('m', part('Second.'))];
    expect((await answerOf(both)).content).toBe('First.\n\nSecond.');
    const nameless = both.map(({ id: _, ...item }) => item as Item);
    expect((await answerOf(nameless)).content).toBe('First.\n\nSecond.');
    expect((await read([...nameless.map((item) => done(0, item)), completed])).answer.content).toBe(
      'First.\n\nSecond.',
    );
  });

  it('are completed from the response where events are missing', async () => {
    const output = [said('m1', part('First.')), said('m2', part('Second.'))];
    const { answer } = await read([
      added(0, said('m1')),
      words('m1', 0, 'Fir'),
      event('completed', { response: response({ output }) }),
    ]);
    expect(answer.content).toBe('First.\n\nSecond.');
  });

  it('are known by their index where a server names them anew in each event', async () => {
    const { answer } = await read([
      added(0, said('a')),
      words('b', 0, 'First.'),
      done(0, said('c', part('First.'))),
      event('completed', { response: response({ output: [said('d', part('First.'))] }) }),
    ]);
    expect(answer.content).toBe('First.');
  });
});

describe('a call that the end of the answer cuts off', () => {
  const call = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'pay',
    arguments: '{"amount":1}',
  };
  const typed = (delta: string) =>
    event('function_call_arguments.delta', { item_id: 'fc_2', output_index: 1, delta });
  const cut = { ...call, id: 'fc_2', call_id: 'call_2', status: 'incomplete', arguments: '{"amount":' };
  const begun = [done(0, call), added(1, { ...cut, arguments: '' })];
  const incomplete = (output: object[] = []) =>
    event('incomplete', {
      response: response({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output,
      }),
    });

  it.each([
    ['before its arguments', [...begun, incomplete()]],
    ['within its arguments', [...begun, typed('{"amount":'), incomplete()]],
    ['and is complete in name only', [...begun, done(1, { ...cut, status: 'completed' }), incomplete()]],
    ['and is marked as incomplete', [...begun, done(1, cut), incomplete([call, cut])]],
    [
      'of a tool of OpenAI',
      [
        done(0, call),
        added(1, { type: 'shell_call', call_id: 'x' }),
        incomplete([call, { type: 'shell_call', status: 'incomplete' }]),
      ],
    ],
  ])('reaches no tool: %s', async (_, events) => {
    expect((await read(events)).answer).toMatchObject({
      toolCalls: [{ id: 'call_1', arguments: '{"amount":1}' }],
      finishReason: 'length',
      finishMessage: 'max_output_tokens',
    });
  });

  it('keeps what the model thought', async () => {
    const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
    const thinking = event('reasoning_summary_text.delta', { item_id: 'rs_1', output_index: 0, delta: 'Hm' });
    const { answer } = await read([added(0, thought), thinking, incomplete()]);
    expect(answer).toMatchObject({ reasoningContent: 'Hm', finishReason: 'length' });
  });
});

describe('citations', () => {
  const url = (start_index: number, end_index: number, page: string) => ({
    type: 'url_citation',
    url: `https://a.example/${page}`,
    title: page,
    start_index,
    end_index,
  });

  it('are placed where their words are in the content', async () => {
    const answer = await answerOf([
      said(
        'm1',
        part('Ünï 🌍 one ', [url(0, 3, 'a')]),
        part('two 🌍🌍 three', [url(4, 6, 'b'), url(7, 99, 'c')]),
      ),
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      said(
        'm2',
        part('Four five', [
          url(5, 9, 'd'),
          { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 3 },
          { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 7 },
          {
            type: 'container_file_citation',
            container_id: 'c',
            file_id: 'file_2',
            filename: 'b.csv',
            start_index: 0,
            end_index: 4,
          },
          { type: 'file_path', file_id: 'file_3', index: 0 },
          { type: 'of_tomorrow' },
        ]),
      ),
    ]);
    const sources = answer.citations?.sources ?? [];
    expect(
      sources.map(({ start, end, ...source }) => [source, answer.content.slice(start ?? 0, end ?? 0)]),
    ).toEqual([
      [{ url: 'https://a.example/a', title: 'a' }, 'Ünï'],
      [{ url: 'https://a.example/b', title: 'b' }, '🌍🌍'],
      [{ url: 'https://a.example/c', title: 'c' }, 'three'],
      [{ url: 'https://a.example/d', title: 'd' }, 'five'],
      [{ fileId: 'file_1', filename: 'a.pdf' }, ''],
      [{ fileId: 'file_2', filename: 'b.csv' }, 'Four'],
      [{ fileId: 'file_3' }, ''],
    ]);
  });

  it('are kept when only the stream brings them', async () => {
    const annotation = url(0, 2, 'a');
    const { answer } = await read([
      words('m1', 0, '🌍 word'),
      event('output_text.annotation.added', { item_id: 'm1', output_index: 0, content_index: 0, annotation }),
      done(0, said('m1', part('🌍 word'))),
      completed,
    ]);
    expect(answer.citations?.sources).toEqual([{ url: annotation.url, title: 'a', start: 0, end: 3 }]);
  });

  it.each(['whole', 'streamed'])('are placed in one pass over a long text: %s', async (how) => {
    const text = '🌍 words '.repeat(110_000);
    const annotations = Array.from({ length: 10_000 }, (_, index) =>
      url(index * 80, index * 80 + 1, String(index)),
    );
    const message = said('m1', part(text, how === 'whole' ? annotations : []));
    const events =
      how === 'whole'
        ? []
        : annotations.map((annotation) =>
            event('output_text.annotation.added', { item_id: 'm1', output_index: 0, annotation }),
          );
    const { answer } = await read(
      [added(0, said('m1')), ...events, done(0, message), completed],
      {},
      100_000,
    );
    expect(answer.citations?.sources).toHaveLength(10_000);
    expect(
      answer.citations?.sources.every(({ start, end }) => answer.content.slice(start, end) === '🌍'),
    ).toBe(true);
  });
});
