import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent, Runyard, type RunyardOptions, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { type Body, startService } from '../../support/service.js';

/** A run that says and does what should not be seen; all that its traces say about it, as one text. */
async function shownWith(options: Partial<RunyardOptions>): Promise<{ text: string; trace: Body }> {
  const model = scriptedModel([
    {
      toolCalls: [
        {
          name: 'sign_in',
          arguments: { password: 'hunter2', card: '4111-1111', note: 'a note', phone: 'five-five' },
        },
      ],
    },
    'You are in, 4111-1111.',
  ]);
  const signIn = tool({
    name: 'sign_in',
    description: 'Signs in.',
    inputSchema: z.object({ password: z.string(), card: z.string(), note: z.string(), phone: z.string() }),
    execute: () => ({ access_token: 'tok-123', said: 'welcome' }),
  });
  const service = await startService({ agents: [agent({ id: 'a', model, tools: [signIn] })], ...options });
  await service.run('a', { message: 'Sign me in with 4111-1111.' });
  const list = await service.get('/traces');
  const detail = await service.get(`/traces/${list.body.data[0].trace_id}`);
  const spans = [detail.body.tree[0], ...detail.body.tree[0].spans];
  const single = await Promise.all(
    spans.map(({ id }) => service.get(`/traces/${detail.body.trace_id}?span_id=${id}`)),
  );
  const found = await service.call('POST', '/traces/search', {
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return { text: [list, detail, found, ...single].map(({ text }) => text).join('\n'), trace: detail.body };
}

test('secrets are in no trace', async () => {
  const { text } = await shownWith({});
  expect(text).not.toMatch(/hunter2|tok-123/);
  expect(text).toContain('a note');
  expect(text).toContain('welcome');
  expect(text).toContain('4111-1111');
});

test('rules remove fields by name and texts by expression', async () => {
  const { text, trace } = await shownWith({ traceRedact: ['Phone', '/\\d{4}-\\d{4}/'] });
  expect(text).not.toMatch(/4111-1111|five-five/);
  expect(trace.input).toBe('Sign me in with [removed].');
  expect(trace.output).toBe('You are in, [removed].');
  expect(text).toContain('a note');
});

test('without content, traces still show what happened', async () => {
  const { text, trace } = await shownWith({ traceContent: 'none' });
  // the digits of an id may be those of the card
  const withoutIds = text.replace(/"[\da-f-]{16,36}"/g, '""');
  expect(withoutIds).not.toMatch(/4111|a note|welcome|Sign me|You are/);
  expect(trace.total_spans).toBe(4);
  expect(trace.tree[0].spans).toMatchObject([
    { type: 'LLM', metadata: { model: 'scripted', input_tokens: 10 } },
    { type: 'TOOL', metadata: { tool_name: 'sign_in' } },
    { type: 'LLM' },
  ]);
});

test('a rule that could keep the service busy is refused at start, with the reason', () => {
  expect(() => new Runyard({ traceRedact: ['name', '/(a+)+$/'] }).settings).toThrow(
    /"traceRedact" at "1" is .*repeats a group/,
  );
});
