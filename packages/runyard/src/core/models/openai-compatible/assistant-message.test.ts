import { describe, expect, it } from 'vitest';
import {
  callOf,
  delta,
  finish,
  mistralThought,
  type Wire,
  whole,
} from '../../../../test/support/providers/chat-answers.js';
import {
  ask,
  collect,
  kept,
  message,
  modelFor,
  open,
} from '../../../../test/support/providers/model-calls.js';

describe('what a provider must get back', () => {
  /** The assistant's message of the next request, and of one after signatures were refused. */
  async function sentBack(answer: object, rename = false) {
    const refused = { status: 400, body: { error: { message: 'Corrupted thought signature.' } } };
    const last = { body: whole({ content: 'Done' }) };
    const { model, server } = await modelFor([answer, refused, last]);
    const { response } = await collect(model.stream(ask(), open()));
    const first = kept(response);
    const toolCalls = first.toolCalls?.map((call, at) => (rename ? { ...call, id: `own${at}` } : call));
    const messages = [
      message('user', 'Go'),
      { ...first, ...(toolCalls && { toolCalls }) },
      ...(toolCalls ?? []).map(({ id }) => message('tool', '1', { toolCallId: id })),
    ];
    await model.generate(ask({ messages }), open());
    return server.requests.slice(1).map(({ body }) => body.messages[1]);
  }

  it('are the signatures of its calls, also when a call got another id', async () => {
    const signed = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } });
    const events = [
      delta({ tool_calls: [callOf('a', '{"a":1}', { index: 0, ...signed('S1') })] }),
      delta({ tool_calls: [callOf('b', '{}', { index: 1 })] }),
      finish('tool_calls'),
    ];
    const content = { role: 'assistant', content: null };
    expect(await sentBack({ events })).toEqual([
      { ...content, tool_calls: [callOf('a', '{"a":1}', signed('S1')), callOf('b', '{}')] },
      { ...content, tool_calls: [callOf('a', '{"a":1}'), callOf('b', '{}')] },
    ]);
    const [renamed] = await sentBack({ events }, true);
    expect(renamed.tool_calls).toEqual([callOf('own0', '{"a":1}', signed('S1')), callOf('own1', '{}')]);
  });

  it('is the text beside its calls', async () => {
    const signed = { extra_content: { google: { thought_signature: 'S1' } } };
    const events = [
      delta({ content: 'Let me look.' }),
      delta({ tool_calls: [callOf('a', '{}', { index: 0, ...signed })] }),
      finish('tool_calls'),
    ];
    const content = { role: 'assistant', content: 'Let me look.' };
    expect(await sentBack({ events })).toEqual([
      { ...content, tool_calls: [callOf('a', '{}', signed)] },
      { ...content, tool_calls: [callOf('a', '{}')] },
    ]);
  });

  it('are the details of its reasoning, put together from their pieces', async () => {
    const text = (rest: Wire) => ({
      type: 'reasoning.text',
      format: 'anthropic-claude-v1',
      index: 0,
      ...rest,
    });
    const summary = { type: 'reasoning.summary', index: 1, summary: 'In short.' };
    const encrypted = { type: 'reasoning.encrypted', data: 'QUJD', id: 'a', index: 2 };
    const details = [text({ text: 'Let me see.', signature: 'S1' }), summary, encrypted];
    const events = [
      delta({
        content: '',
        reasoning: 'Let me ',
        reasoning_details: [text({ text: 'Let me ', signature: null })],
      }),
      delta({ content: '', reasoning: 'see.', reasoning_details: [text({ text: 'see.' })] }),
      delta({ content: '', reasoning: null, reasoning_details: [text({ signature: 'S1' })] }),
      delta({ content: '', reasoning: 'In short.', reasoning_details: [summary, encrypted] }),
      delta({ content: 'It is 3.' }),
      finish('stop'),
    ];
    const expected = { role: 'assistant', content: 'It is 3.', reasoning_details: details };
    expect((await sentBack({ events }))[0]).toEqual(expected);
    const body = whole({ content: 'It is 3.', reasoning: 'x', reasoning_details: details });
    expect(await sentBack({ body })).toEqual([expected, { role: 'assistant', content: 'It is 3.' }]);
  });

  it('are the thoughts of Mistral, in the form in which they came', async () => {
    const events = [
      delta({ content: [mistralThought('Let me ')] }),
      delta({ content: [mistralThought('see.')] }),
      delta({ content: 'It is 3.' }),
      finish('stop'),
    ];
    expect((await sentBack({ events }))[0]).toEqual({
      role: 'assistant',
      content: [mistralThought('Let me see.'), { type: 'text', text: 'It is 3.' }],
    });
  });

  it('is nothing where an answer held nothing', async () => {
    const { model, server } = await modelFor([{ body: whole({ content: 'Done' }) }]);
    const messages = [message('user', 'Go'), message('assistant', ''), message('user', 'Go on')];
    await model.generate(ask({ messages }), open());
    expect(server.requests[0]?.body.messages).toMatchObject([{ content: 'Go' }, { content: 'Go on' }]);
  });
});
