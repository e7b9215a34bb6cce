import { describe, expect, it } from 'vitest';
import {
  block,
  delta,
  end,
  id,
  modelFor,
  sent,
  start,
  text,
} from '../../../../test/support/providers/anthropic-wire.js';
import {
  ask,
  collect,
  failure,
  joined,
  mediaOf,
  message,
  open,
} from '../../../../test/support/providers/model-calls.js';
import { namedEvents } from '../../../../test/support/providers/model-server.js';
import type { Media } from '../../media/media.js';
import { anthropic } from './anthropic.js';

describe('the request to Anthropic', () => {
  const add = {
    name: 'add',
    description: 'Adds',
    inputSchema: { $schema: 'x', type: 'object', properties: { a: { type: 'number' } } },
  };

  it('carries the system prompt, tools, the choice among them and parameters', async () => {
    const body = await sent(
      {
        messages: [message('system', 'Be brief.'), message('user', 'Hi'), message('system', 'Be kind.')],
        tools: [add],
        toolChoice: 'required',
      },
      { maxTokens: 99, effort: 'low', thinking: 'adaptive', parameters: { metadata: { user_id: 'u' } } },
    );
    expect(body).toMatchObject({
      max_tokens: 99,
      system: [text('Be brief.\n\nBe kind.')],
      messages: [{ role: 'user', content: [text('Hi')] }],
      tools: [
        {
          name: 'add',
          description: 'Adds',
          input_schema: { type: 'object', properties: { a: { type: 'number' } } },
        },
      ],
      tool_choice: { type: 'any' },
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
      metadata: { user_id: 'u' },
    });
    expect(body.tools[0].input_schema.$schema).toBeUndefined();
  });

  it('carries the parameters of one call over those of the model', async () => {
    const own = { temperature: 1, metadata: { user_id: 'u' } };
    const body = await sent(
      {
        parameters: {
          temperature: 0,
          max_tokens: 5,
          thinking: { type: 'disabled' },
          output_config: { effort: 'high' },
        },
      },
      { maxTokens: 99, effort: 'low', thinking: 'adaptive', parameters: own },
    );
    expect(body).toMatchObject({
      temperature: 0,
      max_tokens: 5,
      thinking: { type: 'disabled' },
      output_config: { effort: 'high' },
      metadata: { user_id: 'u' },
    });
  });

  it('leaves out empty text, answers calls that were never answered, and writes ids that are accepted', async () => {
    const { messages } = await sent({
      messages: [
        message('tool', 'an answer whose call was cut off', { toolCallId: 'gone' }),
        message('user', 'Go'),
        message('assistant', ' \n', {
          toolCalls: [
            { id: 'functions.add:0', name: 'add', arguments: '{"a": ' },
            { id: 'b', name: 'add', arguments: '[1]' },
          ],
        }),
        message('tool', '', { toolCallId: 'functions.add:0' }),
        message('user', 'And?'),
        message('assistant', ''),
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: [text('Go')] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'functions_add_0', name: 'add', input: {} },
          { type: 'tool_use', id: 'b', name: 'add', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'functions_add_0' },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: 'This call was not carried out.',
            is_error: true,
          },
          text('And?'),
        ],
      },
    ]);
  });

  it('marks the fixed part and the conversation for the cache', async () => {
    const body = await sent(
      { messages: [message('system', 'Long.'), message('user', 'Hi')], tools: [add] },
      { cache: '1h' },
    );
    const mark = { type: 'ephemeral', ttl: '1h' };
    expect(body.system).toEqual([{ ...text('Long.'), cache_control: mark }]);
    expect(body.messages[0].content).toEqual([{ ...text('Hi'), cache_control: mark }]);
    const withoutSystem = await sent({ tools: [add] }, { cache: true });
    expect(withoutSystem.tools[0].cache_control).toEqual({ type: 'ephemeral' });
  });

  it('carries images, PDF documents and texts, also as results of tools', async () => {
    const media: Media[] = [
      { kind: 'image', id: '1', url: 'https://example.com/a.png' },
      { kind: 'image', id: '2', hash: 'jpeg' },
      { kind: 'file', id: '3', hash: 'pdf', filename: 'paper.pdf' },
      { kind: 'file', id: '4', hash: 'notes', mimeType: 'text/markdown', filename: 'notes.md' },
      { kind: 'file', id: '5', url: 'https://example.com/b.pdf' },
    ];
    const contents = mediaOf({ jpeg: '\xff\xd8\xff...', pdf: '%PDF-1.7', notes: 'some notes' });
    const toolCalls = [{ id: 'a', name: 'draw', arguments: '{}' }];
    const { messages } = await sent({
      messages: [
        message('user', 'Look', { media }),
        message('assistant', '', { toolCalls }),
        message('tool', 'drawn', {
          toolCallId: 'a',
          media: [media[0] as Media, { kind: 'audio', id: 'tune', hash: 'x' }],
        }),
      ],
      media: contents,
    });
    const base64 = (words: string) => Buffer.from(words, 'latin1').toString('base64');
    expect(messages[0].content).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/jpeg', data: base64('\xff\xd8\xff...') },
      },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: base64('%PDF-1.7') },
        title: 'paper.pdf',
      },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'some notes' },
        title: 'notes.md',
      },
      { type: 'document', source: { type: 'url', url: 'https://example.com/b.pdf' }, title: '5' },
      text('Look'),
    ]);
    expect(messages[2].content[0].content).toEqual([
      text('drawn'),
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      text('(The tool also returned the audio tune, which this model cannot take in.)'),
    ]);
  });

  it('says which medium it does not take', async () => {
    const { model } = await modelFor([]);
    const media: Media[] = [{ kind: 'audio', id: 'x', filename: 'talk.mp3', hash: 'h' }];
    const error = await failure(model.generate(ask({ messages: [message('user', 'x', { media })] }), open()));
    expect(error.message).toBe(
      'Anthropic does not take the audio talk.mp3. It takes images, PDF documents and text.',
    );
  });

  it('says that the key is missing', async () => {
    const before = process.env.ANTHROPIC_API_KEY;
    delete process.env.ANTHROPIC_API_KEY;
    try {
      expect((await failure(anthropic({ id }).generate(ask(), open()))).message).toBe(
        'Anthropic needs a key. Set ANTHROPIC_API_KEY, or give apiKey.',
      );
    } finally {
      if (before !== undefined) process.env.ANTHROPIC_API_KEY = before;
    }
  });
});

describe('structured output of Anthropic', () => {
  const person = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 }, age: { type: 'integer', minimum: 0 } },
    required: ['name'],
  };
  const output = { name: 'person', schema: person, strict: true };

  it('is enforced by the API in the subset that it knows', async () => {
    expect((await sent({ output }, { effort: 'high' })).output_config).toEqual({
      effort: 'high',
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            name: { type: 'string', description: '(minLength: 1)' },
            age: { type: 'integer', description: '(minimum: 0)' },
          },
          required: ['name'],
          additionalProperties: false,
        },
      },
    });
  });

  it('is asked for in words where closing the objects would change the schema', async () => {
    const open = { type: 'object', additionalProperties: { type: 'number' } };
    const body = await sent({ output: { ...output, schema: open } });
    expect(body.output_config).toBeUndefined();
    expect(body.system[0].text).toContain(JSON.stringify(open));
  });

  it('is the input of a tool with older models', async () => {
    const events = [
      start,
      block(0, { type: 'tool_use', id: 't', name: 'final_answer', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"name":' }),
      delta(0, { type: 'input_json_delta', partial_json: '"Ada"}' }),
      ...end('tool_use'),
    ];
    const { model, server } = await modelFor([{ raw: namedEvents(events), ending: 'end' }], {
      id: 'claude-sonnet-4-20250514',
    });
    const { deltas, response } = await collect(model.stream(ask({ output }), open()));
    expect(joined(deltas)).toEqual([['text', '{"name":"Ada"}']]);
    expect(response).toMatchObject({ content: '{"name":"Ada"}', toolCalls: [], finishReason: 'stop' });
    expect(server.requests[0]?.body).toMatchObject({
      tools: [{ name: 'final_answer', input_schema: person }],
      tool_choice: { type: 'tool', name: 'final_answer' },
    });
  });

  it('leaves an older model its tools, and does not force one that thinks', async () => {
    const tools = [{ name: 'final_answer', description: '', inputSchema: { type: 'object' } }];
    const older = { id: 'claude-3-7-sonnet-20250219' };
    const body = await sent({ output, tools }, older);
    expect(body.tool_choice).toEqual({ type: 'any' });
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['final_answer', 'final_answer_']);
    const thinking = await sent({ output }, { ...older, thinking: { budgetTokens: 2_000 } });
    expect(thinking.tools).toBeUndefined();
    expect(thinking.system[0].text).toContain('JSON schema');
  });
});
