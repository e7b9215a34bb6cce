import { describe, expect, it } from 'vitest';
import { modelFor, sent, text, whole } from '../../../../test/support/providers/anthropic-wire.js';
import { ask, kept, message, open } from '../../../../test/support/providers/model-calls.js';
import type { Message } from '../message.js';
import { anthropic } from './anthropic.js';

const add = { name: 'add', description: 'Adds', inputSchema: { type: 'object' } };
const enabled = { type: 'enabled', budget_tokens: 4_000 };
/** The same budget, by the option and among the parameters. */
const budgets = [
  ['the option', { thinking: { budgetTokens: 4_000 } }],
  ['the parameters', { parameters: { thinking: enabled } }],
] as const;

describe.each(budgets)('a thinking budget given by %s', (_, budget) => {
  const thinking = { type: 'thinking', thinking: 'Hm. ', signature: 'S==' };
  const call = (name: string) => ({ type: 'tool_use', id: name, name, input: {} });
  const result = (name: string) => message('tool', '1', { toolCallId: name });

  async function answer(...blocks: object[]): Promise<Message> {
    const { model } = await modelFor([{ body: whole(blocks, { stop_reason: 'tool_use' }) }]);
    return kept(await model.generate(ask(), open()));
  }

  it('has room beside the answer', async () => {
    expect(await sent({}, budget)).toMatchObject({ max_tokens: 20_384, thinking: enabled });
  });

  it('stays through a turn of calls, whose thoughts are sent back with their signatures', async () => {
    const turn = [message('user', 'Go'), await answer(thinking, call('a')), result('a')];
    const later = [...turn, await answer(call('b')), result('b')];
    const last = [...later, await answer(text('Now'), thinking, call('c')), result('c')];
    for (const messages of [turn, later, last]) {
      const body = await sent({ messages, tools: [add] }, budget);
      expect(body.thinking).toEqual(enabled);
      expect(body.messages[1].content).toEqual([thinking, call('a')]);
    }
  });

  it('is left out of a turn that began without thinking, until the user speaks again', async () => {
    const turn = [message('user', 'Go'), await answer(call('a')), result('a')];
    expect((await sent({ messages: turn }, budget)).thinking).toBeUndefined();
    const next = [...turn, message('user', 'On')];
    expect((await sent({ messages: next }, budget)).thinking).toEqual(enabled);
  });

  it('asks in words for a call that it cannot force', async () => {
    for (const [toolChoice, which] of [
      ['required', 'one of the tools'],
      [{ name: 'add' }, 'the tool add'],
    ] as const) {
      const body = await sent({ tools: [add], toolChoice }, budget);
      expect(body.tool_choice).toBeUndefined();
      expect(body.system).toEqual([text(`Call ${which} before you answer.`)]);
    }
    expect((await sent({ tools: [add], toolChoice: 'none' }, budget)).tool_choice).toEqual({ type: 'none' });
  });

  it('asks in words for a structured output that a tool would have to give', async () => {
    const output = { name: 'person', schema: { type: 'object' }, strict: true };
    const body = await sent({ output }, { ...budget, id: 'claude-3-7-sonnet-20250219' });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
    expect(body.system[0].text).toContain('JSON schema');
  });

  it.each([
    [{ temperature: 0.2 }, 'parameters.temperature must be 1 or left out'],
    [{ top_k: 5 }, 'parameters.top_k must be left out'],
    [{ top_p: 0.5 }, 'parameters.top_p must be at least 0.95'],
    [{ tool_choice: { type: 'any' } }, 'parameters.tool_choice must not force a call'],
    [{ max_tokens: 4_000 }, 'maxTokens must be more than the budget of 4000, not 4000'],
  ])('is not taken beside %j', (parameters, fault) => {
    const both = {
      id: 'm',
      ...budget,
      parameters: { ...('parameters' in budget && budget.parameters), ...parameters },
    };
    expect(() => anthropic(both)).toThrow(`anthropic(): with a thinking budget, ${fault}.`);
    expect(() => anthropic({ id: 'm', parameters })).not.toThrow();
  });

  it('may be more than an answer where the model thinks between its calls', () => {
    const headers = { 'Anthropic-Beta': 'interleaved-thinking-2025-05-14' };
    expect(() => anthropic({ id: 'm', ...budget, maxTokens: 2_000 })).toThrow('maxTokens must be more');
    expect(() => anthropic({ id: 'm', ...budget, maxTokens: 2_000, headers })).not.toThrow();
  });
});

it('thinking among the parameters says whether the model reasons', () => {
  const reasons = (type: string) =>
    anthropic({ id: 'claude-sonnet-4-5', parameters: { thinking: { type } } }).capabilities.reasoning;
  expect([reasons('adaptive'), reasons('disabled')]).toEqual([true, false]);
});

describe('marks for the cache', () => {
  const mark = { type: 'ephemeral' };
  const marked = (body: unknown) => JSON.stringify(body).split('"cache_control":').length - 1;
  const tools = (count: number) =>
    [1, 2, 3, 4, 5].map((index) => ({
      type: 'web_search',
      name: `s${index}`,
      ...(index <= count && { cache_control: mark }),
    }));

  it('are not written into the tools of the application', async () => {
    const own = Object.freeze({ type: 'web_search_20250305', name: 'web_search' });
    const parameters = { tools: [own] };
    const body = await sent({}, { cache: true, parameters });
    expect(body.tools).toEqual([{ ...own, cache_control: mark }]);
    expect(own).not.toHaveProperty('cache_control');
  });

  it('are not written into the blocks of an answer', async () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } };
    const { model, server } = await modelFor(
      [{ body: whole([search], { stop_reason: 'pause_turn' }) }, { body: whole([text('ok')]) }],
      { cache: true },
    );
    const response = await model.generate(ask(), open());
    expect(marked(response)).toBe(0);
    const [question, answer] = server.requests[1]?.body.messages ?? [];
    expect(question.content).toEqual([{ ...text('Hello'), cache_control: mark }]);
    expect(answer.content).toEqual([search]);
  });

  it.each([
    [0, 2],
    [2, 4],
    [3, 4],
    [4, 4],
  ])('are at most four beside %d of the application: %d', async (count, all) => {
    const messages = [message('system', 'Be brief.'), message('user', 'Hi')];
    const body = await sent({ messages }, { cache: true, parameters: { tools: tools(count) } });
    expect(marked(body)).toBe(all);
    expect(marked(body.messages)).toBe(count < 4 ? 1 : 0);
  });

  it('are refused when the application brings more than four', () => {
    expect(() => anthropic({ id: 'm', parameters: { tools: tools(5) } })).toThrow(
      'anthropic(): parameters hold 5 cache_control marks. Anthropic takes at most 4.',
    );
  });

  it('leave a system prompt alone that is one text', async () => {
    const body = await sent({ tools: [add] }, { cache: true, parameters: { system: 'Be brief.' } });
    expect(body.system).toBe('Be brief.');
    expect(body.tools[0].cache_control).toEqual(mark);
  });
});
