import { describe, expect, test } from 'vitest';
import { agent, agentFactory, step, team, tool, workflow } from '../../../src/index.js';
import { everydayScopes, Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { answered, payCall, payingAgent } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Body } from '../../support/service.js';

const settings = { sessionStateClaims: ['tier'], dependenciesClaims: ['tenant'] };
const spoofed = { tenant: 'evil', tier: 'gold', user_id: 'root' };
const instructions = 'tenant={tenant} tier={tier} user={user_id}';
const asTokenSays = 'tenant=acme tier=free user=ada';

/** Components whose instructions name what the token fixes, and a caller with such a token. */
async function yard() {
  const book = new ScriptBook();
  const seen: Body[] = [];
  const look = tool({
    name: 'look',
    description: 'Looks',
    execute: (_arguments, { dependencies, state }) => {
      seen.push({ ...dependencies, ...state.all() });
      return 'seen';
    },
  });
  const raise = tool({
    name: 'raise',
    description: 'Raises the tier',
    execute: (_arguments, { state }) => {
      state.set('tier', 'gold');
      return 'raised';
    },
  });
  const writer = agent({
    id: 'a',
    model: book.model,
    instructions,
    tools: [look, raise],
    agenticState: true,
  });
  const factory = agentFactory({
    id: 'f',
    build: ({ state }) => {
      seen.push(state);
      return agent({ id: 'f', model: book.model, instructions });
    },
  });
  const house = await Gatehouse.open({
    agents: [writer, factory, payingAgent(book, 'payer').agent],
    teams: [team({ id: 't', model: book.model, instructions, members: [writer] })],
    workflows: [workflow({ id: 'w', steps: [step({ name: 's', agent: writer })] })],
    ...settings,
  });
  const claims = { sub: 'ada', scopes: everydayScopes };
  const ada = await house.holder({ ...claims, tenant: 'acme', tier: 'free' });
  const withoutClaims = await house.holder(claims);
  return { book, house, seen, ada, withoutClaims };
}

/** What the model received when it answered this message. */
const systemMessages = (book: ScriptBook, message: string) =>
  book.requests(message).map(({ messages }) => messages.find(({ role }) => role === 'system')?.content);

/** A session that its user filled with what the token says otherwise. */
async function preparedSession(by: Holder, sessionId: string): Promise<Body> {
  const made = { session_id: sessionId, agent_id: 'a', session_state: { ...spoofed, mine: 1 } };
  expect((await by.send('POST', '/sessions?type=agent', made)).status).toBe(201);
  const path = `/sessions/${sessionId}`;
  const { body } = await by.send('PATCH', path, { session_state: { ...spoofed, mine: 2 } });
  return body.session_state;
}

describe('what a token fixes', () => {
  test('fills the instructions, whatever the form and the state of the session say', async () => {
    const { book, ada } = await yard();
    expect(await preparedSession(ada, 's')).toEqual({ mine: 2, tenant: 'evil', user_id: 'root' });
    const form = { session_state: spoofed, dependencies: spoofed, metadata: spoofed };
    const { body } = await ada.run('a', { message: 'hi', session_id: 's', ...form });
    expect(systemMessages(book, 'hi')).toEqual([expect.stringContaining(asTokenSays)]);
    expect(body.session_state).toMatchObject({ tier: 'free', mine: 2 });
    // the state that the run left stays what the token said
    const changed = await ada.send('PATCH', '/sessions/s', { session_state: spoofed });
    expect(changed.body.session_state).toMatchObject({ tier: 'free' });
  });

  test('is said by nothing else where the token leaves it out', async () => {
    const { book, withoutClaims } = await yard();
    await preparedSession(withoutClaims, 's');
    const form = { session_state: spoofed, dependencies: spoofed, metadata: spoofed };
    await withoutClaims.run('a', { message: 'hi', session_id: 's', ...form });
    expect(systemMessages(book, 'hi')).toEqual([
      expect.stringContaining('tenant={tenant} tier={tier} user=ada'),
    ]);
  });

  test('holds for members of a team, steps of a workflow and factories', async () => {
    const { book, seen, ada } = await yard();
    const form = { session_state: spoofed, metadata: spoofed };
    const task = { name: 'delegate_task_to_member', arguments: { member_id: 'a', task: 'inner' } };
    book.write('outer', { toolCalls: [task] }, 'done');
    await ada.submit('/teams/t/runs', { message: 'outer', ...form });
    await ada.submit('/workflows/w/runs', { message: 'flow', ...form });
    await ada.run('f', { message: 'built', ...form });
    for (const message of ['outer', 'inner', 'flow', 'built'])
      for (const system of systemMessages(book, message)) expect(system).toContain(asTokenSays);
    expect(systemMessages(book, 'inner')).toHaveLength(1);
    expect(seen.at(-1)).toMatchObject({ tier: 'free' });
  });

  test('is not changed by a tool, nor by the model itself', async () => {
    const { book, seen, ada } = await yard();
    const update = { session_state_updates: { tier: 'gold' } };
    const calls = [
      { name: 'raise' },
      { name: 'update_session_state', arguments: update },
      { name: 'update_session_state', arguments: { session_state_updates: { tier: null } } },
    ];
    book.write('up', ...calls.map((call) => ({ toolCalls: [call] })), {
      toolCalls: [{ name: 'look', arguments: {} }],
    });
    const { body } = await ada.run('a', { message: 'up' });
    expect(body.status).toBe('completed');
    expect(body.session_state).toEqual({ tier: 'free' });
    expect(seen).toEqual([{ tenant: 'acme', tier: 'free' }]);
    for (const { tool_call_error: failed, result } of body.tools.slice(0, 3))
      expect([failed, result]).toEqual([true, expect.stringContaining("fixes 'tier'")]);
  });

  test('holds for a run that continues, with what the token says by then', async () => {
    const { book, house, ada } = await yard();
    book.write('pay', { toolCalls: [payCall(5)] }, 'paid');
    const run = (await ada.run('payer', { message: 'pay', session_id: 's' })).body;
    const root = await house.admin();
    const raised = await root.send('PATCH', '/sessions/s', { session_state: { tier: 'gold' } });
    expect(raised.body.session_state).toEqual({ tier: 'gold' });
    const later = await house.holder({ sub: 'ada', scopes: everydayScopes, tenant: 'acme', tier: 'silver' });
    const tools = answered(run, { 'pay-5': { confirmed: true } });
    const { body } = await later.submit(`/agents/payer/runs/${run.run_id}/continue`, {
      tools,
      dependencies: spoofed,
    });
    expect(body.session_state).toEqual({ tier: 'silver' });
  });
});
