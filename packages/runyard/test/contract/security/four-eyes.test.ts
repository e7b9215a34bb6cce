import { describe, expect, test } from 'vitest';
import { agent, type RunyardOptions, team, tool } from '../../../src/index.js';
import { everydayScopes, Gatehouse, Holder } from '../../support/clients/tokens.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { waiting } from '../../support/components/approvals.js';
import { forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Body } from '../../support/service.js';

const deciding = [...everydayScopes, 'approvals:write', 'approvals:delete'];
const minting = ['service_accounts:read', 'service_accounts:write', 'service_accounts:delete'];
const payment = { toolCalls: [{ name: 'pay', arguments: {} }] };
const approved = 'approved';
const ownCall = 'own_approval';

/** An agent whose payments another person has to approve, and people who all see everything. */
async function bank(options: RunyardOptions = {}) {
  const book = new ScriptBook();
  const pay = tool({ name: 'pay', description: 'Pays', approval: 'required', execute: () => 'paid' });
  const payer = agent({ id: 'payer', model: book.model, tools: [pay] });
  const desk = team({ id: 'desk', model: book.model, members: [payer] });
  const house = await Gatehouse.open({
    agents: [payer],
    teams: [desk],
    userIsolation: false,
    approvalsFourEyes: true,
    ...options,
  });
  const person = (name: string) => house.person(name, [...deciding, ...minting]);
  const mint = async (by: Holder, name: string) => {
    const { body } = await by.send('POST', '/service-accounts', {
      name,
      scopes: [...deciding, ...minting].map((scope) => ({ scope })),
      allow_privileged_scopes: true,
    });
    expect(body.principal).toBe(`sa:${name}`);
    return { id: body.id, holder: new Holder(house.service, { authorization: `Bearer ${body.token}` }) };
  };
  return { book, house, person, mint };
}

/** Starts a run that pauses before a payment. */
async function paused(book: ScriptBook, asking: Holder, form: Body = {}): Promise<Body> {
  book.write('pay', payment, 'done');
  const { body } = await asking.run('payer', { message: 'pay', ...form });
  expect(body.status).toBe('paused');
  return body;
}

const approvalOf = (run: Body): string =>
  run.tools.findLast((call: Body) => call.approval_id && call.result === null).approval_id;

async function decision(by: Holder, run: Body, given: Body = {}): Promise<string> {
  const path = `/approvals/${approvalOf(run)}/resolve`;
  const { body } = await by.send('POST', path, { status: 'approved', ...given });
  return body.error_code ?? body.status;
}

describe('asking through an account', () => {
  test('its maker cannot decide, nor another account of theirs, however it was made', async () => {
    const { book, person, mint } = await bank();
    const [ada, bob] = [await person('ada'), await person('bob')];
    const first = await mint(ada, 'first');
    const sibling = await mint(ada, 'sibling');
    const nephew = await mint(sibling.holder, 'nephew');
    const run = await paused(book, first.holder);
    for (const hers of [first.holder, ada, sibling.holder, nephew.holder])
      expect(await decision(hers, run)).toBe(ownCall);
    expect(await decision(bob, run)).toBe(approved);
  });

  test('it does not help to revoke the account, nor to make it again as another person', async () => {
    const { book, person, mint } = await bank();
    const [ada, bob] = [await person('ada'), await person('bob')];
    const worker = await mint(ada, 'worker');
    const run = await paused(book, worker.holder);
    expect((await ada.delete(`/service-accounts/${worker.id}`)).status).toBe(204);
    expect(await decision(ada, run)).toBe(ownCall);
    const again = await mint(bob, 'worker');
    expect(await decision(again.holder, run)).toBe(ownCall);
    expect(await decision(bob, run)).toBe(approved);
  });

  test('accounts that nameless administrators made count as those of one maker', async () => {
    const { book, house, person, mint } = await bank();
    const nameless = await house.holder({ scopes: ['agent_os:admin'] });
    const [worker, stamp] = [await mint(nameless, 'worker'), await mint(nameless, 'stamp')];
    const child = await mint(stamp.holder, 'child');
    const run = await paused(book, worker.holder);
    for (const related of [stamp.holder, child.holder]) expect(await decision(related, run)).toBe(ownCall);
    expect(await decision(await person('bob'), run)).toBe(approved);
  });

  test('a caller with a token without a subject cannot decide through an account of theirs', async () => {
    const { book, house, person, mint } = await bank();
    const nameless = await house.holder({ scopes: ['agent_os:admin'] });
    const stamp = await mint(nameless, 'stamp');
    const run = await paused(book, nameless, { user_id: 'ada' });
    expect(await decision(stamp.holder, run)).toBe(ownCall);
    // nor by letting the run of another person continue
    const other = await paused(book, await person('eve'));
    expect(await decision(await person('bob'), other)).toBe(approved);
    book.write('pay', payment, 'done');
    const path = `/agents/payer/runs/${other.run_id}/continue`;
    const { body: copy } = await nameless.submit(path, { regenerate: true });
    expect(copy.status).toBe('paused');
    expect(await decision(stamp.holder, copy)).toBe(ownCall);
    expect(await decision(await person('bob'), copy)).toBe(approved);
  });

  test('a security key makes no second pair of eyes out of two accounts', async () => {
    const securityKey = 'a-key-of-more-than-sixteen-characters';
    const { book, house, mint } = await bank({ authorization: false, jwtKeys: [], securityKey });
    const key = new Holder(house.service, { authorization: `Bearer ${securityKey}` });
    const [worker, stamp] = [await mint(key, 'worker'), await mint(key, 'stamp')];
    const run = await paused(book, worker.holder);
    expect(await decision(stamp.holder, run)).toBe(ownCall);
  });
});

forEachDatabase((_dialect, freshPlace) => {
  test('a run of an account from before askers were stored: its maker cannot decide', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const { person, mint } = await bank({ database: place.url });
    const [ada, bob, eve] = [await person('ada'), await person('bob'), await person('eve')];
    const worker = await mint(ada, 'worker');
    const sibling = await mint(ada, 'sibling');
    const { approval, run } = await waiting(database, { userId: 'sa:worker' });
    expect(run.askers).toEqual([]);
    const asked = { tools: [{ approval_id: approval.approvalId, result: null }] };
    for (const hers of [worker.holder, ada, sibling.holder])
      expect(await decision(hers, asked)).toBe(ownCall);
    // nor after the account was revoked, and its name given to another
    expect((await ada.delete(`/service-accounts/${worker.id}`)).status).toBe(204);
    await mint(bob, 'worker');
    expect(await decision(ada, asked)).toBe(ownCall);
    expect(await decision(eve, asked)).toBe(approved);
  });
});

describe('everyone who takes part in a run is one of its askers', () => {
  test('an administrator who starts it in the name of another person', async () => {
    const { book, house, person } = await bank();
    const root = await house.admin('root');
    const run = await paused(book, root, { user_id: 'ada' });
    expect(run.user_id).toBe('ada');
    expect(await decision(root, run)).toBe(ownCall);
    expect(await decision(await person('ada'), run)).toBe(ownCall);
    expect(await decision(await house.admin('other'), run)).toBe(approved);
  });

  test('one who continues the run of another person, with a message', async () => {
    const { book, person, mint } = await bank();
    const [ada, bob, eve] = [await person('ada'), await person('bob'), await person('eve')];
    book.write('hello', 'hi');
    const { body: greeting } = await ada.run('payer', { message: 'hello' });
    book.write('now pay', payment, 'done');
    const path = `/agents/payer/runs/${greeting.run_id}/continue`;
    const bobsBot = await mint(bob, 'bobs-bot');
    const { body: copy } = await bob.submit(path, { input: 'now pay' });
    for (const asker of [ada, bob, bobsBot.holder]) expect(await decision(asker, copy)).toBe(ownCall);
    expect(await decision(eve, copy)).toBe(approved);
  });

  test.each([{ fork: true, input: 'pay again' }, { regenerate: true }])(
    'one who continues a copy of it: %j',
    async (form) => {
      const { book, person } = await bank();
      const [ada, bob, eve] = [await person('ada'), await person('bob'), await person('eve')];
      const run = await paused(book, ada);
      expect(await decision(eve, run)).toBe(approved);
      const path = `/agents/payer/runs/${run.run_id}/continue`;
      book.write('pay again', payment, 'done');
      expect((await ada.submit(path)).body.status).toBe('completed');
      book.write('pay', payment, 'done');
      const { body: copy } = await bob.submit(path, form);
      expect(copy.status).toBe('paused');
      for (const asker of [ada, bob]) expect(await decision(asker, copy)).toBe(ownCall);
      expect(await decision(eve, copy)).toBe(approved);
    },
  );

  test('a caller who retries a failed run, and one who continues a paused run', async () => {
    const { book, person } = await bank();
    const [ada, bob, eve] = [await person('ada'), await person('bob'), await person('eve')];
    book.write('fail', () => {
      throw new Error('away');
    });
    const failed = (await ada.run('payer', { message: 'fail' })).body;
    expect(failed.status).toBe('error');
    const path = `/agents/payer/runs/${failed.run_id}/continue`;
    book.write('now pay', payment, payment, 'done');
    const { body: retried } = await bob.submit(path, { input: 'now pay' });
    expect(retried.run_id).toBe(failed.run_id);
    expect(await decision(bob, retried)).toBe(ownCall);
    // eve decides, and lets the run continue: the next call is one that she asked for as well
    expect(await decision(eve, retried)).toBe(approved);
    const { body: second } = await eve.submit(path);
    expect(second.status).toBe('paused');
    expect(await decision(eve, second)).toBe(ownCall);
    expect(await decision(await person('zoe'), second)).toBe(approved);
  });

  test('one who asks a team whose member makes the call, or asks over a WebSocket', async () => {
    const { book, house, person, mint } = await bank({ websocket: true });
    const [ada, bob] = [await person('ada'), await person('bob')];
    const bot = await mint(ada, 'bot');
    const task = { name: 'delegate_task_to_member', arguments: { member_id: 'payer', task: 'pay' } };
    book.write('have it paid', { toolCalls: [task] }, 'done');
    book.write('pay', payment, 'done');
    const { body: run } = await bot.holder.submit('/teams/desk/runs', { message: 'have it paid' });
    const [approval] = (await bob.get(`/approvals?run_id=${run.run_id}`)).body.data;
    const nested = { tools: [{ approval_id: approval.id, result: null }] };
    expect(await decision(ada, nested)).toBe(ownCall);
    expect(await decision(bob, nested)).toBe(approved);

    const socket = await WsClient.connect(house.service.url, '/agents/ws?format=json', {
      headers: bot.holder.headers,
    });
    book.write('pay', payment, 'done');
    socket.send({ action: 'start-agent', agent_id: 'payer', message: 'pay' });
    const { run_id: runId } = await socket.event('RunPaused');
    const [asked] = (await bob.get(`/approvals?run_id=${runId}`)).body.data;
    expect(await decision(ada, { tools: [{ approval_id: asked.id, result: null }] })).toBe(ownCall);
  });
});

test('a token without a subject does not decide, whatever name it sends', async () => {
  const { book, house, person } = await bank();
  const run = await paused(book, await person('ada'));
  const nameless = await house.holder({ scopes: ['agent_os:admin'] });
  expect(await decision(nameless, run, { resolved_by: 'grace' })).toBe('resolver_unknown');
});

test('an answer in a request to continue does not take the place of the decision', async () => {
  const { book, person } = await bank();
  const ada = await person('ada');
  const run = await paused(book, ada);
  const tools = run.tools.map((call: Body) => ({ ...call, confirmed: true, approval_status: 'approved' }));
  const { status } = await ada.submit(`/agents/payer/runs/${run.run_id}/continue`, { tools });
  expect(status).toBe(400);
});
