import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { agent, Runyard, team, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { freshSqlite } from '../../support/databases.js';
import { gate, until } from '../../support/until.js';

const look = tool({
  name: 'look',
  description: 'Looks',
  inputSchema: z.object({}),
  execute: () => 'a ladder',
});

/** What a model was shown, in a line. */
const shown = scriptedModel(({ messages }) =>
  messages
    .map(({ role, content, toolCalls }) => `${role}:${content}${toolCalls?.length ? '+call' : ''}`)
    .join(' | '),
);

async function serviceOn(url: string, options: Omit<ConstructorParameters<typeof Runyard>[0], 'database'>) {
  const app = new Runyard({ database: url, logLevel: 'silent', ...options });
  onTestFinished(() => app.close({ graceMs: 0 }));
  return app;
}

const scout = () =>
  agent({
    id: 'scout',
    tools: [look],
    model: scriptedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? 'There is a ladder.'
        : { text: 'Let me see.', toolCalls: [{ name: 'look', arguments: {} }] },
    ),
  });

test('agents of a session share its history without the calls of others, and no other session is seen', async () => {
  const first = scout();
  const own = agent({ id: 'own', model: shown, addHistoryToContext: true });
  const sharing = agent({ id: 'sharing', model: shown, addHistoryToContext: true, historyFrom: 'session' });
  // a team is another component, also one of the same id
  const crew = team({
    id: 'sharing',
    model: scriptedModel([
      { toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'mate', task: 'x' } }] },
      'Crew here.',
    ]),
    members: [agent({ id: 'mate', model: scriptedModel(['Aye.']) })],
  });
  const reader = agent({
    id: 'reader',
    model: scriptedModel(({ messages }) => {
      const { role, content } = messages.at(-1)!;
      return role === 'tool' ? content : { toolCalls: [{ name: 'get_chat_history', arguments: {} }] };
    }),
    readChatHistory: true,
    historyFrom: 'session',
  });
  const flow = workflow({ id: 'flow', steps: [() => 'not a conversation'] });
  await serviceOn((await freshSqlite()).url, {
    agents: [first, own, sharing, reader],
    teams: [crew],
    workflows: [flow],
  });
  const site = { sessionId: 's', userId: 'ada' };
  await first.run('What is there?', site);
  await crew.run('Anyone?', site);
  await flow.run('go', site);
  await first.run('Elsewhere', { sessionId: 'other', userId: 'ada' });
  expect((await own.run('And you?', site)).content).toBe('user:And you?');
  const output = await sharing.run('Summarise', site);
  expect(output.content).toBe(
    'user:What is there? | assistant:Let me see. | assistant:There is a ladder. | ' +
      'user:Anyone? | assistant:Crew here. | user:And you? | assistant:user:And you? | user:Summarise',
  );
  expect(output.messages.filter(({ toolCalls }) => toolCalls?.length)).toEqual([]);
  expect((await reader.run('What was said?', site)).content).toContain('There is a ladder.');
  await expect(sharing.run('x', { ...site, userId: 'eve' })).rejects.toMatchObject({
    code: 'session_of_another_user',
  });
  // @ts-expect-error
  expect(() => agent({ id: 'x', model: shown, historyFrom: 'all' })).toThrow(
    "historyFrom is 'all'. Give 'own' or",
  );
});

test('an execution after a crash shows the same history', async () => {
  const { url } = await freshSqlite();
  const { open, opened } = gate();
  let calls = 0;
  const seen: number[] = [];
  const make = () => {
    const wait = tool({
      name: 'wait',
      description: 'Waits',
      inputSchema: z.object({}),
      execute: async () => {
        calls += 1;
        await opened;
      },
    });
    const model = scriptedModel(({ messages }) => {
      seen.push(messages.length);
      return messages.some(({ role }) => role === 'tool')
        ? 'Done.'
        : { toolCalls: [{ name: 'wait', arguments: {} }] };
    });
    const other = agent({ id: 'other', model: scriptedModel(() => 'Said.') });
    const sharing = agent({
      id: 'sharing',
      model,
      tools: [wait],
      addHistoryToContext: true,
      numHistoryRuns: 1,
      historyFrom: 'session',
    });
    return { other, sharing };
  };
  const one = make();
  const first = await serviceOn(url, { agents: [one.other, one.sharing] });
  await one.other.run('Before', { sessionId: 's' });
  const run = await one.sharing.start('Go', { sessionId: 's', background: true });
  await until('the tool is called', () => calls === 1);
  // a later run of the session is not part of what this one was shown
  await one.other.run('After', { sessionId: 's' });
  await first.close({ graceMs: 0 });
  open();
  const two = make();
  const second = await serviceOn(url, { agents: [two.other, two.sharing] });
  await until('the run is complete', async () => (await second.runs.get(run.runId)).status === 'completed');
  expect(seen).toEqual([3, 5]);
});

test('an agent that no service registers has a log, which cannot harm it', async () => {
  const lines: string[] = [];
  const write = (fields: object, message: string) => {
    lines.push(`${message} ${'err' in fields ? String(fields.err) : ''}`);
    throw new Error('the log is broken');
  };
  const log = { debug() {}, info() {}, warn: write, error: write };
  const crash = () => {
    throw new Error('the hook is broken');
  };
  const clerk = agent({ id: 'clerk', model: scriptedModel(['Hello.']), postHooks: [crash], log });
  expect((await clerk.run('hi')).content).toBe('Hello.');
  expect(lines.join('\n')).toContain('the hook is broken');
  const failing = workflow({ id: 'flow', steps: [crash], log });
  expect((await failing.run('go')).status).toBe('error');
  expect(lines.length).toBeGreaterThan(1);
  // @ts-expect-error
  expect(() => agent({ id: 'x', model: 'offline', log: console.log })).toThrow('Give a log with debug');
});
