import { describe, expect, test } from 'vitest';
import {
  agent,
  agentFactory,
  type JsonObject,
  type RunValues,
  step,
  type ToolSource,
  team,
  tool,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import {
  adminScope,
  everydayScopes,
  Gatehouse,
  Holder,
  tokenSettings,
} from '../../support/clients/tokens.js';
import { answered, payCall, payingAgent } from '../../support/components/run-life.js';
import { freshSqlite } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const claimed = { sub: 'ada', scopes: everydayScopes, tier: 'gold', topic: 'cats' };
const settings = { sessionStateClaims: ['tier'], dependenciesClaims: ['topic'] };

function guide(book: ScriptBook) {
  return { id: 'guide', model: book.model, instructions: 'Talk about {topic}.', markdown: false };
}

const systemOf = (book: ScriptBook, message: string) => book.requests(message)[0]!.messages[0]!.content;

describe('claims that are bound to runs', () => {
  test('replace state and dependencies of the form completely', async () => {
    const book = new ScriptBook();
    const house = await Gatehouse.open({ agents: [agent(guide(book))], ...settings });
    const ada = await house.holder(claimed);
    const form = { session_state: { mine: 1 }, dependencies: { topic: 'dogs', k: 1 } };
    const { body } = await ada.run('guide', { message: 'talk', ...form });
    expect(body.session_state).toEqual({ tier: 'gold' });
    expect(systemOf(book, 'talk')).toContain('Talk about cats.');
    // without the claims the form counts, but for what only a token can say
    const bob = await house.person('bob');
    const his = (await bob.run('guide', { message: 'talk too', ...form })).body;
    expect(his.session_state).toEqual({ mine: 1 });
    expect(systemOf(book, 'talk too')).not.toContain('dogs');
  });

  test('hold for teams and workflows as well', async () => {
    const book = new ScriptBook();
    const seen: unknown[] = [];
    const flow = workflow({
      id: 'flow',
      steps: [
        step({
          name: 'look',
          run: ({ dependencies, state }) => {
            seen.push([state.get('tier'), state.get('mine'), dependencies]);
            return 'ok';
          },
        }),
      ],
    });
    const crew = team({ ...guide(book), id: 'crew', members: [agent({ id: 'm', model: book.model })] });
    const house = await Gatehouse.open({ teams: [crew], workflows: [flow], ...settings });
    const ada = await house.holder(claimed);
    const form = { message: 'go', session_state: { mine: 1 }, dependencies: { topic: 'dogs' } };
    expect((await ada.submit('/teams/crew/runs', form)).body.session_state).toEqual({ tier: 'gold' });
    expect(systemOf(book, 'go')).toContain('Talk about cats.');
    await ada.submit('/workflows/flow/runs', form);
    expect(seen).toEqual([['gold', undefined, { topic: 'cats' }]]);
  });

  test('a run that continues has the state and the dependencies of the token that it continues with', async () => {
    const book = new ScriptBook();
    const topics: unknown[] = [];
    const note = tool({
      name: 'note',
      description: 'Notes what it is about',
      execute: (_arguments, { dependencies }) => {
        topics.push(dependencies);
        return 'noted';
      },
    });
    const noting = agent({ ...guide(book), tools: [note] });
    const house = await Gatehouse.open({ agents: [noting], ...settings });
    const ada = await house.holder(claimed);
    const call = () => ({ toolCalls: [{ name: 'note', arguments: {} }] });
    book.write('first', call(), 'done');
    book.write('second', call(), 'done');
    const { body } = await ada.run('guide', { message: 'first' });
    const later = await house.holder({ ...claimed, tier: 'lead', topic: 'birds' });
    const form = { input: 'second', dependencies: { topic: 'dogs' } };
    const more = (await later.submit(`/agents/guide/runs/${body.run_id}/continue`, form)).body;
    expect(topics).toEqual([{ topic: 'cats' }, { topic: 'birds' }]);
    expect(more.session_state).toEqual({ tier: 'lead' });
  });

  test('an idempotency key does not lead a caller with other claims to the same run', async () => {
    const house = await Gatehouse.open({ agents: [agent(guide(new ScriptBook()))], ...settings });
    const start = async (claims: object) =>
      house.service.run(
        'guide',
        { message: 'once' },
        { headers: { ...(await house.holder({ ...claimed, ...claims })).headers, 'idempotency-key': 'k' } },
      );
    const first = await start({});
    expect((await start({})).body.run_id).toBe(first.body.run_id);
    expect((await start({ topic: 'birds' })).status).toBe(409);
  });
});

describe('the claims of a token', () => {
  const plan = ({ claims }: RunValues) => `plan ${String(claims?.plan ?? 'none')}`;
  const spoken = scriptedModel(({ messages }) => messages.find(({ role }) => role === 'system')!.content);
  const speaker = () => agent({ id: 'speaker', model: spoken, instructions: plan });
  const calls = (name: string, given: JsonObject) =>
    scriptedModel(({ messages }) => {
      const { role, content } = messages.at(-1)!;
      return role === 'tool' ? content : { toolCalls: [{ name, arguments: given }] };
    });
  const source: ToolSource = {
    name: 'remote',
    readsRun: true,
    tools: async (_signal, _log, run) => [tool({ name: 'far', description: 'x', execute: () => plan(run!) })],
    close: async () => {},
  };
  const asked: unknown[] = [];
  const chosen = agent({
    id: 'chosen',
    model: ({ claims, userId }) => {
      asked.push([userId, claims?.plan]);
      return spoken;
    },
    instructions: plan,
  });
  const quiet = agent({ id: 'quiet', model: scriptedModel(() => 'ok') });
  const host = agent({ id: 'host', model: calls('speaker', { input: 'Go' }), tools: [speaker()] });
  const flows = [
    workflow({ id: 'steps', steps: [step({ name: 's', run: ({ run }) => run(speaker(), 'x') })] }),
    workflow({ id: 'whole', steps: ({ run }) => run(speaker(), 'x') }),
    workflow({ id: 'inner', steps: [host] }),
    workflow({ id: 'front', agent: speaker(), steps: [quiet] }),
  ];

  test('reach the functions of every component of the run', async () => {
    const crew = team({
      id: 'crew',
      model: calls('delegate_task_to_member', { member_id: 'speaker', task: 'x' }),
      members: [speaker()],
    });
    const remote = agent({ id: 'remote', model: calls('far', {}), tools: [source] });
    const house = await Gatehouse.open({
      agents: [speaker(), chosen, quiet, host, remote],
      teams: [crew],
      workflows: flows,
    });
    const ada = await house.holder({ sub: 'ada', scopes: everydayScopes, plan: 'gold' });
    const places = [
      ...['speaker', 'chosen', 'host', 'remote'].map((id) => `agents/${id}`),
      'teams/crew',
      ...flows.map(({ id }) => `workflows/${id}`),
    ];
    for (const place of places) {
      const { body } = await ada.submit(`/${place}/runs`, { message: 'hello' });
      expect([place, String(body.content)]).toEqual([place, expect.stringContaining('plan gold')]);
      expect(body).not.toHaveProperty('claims');
    }
    // an admin who starts a run for another user has none, and a form says nothing about them
    const root = await house.holder({ sub: 'root', scopes: [adminScope], plan: 'root' });
    await root.run('chosen', { message: 'hello', user_id: 'ada', claims: '{"plan":"forged"}' });
    expect(asked).toEqual([
      ['ada', 'gold'],
      ['ada', undefined],
    ]);
  });

  test('that only say when a token was made do not make another request of the same one', async () => {
    const house = await Gatehouse.open({ agents: [speaker()] });
    const start = async (claims: object) =>
      house.service.run(
        'speaker',
        { message: 'once' },
        { headers: { ...(await house.holder({ ...claimed, ...claims })).headers, 'idempotency-key': 'k' } },
      );
    const now = Math.floor(Date.now() / 1000);
    const first = await start({ jti: 'a', iat: now - 60, exp: now + 600 });
    const second = await start({ jti: 'b', iat: now - 5, exp: now + 700 });
    expect(second.body.run_id).toBe(first.body.run_id);
    expect((await start({ plan: 'gold' })).status).toBe(409);
  });
});

describe('a session that a token names', () => {
  const bound = { sub: 'ada', scopes: everydayScopes, session_id: 'hers' };

  async function yard() {
    const book = new ScriptBook();
    const { agent: payer, paid } = payingAgent(book, 'a');
    const flow = workflow({ id: 'w', steps: [step({ name: 's', run: () => 'ok' })] });
    const house = await Gatehouse.open({ agents: [payer], workflows: [flow] });
    return { book, paid, house, ada: await house.holder(bound), free: await house.person('ada') };
  }

  test('is the one of every run, whatever the form says', async () => {
    const { ada } = await yard();
    for (const session_id of [undefined, 'other']) {
      expect((await ada.run('a', { message: 'hi', session_id })).body.session_id).toBe('hers');
      const { body } = await ada.submit('/workflows/w/runs', { message: 'hi', session_id });
      expect(body.session_id).toBe('hers');
    }
  });

  test('is the only one whose runs can be continued', async () => {
    const { book, ada, free, paid } = await yard();
    book.write('pay', { toolCalls: [payCall(5)] }, 'paid');
    const elsewhere = (await free.run('a', { message: 'hi', session_id: 'other' })).body;
    const path = (run: Body) => `/agents/a/runs/${run.run_id}/continue`;
    const refused = await ada.submit(path(elsewhere), { session_id: 'other', input: 'more' });
    expect([refused.status, refused.body.detail]).toEqual([404, 'Run not found']);
    const run = (await ada.run('a', { message: 'pay' })).body;
    const tools = answered(run, { 'pay-5': { confirmed: true } });
    const done = await ada.submit(path(run), { tools, session_id: 'other' });
    expect(done.body).toMatchObject({ status: 'completed', session_id: 'hers' });
    expect(paid).toHaveLength(1);
  });

  test('is the only one whose workflow runs can be read', async () => {
    const { ada, free } = await yard();
    const own = (await ada.submit('/workflows/w/runs', { message: 'hi' })).body;
    const other = (await free.submit('/workflows/w/runs', { message: 'hi', session_id: 'other' })).body;
    const list = (await ada.get('/workflows/w/runs?session_id=other')).body;
    expect(list.map((run: Body) => run.run_id)).toEqual([own.run_id]);
    expect((await ada.get(`/workflows/w/runs/${own.run_id}?session_id=other`)).status).toBe(200);
    expect((await ada.get(`/workflows/w/runs/${other.run_id}?session_id=other`)).status).toBe(404);
    expect((await free.get(`/workflows/w/runs/${other.run_id}`)).status).toBe(200);
  });

  test('must belong to the caller like any other', async () => {
    const { house, free } = await yard();
    await free.run('a', { message: 'hi', session_id: 'hers' });
    const bob = await house.holder({ ...bound, sub: 'bob' });
    expect((await bob.run('a', { message: 'hi' })).status).toBe(404);
    const unusable = await house.holder({ ...bound, session_id: 'x'.repeat(300) });
    expect((await unusable.run('a', { message: 'hi' })).status).toBe(401);
  });

  test('does not bind the users whom an admin acts for', async () => {
    const { house, free } = await yard();
    const admin = await house.holder({ sub: 'root', scopes: ['agent_os:admin'], session_id: 'office' });
    const hers = (await free.run('a', { message: 'hi', session_id: 'other' })).body;
    const more = await admin.submit(`/agents/a/runs/${hers.run_id}/continue`, { input: 'more' });
    expect(more.body).toMatchObject({ status: 'completed', session_id: 'other', user_id: 'ada' });
    const forAda = await admin.run('a', { message: 'hi', user_id: 'ada', session_id: 'other' });
    expect(forAda.body).toMatchObject({ session_id: 'other', user_id: 'ada' });
    expect((await admin.run('a', { message: 'hi' })).body.session_id).toBe('office');
  });
});

describe('a factory receives all claims', () => {
  const secretive = { ...claimed, department: 'claim-of-hers' };

  test('of the token, and no other reader does', async () => {
    const book = new ScriptBook();
    const claims: unknown[] = [];
    const made = agentFactory({
      id: 'f',
      build(request) {
        claims.push(request.claims);
        return agent({ id: 'x', model: book.model });
      },
    });
    const house = await Gatehouse.open({ agents: [made, agent({ id: 'a', model: book.model })] });
    const ada = await house.holder(secretive);
    const stream = await ada.stream('/agents/f/runs', { message: 'hello' });
    await stream.over;
    expect(claims).toEqual([secretive]);
    const { run_id: runId, session_id: sessionId } = stream.events[0]!;
    const shown = [
      JSON.stringify(stream.events),
      (await ada.get(`/agents/f/runs/${runId}`)).text,
      (await ada.get('/agents/f/runs')).text,
      (await ada.get(`/agents/f/runs/${runId}/checkpoints/1`)).text,
      (await ada.get(`/sessions/${sessionId}`)).text,
      (await ada.get(`/sessions/${sessionId}/runs`)).text,
      (await ada.get(`/traces/${String(runId).replaceAll('-', '')}`)).text,
    ];
    for (const text of shown) expect(text).not.toContain('claim-of-hers');
    expect(shown.every((text) => text.includes(String(runId)) || text.includes('hello'))).toBe(true);
  });

  test('again when the run is continued, and the current ones when its owner makes a copy', async () => {
    const claims: Body[] = [];
    const book = new ScriptBook();
    const made = agentFactory({
      id: 'f',
      build(request) {
        claims.push(request.claims);
        return payingAgent(book, 'x').agent;
      },
    });
    const house = await Gatehouse.open({ agents: [made] });
    const [ada, admin] = [await house.holder(secretive), await house.admin()];
    book.write('pay', { toolCalls: [payCall(5)] }, 'paid');
    const run = (await ada.run('f', { message: 'pay' })).body;
    const path = `/agents/f/runs/${run.run_id}/continue`;
    const later = await house.holder({ ...secretive, tier: 'lead' });
    await later.submit(path, { tools: answered(run, { 'pay-5': { confirmed: true } }) });
    await later.submit(path, { input: 'more' });
    await admin.submit(path, { input: 'more still' });
    expect(claims.map(({ tier, sub }) => [sub, tier])).toEqual([
      ['ada', 'gold'],
      ['ada', 'gold'],
      ['ada', 'lead'],
      ['ada', 'gold'],
    ]);
  });

  test('the same when another process takes the run over', async () => {
    const place = await freshSqlite();
    const reached = gate();
    const never = new Promise<never>(() => {});
    const waiting = scriptedModel(() => {
      reached.open();
      return { text: 'never said', waitFor: never };
    });
    const before = agentFactory({ id: 'f', build: () => agent({ id: 'x', model: waiting }) });
    const shared = { ...tokenSettings, database: place.url, autoMigrate: true };
    const first = await TestService.start({ ...shared, agents: [before] });
    const claims: unknown[] = [];
    const after = agentFactory({
      id: 'f',
      build(request) {
        claims.push(request.claims);
        return agent({ id: 'x', model: scriptedModel(['done']) });
      },
    });
    const house = await Gatehouse.open({ ...shared, agents: [after], leaseMs: 1_000 });
    const { headers } = await house.holder(secretive);
    const form = { message: 'long', background: true };
    const { run_id: runId } = (await new Holder(first, headers).run('f', form)).body;
    await reached.opened;
    await first.stop();
    await until('the run ended', async () => {
      const { body } = await house.service.get(`/agents/f/runs/${runId}`, headers);
      return body.status === 'completed';
    });
    expect(claims).toEqual([secretive]);
  });
});

test('a route of the application’s own is handed the caller with all this', async () => {
  const house = await Gatehouse.open({
    ...settings,
    routes: (app) => {
      app.get('/mine', async ({ caller }) => ({
        user: caller?.userId,
        scope: caller?.scope,
        department: caller?.claims?.department,
        bound: caller?.bound,
        runs: caller?.rights.may('agents:run', 'a'),
        admin: caller?.rights.isAdmin,
      }));
    },
  });
  const ada = await house.holder({ ...claimed, scopes: ['agents:a:run'], department: 'sales' });
  expect(await (await fetch(`${house.service.url}/mine`, { headers: ada.headers })).json()).toEqual({
    user: 'ada',
    scope: { kind: 'user', userId: 'ada' },
    department: 'sales',
    bound: {
      sessionState: { tier: 'gold' },
      dependencies: { topic: 'cats' },
      claimNames: { sessionState: ['tier'], dependencies: ['topic'] },
    },
    runs: true,
    admin: false,
  });
  expect((await fetch(`${house.service.url}/mine`)).status).toBe(401);
});
