import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { agent, agentFactory, step, tool, workflow } from '../../../src/index.js';
import { everydayScopes, Gatehouse, Holder } from '../../support/clients/tokens.js';
import { answered, payCall, payingAgent } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Body } from '../../support/service.js';

const minting = ['service_accounts:read', 'service_accounts:write', 'service_accounts:delete'];

/** Requests an account, with scopes that have to be requested twice. */
function mint(by: Holder, name: string, ...scopes: string[]) {
  return by.send('POST', '/service-accounts', {
    name,
    scopes: scopes.map((scope) => ({ scope })),
    allow_privileged_scopes: true,
  });
}

function accountOf(house: Gatehouse, { body }: { body: Body }): Holder {
  return new Holder(house.service, { authorization: `Bearer ${body.token}` });
}

/** An agent whose payments another person has to approve. */
function approvedPayer(book: ScriptBook) {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    approval: 'required',
    execute: () => 'paid',
  });
  return agent({ id: 'payer', model: book.model, tools: [pay] });
}

async function pendingApproval(asking: Holder, book: ScriptBook): Promise<Body> {
  book.write('pay', { toolCalls: [{ name: 'pay', arguments: {} }] }, 'done');
  const { body } = await asking.run('payer', { message: 'pay' });
  expect(body.status).toBe('paused');
  return body.tools[0].approval_id;
}

const approve = (by: Holder, approvalId: string) =>
  by.send('POST', `/approvals/${approvalId}/resolve`, { status: 'approved' });

describe('an account sees no more than its maker', () => {
  test('where scopes are not checked, a caller who sees only their own makes no admin', async () => {
    const settings = { authorization: false, userIsolation: true };
    const house = await Gatehouse.open({ agents: [agent(simple())], ...settings });
    const [ada, bob] = [await house.holder({ sub: 'ada' }), await house.holder({ sub: 'bob' })];
    await bob.run('a', { message: 'private', session_id: 'his' });
    expect((await ada.get('/sessions/his')).status).toBe(404);
    const refused = await mint(ada, 'spy', 'agent_os:admin');
    expect([refused.status, refused.body.error_code]).toEqual([403, 'scopes_not_held']);
    expect((await mint(ada, 'helper', 'agents:run', 'sessions:write')).status).toBe(201);
  });

  test('where scopes are not looked at, a token makes an admin or a maker of accounts only if it says so itself', async () => {
    const house = await Gatehouse.open({ agents: [agent(simple())], authorization: false });
    for (const claims of [
      {},
      { sub: 'ada' },
      { sub: 'ada', scopes: [] },
      { sub: 'ada', scopes: ['agents:run'] },
    ]) {
      const holder = await house.holder(claims);
      for (const scope of ['agent_os:admin', 'service_accounts:write', 'approvals:write']) {
        const refused = await mint(holder, 'spy', 'agents:run', scope);
        expect([refused.status, refused.body.error_code]).toEqual([403, 'scopes_not_held']);
      }
    }
    const plain = accountOf(house, await mint(await house.holder({ sub: 'ada' }), 'plain', 'agents:run'));
    expect((await mint(plain, 'spy', 'agent_os:admin')).status).toBe(403);
    expect((await mint(await house.admin(), 'root-bot', 'agent_os:admin')).status).toBe(201);
  });

  test('a caller who may not decide on calls makes no account that decides for all users', async () => {
    const book = new ScriptBook();
    const house = await Gatehouse.open({ agents: [approvedPayer(book)] });
    const ada = await house.person('ada', [...everydayScopes, 'approvals:write', ...minting]);
    const approvalId = await pendingApproval(ada, book);
    expect((await approve(ada, approvalId)).status).toBe(404);
    for (const scope of ['approvals:write', 'approvals:*:write'])
      expect((await mint(ada, 'stamp', scope)).status).toBe(403);
    // an admin sees everything, and may let a program do so
    const stamp = accountOf(house, await mint(await house.admin(), 'stamp', 'approvals:write', ...minting));
    expect((await mint(stamp, 'second-stamp', 'approvals:write')).status).toBe(201);
  });

  test('the name of another’s account, and with it what the account had, cannot be taken over', async () => {
    const house = await Gatehouse.open({ agents: [agent(simple())] });
    const [admin, ada] = [await house.admin(), await house.person('ada', [...everydayScopes, ...minting])];
    const made = await mint(admin, 'ci-bot', 'agents:run', 'sessions:read');
    await accountOf(house, made).run('a', { message: 'private', session_id: 'of-the-bot' });
    expect((await ada.delete(`/service-accounts/${made.body.id}`)).status).toBe(204);
    const taken = await mint(ada, 'ci-bot', 'agents:run', 'sessions:read');
    expect([taken.status, taken.body.token]).toEqual([409, undefined]);
    // its maker, and a caller who sees everything anyway, may rotate it
    const again = await mint(admin, 'ci-bot', 'sessions:read');
    expect((await accountOf(house, again).get('/sessions/of-the-bot')).status).toBe(200);
    const hers = await mint(ada, 'ada-bot', 'agents:run');
    await ada.delete(`/service-accounts/${hers.body.id}`);
    expect((await mint(ada, 'ada-bot', 'agents:run')).status).toBe(201);
  });

  test('callers cannot decide on their own calls through an account of theirs', async () => {
    const book = new ScriptBook();
    const settings = { userIsolation: false, approvalsFourEyes: true };
    const house = await Gatehouse.open({ agents: [approvedPayer(book)], ...settings });
    const scopes = [...everydayScopes, 'approvals:write', ...minting];
    const [ada, bob] = [await house.person('ada', scopes), await house.person('bob', scopes)];
    const approvalId = await pendingApproval(ada, book);
    const stamp = accountOf(house, await mint(ada, 'stamp', 'approvals:write', ...minting));
    const further = accountOf(house, await mint(stamp, 'further-stamp', 'approvals:write'));
    for (const hers of [ada, stamp, further]) expect((await approve(hers, approvalId)).status).toBe(403);
    const his = accountOf(house, await mint(bob, 'his-stamp', 'approvals:write'));
    expect((await approve(his, approvalId)).status).toBe(200);
  });
});

describe('what a token says cannot be said by its holder', () => {
  test.each([true, '', { id: 's' }])('a session claim %j is refused', async (session_id) => {
    const house = await Gatehouse.open({ agents: [agent(simple())] });
    const ada = await house.holder({ sub: 'ada', scopes: everydayScopes, session_id });
    const { status, body } = await ada.run('a', { message: 'hi', session_id: 'chosen' });
    expect([status, body.error_code]).toEqual([401, 'invalid_token']);
  });

  test.each([
    [7, '7'],
    [null, 'chosen'],
  ])('a session claim %j means the session %j', async (session_id, meant) => {
    const house = await Gatehouse.open({ agents: [agent(simple())] });
    const ada = await house.holder({ sub: 'ada', scopes: everydayScopes, session_id });
    expect((await ada.run('a', { message: 'hi', session_id: 'chosen' })).body.session_id).toBe(meant);
  });

  test('a token without the claims does not leave their names to the form', async () => {
    const book = new ScriptBook();
    const seen: unknown[] = [];
    const look = tool({
      name: 'look',
      description: 'Looks',
      execute: (_arguments, { dependencies }) => {
        seen.push(dependencies);
        return 'seen';
      },
    });
    const house = await Gatehouse.open({
      agents: [agent({ id: 'a', model: book.model, tools: [look] })],
      sessionStateClaims: ['tier'],
      dependenciesClaims: ['tenant'],
    });
    const call = { toolCalls: [{ name: 'look', arguments: {} }] };
    book.write('look', call, 'done');
    book.write('again', call, 'done');
    const ada = await house.person('ada');
    const dependencies = { tenant: 'somebody else’s', k: 1 };
    const form = { session_state: { tier: 'gold', mine: 1 }, dependencies };
    const { body } = await ada.run('a', { message: 'look', ...form });
    expect(body.session_state).toEqual({ mine: 1 });
    const path = `/agents/a/runs/${body.run_id}/continue`;
    expect((await ada.submit(path, { input: 'again', dependencies })).status).toBe(200);
    expect(seen).toEqual([{ k: 1 }, { k: 1 }]);
  });

  test('the events of a workflow’s runs are those of the session that the token names', async () => {
    const flow = workflow({ id: 'w', steps: [step({ name: 's', run: () => 'ok' })] });
    const house = await Gatehouse.open({ workflows: [flow] });
    const bound = await house.holder({ sub: 'ada', scopes: everydayScopes, session_id: 'hers' });
    const free = await house.person('ada');
    const other = (await free.submit('/workflows/w/runs', { message: 'hi', session_id: 'other' })).body;
    const path = `/workflows/w/runs/${other.run_id}`;
    expect((await bound.get(path)).status).toBe(404);
    expect((await bound.get(`${path}/events?session_id=other`)).status).toBe(404);
    const resumed = await bound.stream(`${path}/resume`, { session_id: 'other' });
    await resumed.over;
    expect(resumed.names).toEqual(['error']);
  });

  test('a run that an admin starts for a user is not built for an admin', async () => {
    const claims: unknown[] = [];
    const book = new ScriptBook();
    const made = agentFactory({
      id: 'f',
      build(request) {
        claims.push([request.userId, request.claims]);
        return payingAgent(book, 'x').agent;
      },
    });
    const house = await Gatehouse.open({ agents: [made] });
    const [admin, ada] = [await house.admin(), await house.person('ada')];
    book.write('pay', { toolCalls: [payCall(5)] }, 'paid');
    const run = (await admin.run('f', { message: 'pay', user_id: 'ada' })).body;
    const tools = answered(run, { 'pay-5': { confirmed: true } });
    const done = await ada.submit(`/agents/f/runs/${run.run_id}/continue`, { tools, input: 'and more' });
    expect(done.body.status).toBe('completed');
    expect(claims).toEqual([
      ['ada', null],
      ['ada', null],
    ]);
  });
});

describe('a cookie that the browser sends along for a page of another origin', () => {
  const page = { host: 'yard.example' };
  const open = () =>
    Gatehouse.open({ agents: [agent(simple())], tokenSource: 'both', allowedHosts: ['yard.example'] });

  test.each([
    ['a page elsewhere', { origin: 'https://evil.example' }],
    ['a page without an origin of its own', { origin: 'null' }],
    ['another port of the same host', { origin: 'https://yard.example:3000' }],
    ['a host that only begins the same', { origin: 'https://yard.example.evil.example' }],
    ['a browser that names the site alone', { 'sec-fetch-site': 'cross-site' }],
    ['the same host without TLS', { origin: 'http://yard.example', 'sec-fetch-site': 'cross-site' }],
  ])('%s does nothing with it', async (_what, headers) => {
    const house = await open();
    const refused = await posted(house, { ...page, ...headers });
    expect(refused).toEqual([403, 'origin_not_allowed']);
    expect((await (await house.admin()).get('/agents/a/runs')).body).toEqual([]);
  });

  test.each([
    ['a page of the service itself', { origin: 'https://yard.example', 'sec-fetch-site': 'same-origin' }],
    ['a page that may call', { origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }],
    ['a program', {}],
  ])('%s acts with it', async (_what, headers) => {
    const house = await open();
    expect(await posted(house, { ...page, ...headers })).toEqual([200, undefined]);
  });

  /** `fetch` does not let one say the host. */
  async function posted(house: Gatehouse, headers: Record<string, string>): Promise<unknown[]> {
    const { authorization = '' } = (await house.person('ada')).headers;
    const cookie = `a=b; access_token=${authorization.replace('Bearer ', '')}`;
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const options = { method: 'POST', headers: { ...headers, ...form, cookie } };
    return new Promise((resolve, reject) => {
      const sent = request(`${house.service.url}/agents/a/runs`, options, async (response) => {
        const { error_code: code } = (await json(response)) as Body;
        resolve([response.statusCode, code]);
      });
      sent.on('error', reject).end('message=hi&stream=false');
    });
  }
});

function simple() {
  return { id: 'a', model: new ScriptBook().model };
}
