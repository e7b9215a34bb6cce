import { describe, expect, it } from 'vitest';
import {
  block,
  citation,
  delta,
  end,
  found,
  id,
  modelFor,
  search,
  searchCall,
  start,
  stop,
  stream,
  text,
  thought,
  whole,
  wholeText,
  words,
} from '../../../../test/support/providers/anthropic-wire.js';
import {
  ask,
  collect,
  cutAnywhere,
  failure,
  joined,
  kept,
  message,
  open,
  secret,
} from '../../../../test/support/providers/model-calls.js';
import { namedEvents } from '../../../../test/support/providers/model-server.js';
import { anthropic } from './anthropic.js';

/** An answer that pauses in the middle of a search, and its continuation. */
const first = [
  start,
  ...thought(0, 'Hm. '),
  ...words(1, 'Let me ', 'look'),
  ...search(2),
  ...end('pause_turn', { output_tokens: 30 }),
];
const second = [
  start,
  block(0, found),
  stop(0),
  ...words(1, 'She was born '),
  block(2, { ...text(''), citations: [] }),
  delta(2, { type: 'citations_delta', citation }),
  delta(2, { type: 'text_delta', text: 'in 1815' }),
  stop(2),
  ...words(3, '.'),
  ...end('end_turn', { output_tokens: 12 }),
];
const said = 'Let me look\n\nShe was born in 1815.';
const answered = {
  content: said,
  reasoningContent: 'Hm. ',
  finishReason: 'stop',
  usage: { inputTokens: 254, outputTokens: 42, totalTokens: 296, cacheReadTokens: 200, cacheWriteTokens: 40 },
  citations: {
    sources: [
      { url: 'https://a.example', title: 'A', citedText: 'Ada was born in 1815.', start: 26, end: 33 },
    ],
    searchQueries: ['Ada'],
  },
};
const sentBack = [
  { type: 'thinking', thinking: 'Hm. ', signature: 'S==' },
  text('Let me look'),
  searchCall({ query: 'Ada' }),
];

describe('an answer that Anthropic pauses', () => {
  it('is continued as one answer, whichever byte it is cut at', async () => {
    const raws = [namedEvents(first), namedEvents(second)];
    const make = (fetch: typeof globalThis.fetch) => anthropic({ id, apiKey: secret, fetch });
    for (const { deltas, response } of await cutAnywhere(raws, make, 13)) {
      expect(joined(deltas)).toEqual([
        ['reasoning', 'Hm. '],
        ['text', said],
      ]);
      expect(response).toMatchObject(answered);
    }
  });

  it('is sent back as it came, and the whole again in later requests', async () => {
    const { model, server } = await modelFor([
      stream(...first),
      stream(...second),
      { body: whole([text('ok')]) },
    ]);
    const { response } = await collect(model.stream(ask(), open()));
    const [before, after] = server.requests.map(({ body }) => body);
    expect(after).toEqual({
      ...before,
      messages: [...before.messages, { role: 'assistant', content: sentBack }],
    });
    await model.generate(
      ask({ messages: [message('user', 'Hello'), kept(response), message('user', 'Thanks')] }),
      open(),
    );
    expect(server.requests[2]?.body.messages[1].content).toEqual([
      ...sentBack,
      found,
      text('She was born '),
      { ...text('in 1815'), citations: [citation] },
      text('.'),
    ]);
  });

  it('is continued without streaming, and where a server ignores that a stream was asked for', async () => {
    const usage = start.message.usage;
    const bodies = [
      whole([...sentBack], { stop_reason: 'pause_turn', usage: { ...usage, output_tokens: 30 } }),
      whole([found, text('She was born '), { ...text('in 1815'), citations: [citation] }, text('.')], {
        usage: { ...usage, output_tokens: 12 },
      }),
    ].map((body) => ({ body }));
    const whole1 = await modelFor(bodies);
    expect(await whole1.model.generate(ask(), open())).toMatchObject(answered);
    const streamed = await modelFor(bodies);
    const { deltas, response } = await collect(streamed.model.stream(ask(), open()));
    expect(joined(deltas)).toEqual([
      ['reasoning', 'Hm. '],
      ['text', said],
    ]);
    expect(response).toMatchObject(answered);
  });

  it('keeps its container, and continues after a compaction too', async () => {
    const compaction = { type: 'compaction', content: 'We spoke of Ada.', encrypted_content: 'C==' };
    const { model, server } = await modelFor(
      [
        stream(
          { ...start, message: { ...start.message, container: { id: 'cont_1', expires_at: 'x' } } } as never,
          block(0, { type: 'compaction', content: null }),
          delta(0, { type: 'compaction_delta', content: 'We spoke of Ada.', encrypted_content: 'C==' }),
          stop(0),
          ...end('compaction'),
        ),
        stream(start, ...words(0, 'Yes.'), ...end('end_turn')),
        { body: whole([text('ok')]) },
      ],
      { parameters: { container: { skills: [] } } },
    );
    const { response } = await collect(model.stream(ask(), open()));
    expect(response).toMatchObject({ content: 'Yes.', finishReason: 'stop' });
    expect(server.requests[1]?.body).toMatchObject({
      container: { skills: [], id: 'cont_1' },
      messages: [{ role: 'user' }, { role: 'assistant', content: [compaction] }],
    });
    await model.generate(
      ask({ messages: [message('user', 'x'), kept(response), message('user', 'y')] }),
      open(),
    );
    expect(server.requests[2]?.body.container).toEqual({ skills: [] });
    expect(server.requests[2]?.body.messages[1].content).toEqual([compaction, text('Yes.')]);
  });

  it('is not continued without end', async () => {
    const { model, server } = await modelFor((_, index) =>
      stream(start, ...words(0, `${index} `), ...end('pause_turn')),
    );
    const { deltas, response } = await collect(model.stream(ask(), open()));
    expect(server.requests).toHaveLength(11);
    expect(response).toMatchObject({
      content: '0 1 2 3 4 5 6 7 8 9 10 ',
      finishReason: 'other',
      finishMessage: 'Anthropic paused the answer more than 10 times.',
      usage: { outputTokens: 330 },
    });
    expect(wholeText(deltas)).toBe(response.content);
  });

  it('leaves out a search without a result, and thoughts without words, once the user has spoken again', async () => {
    const { model, server } = await modelFor((_, index) =>
      index < 11
        ? stream(start, ...thought(0, 'Hm. '), ...search(1), ...end('pause_turn'))
        : { body: whole([]) },
    );
    const answer = kept((await collect(model.stream(ask(), open()))).response);
    await model.generate(ask({ messages: [message('user', 'x'), answer, message('user', 'y')] }), open());
    expect(server.requests[11]?.body.messages).toEqual([{ role: 'user', content: [text('x'), text('y')] }]);
  });

  it('leaves calls to their tools before it continues', async () => {
    const call = { type: 'tool_use', id: 'a', name: 'add', input: { a: 1 } };
    const { model, server } = await modelFor([{ body: whole([call], { stop_reason: 'pause_turn' }) }]);
    expect(await model.generate(ask(), open())).toMatchObject({
      finishReason: 'tool_calls',
      toolCalls: [{ id: 'a' }],
    });
    expect(server.requests).toHaveLength(1);
  });

  it('is tried again where its continuation fails before any of it was shown, and not after', async () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const { model, server, waits } = await modelFor([
      stream(...first),
      { status: 529, body: overloaded },
      stream(start, block(0, found), overloaded as never),
      stream(...second),
    ]);
    expect((await collect(model.stream(ask(), open()))).response).toMatchObject(answered);
    expect(waits).toHaveLength(2);
    expect(server.requests[3]?.body).toEqual(server.requests[1]?.body);
    const broken = await modelFor([stream(...first), stream(start, ...words(0, 'x'), overloaded as never)]);
    await failure(collect(broken.model.stream(ask(), open())));
    expect(broken.server.requests).toHaveLength(2);
  });

  it('stays without the signatures that were refused, but keeps its own', async () => {
    const refusal = { type: 'error', error: { message: 'Invalid `signature` in `thinking` block' } };
    const { model, server } = await modelFor([
      stream(start, ...thought(0, 'A. '), ...words(1, 'Hi'), ...end('end_turn')),
      { status: 400, body: refusal },
      stream(...first),
      stream(...second),
    ]);
    const earlier = kept((await collect(model.stream(ask(), open()))).response);
    const messages = [message('user', 'x'), earlier, message('user', 'y')];
    await collect(model.stream(ask({ messages }), open()));
    expect(server.requests[3]?.body.messages.slice(1)).toEqual([
      { role: 'assistant', content: [text('Hi')] },
      { role: 'user', content: [text('y')] },
      { role: 'assistant', content: sentBack },
    ]);
  });

  it('ends when it is aborted', async () => {
    const controller = new AbortController();
    const { model, server } = await modelFor((_, index) => {
      if (index === 1) controller.abort(new Error('enough'));
      return index === 0 ? stream(...first) : { instead: 'stall' };
    });
    await expect(collect(model.stream(ask(), { signal: controller.signal }))).rejects.toThrow('enough');
    await server.clientLeft();
  });
});
