import { expect } from 'vitest';
import type { FuzzCaller } from './callers.js';
import { type FuzzBody, type FuzzRequest, type Pair, wireOf } from './exchange/request.js';
import type { RawSender } from './exchange/send.js';
import { words } from './yard/words.js';

type Step = readonly [template: string, body: FuzzBody | null];

const run = (template: string, message: string): Step => {
  const fields: Pair[] = [...Object.entries({ message, stream: 'false', user_id: 'ada' })];
  return [template, { kind: 'urlencoded', fields }];
};
const given = (template: string, value: object): Step => [template, { kind: 'json', value }];

/** One of everything, so that from the first moment there is something to ask about. */
const steps: readonly Step[] = [
  ...[...words, 'approve', 'approve', 'audit'].map((word) => run('/agents/plain/runs', word)),
  ...['Hello', 'delegate', 'pay'].map((word) => run('/teams/desk/runs', word)),
  ...['chain', 'asked', 'wide'].flatMap((id) =>
    ['Hello', 'fail', 'pay'].map((word) => run(`/workflows/${id}/runs`, word)),
  ),
  given('/sessions', { session_name: 'Trip', user_id: 'ada' }),
  given('/memories', { memory: 'Likes tea', user_id: 'ada', topics: ['food'] }),
  given('/memories', { memory: 'Lives in Rome', user_id: 'ada' }),
  given('/learnings', { learning_type: 'notes', user_id: 'ada', content: { note: 'x' } }),
  given('/datasets', { name: 'questions' }),
  given('/knowledge/content', {
    name: 'tea',
    text_content: 'Tea is served at five.',
    metadata: { lang: 'en' },
  }),
  given('/knowledge/search', { query: 'tea' }),
  given('/schedules', { name: 'New year', cron_expr: '0 0 1 1 *', endpoint: '/agents/plain/runs' }),
  // without a name it gets an id of its own: components are shared
  given('/components', {
    ...{ name: '', component_type: 'agent', stage: 'published', label: 'first' },
    config: { model: 'offline', instructions: 'Greet.' },
  }),
  given('/eval-runs', {
    ...{
      agent_id: 'plain',
      eval_type: 'accuracy',
      input: 'Hello',
      expected_output: 'Hello',
      name: 'greeting',
    },
  }),
  given('/eval-runs', { agent_id: 'plain', eval_type: 'custom', input: 'Hello', scorers: ['length'] }),
  ...[
    ...['/sessions', '/memories', '/learnings', '/traces', '/approvals', '/agents'],
    '/datasets',
    ...[
      '/knowledge/content',
      '/knowledge/config',
      '/config',
      '/eval-runs',
      '/schedules',
      '/components',
      '/registry',
    ],
  ].map((list): Step => [list, null]),
];

/** What a good client does first. The caller knows of it afterwards. */
export async function takeFirstSteps({ token, pool }: FuzzCaller, sender: RawSender): Promise<void> {
  for (const [template, body] of steps) {
    const request: FuzzRequest = {
      ...{ operationId: template, template, path: {}, query: [], headers: [], body },
      method: body === null ? 'GET' : 'POST',
    };
    const { status, text } = await sender.send(wireOf(request, token));
    expect(status, `${template} ${text.slice(0, 300)}`).toBeOneOf([200, 201, 202]);
    pool.feed(JSON.parse(text));
  }
}
