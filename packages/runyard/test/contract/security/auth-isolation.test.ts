import { describe, expect, it, test } from 'vitest';
import { agent, agentFactory } from '../../../src/index.js';
import { Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { type DatabasePlace, forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Answer, Body } from '../../support/service.js';
import { gate } from '../../support/until.js';

/** People at one service; each of them, and a caller without a user, has had one run. */
async function yard(place: DatabasePlace) {
  await place.open();
  const book = new ScriptBook();
  const house = await Gatehouse.open({
    agents: [agent({ id: 'a', model: book.model })],
    database: place.url,
  });
  const [ada, bob, nobody] = [await house.person('ada'), await house.person('bob'), await house.nobody()];
  const runs: Record<string, Body> = {};
  for (const [name, holder] of Object.entries({ ada, bob, nobody })) {
    const { body } = await holder.run('a', { message: `from ${name}`, session_id: `of-${name}` });
    runs[name] = body;
  }
  return { house, book, ada, bob, nobody, runs, admin: await house.admin() };
}

const idsIn = (answer: Answer, field: string) =>
  (answer.body.data ?? answer.body).map((entry: Body) => entry[field]).toSorted();

forEachDatabase((_dialect, freshPlace) => {
  it('runs and sessions are seen by their owner, and those without an owner by callers without a user', async () => {
    const { ada, nobody, runs, admin } = await yard(await freshPlace());
    expect(runs.nobody.user_id).toBeNull();
    for (const [holder, name] of [
      [ada, 'ada'],
      [nobody, 'nobody'],
    ] as const) {
      expect(idsIn(await holder.get('/agents/a/runs'), 'run_id')).toEqual([runs[name].run_id]);
      expect(idsIn(await holder.get('/sessions'), 'session_id')).toEqual([`of-${name}`]);
      expect(idsIn(await holder.get('/sessions?user_id=bob'), 'session_id')).toEqual([`of-${name}`]);
      expect(idsIn(await holder.get('/traces'), 'run_id')).toEqual([runs[name].run_id]);
      expect((await holder.get(`/agents/a/runs/${runs[name].run_id}`)).status).toBe(200);
      expect((await holder.get(`/sessions/of-${name}/runs/${runs[name].run_id}`)).status).toBe(200);
    }
    expect((await admin.get('/sessions')).body.meta.total_count).toBe(3);
    expect(idsIn(await admin.get('/sessions?user_id=bob'), 'session_id')).toEqual(['of-bob']);
  });

  it('what belongs to another user does not exist, whatever the request', async () => {
    const { ada, bob, nobody, runs } = await yard(await freshPlace());
    const { run_id: runId } = runs.ada;
    const run = `/agents/a/runs/${runId}`;
    const text = (answer: Answer) => [answer.status, answer.body.detail];
    for (const other of [bob, nobody]) {
      for (const path of [run, `${run}/checkpoints`, `${run}/events`])
        expect(text(await other.get(path))).toEqual([404, 'Run not found']);
      expect(text(await other.submit(`${run}/continue`, { input: 'go on' }))).toEqual([404, 'Run not found']);
      expect(text(await other.get('/agents/a/runs?session_id=of-ada'))).toEqual([404, 'Session not found']);
      expect((await other.get('/sessions/of-ada')).status).toBe(404);
      expect((await other.get('/sessions/of-ada/runs')).status).toBe(404);
      expect((await other.send('PATCH', '/sessions/of-ada', { session_name: 'mine' })).status).toBe(404);
      expect((await other.delete('/sessions/of-ada')).status).toBe(204);
      expect(text(await other.submit('/agents/a/sessions/of-ada/fork'))).toEqual([
        400,
        'Source session has no runs to fork.',
      ]);
      const resumed = await other.stream(`${run}/resume`);
      await resumed.over;
      expect(resumed.names).toEqual(['error']);
      expect((await other.get(`/traces/${runId.replaceAll('-', '')}`)).status).toBe(404);
      const search = { filter: { op: 'EQ', key: 'user_id', value: 'ada' } };
      expect((await other.send('POST', '/traces/search', search)).body.meta.total_count).toBe(0);
    }
    expect((await ada.get('/sessions/of-ada')).body.session_name).toBe('from ada');
  });

  it('a run in another user’s session is refused before anything is done', async () => {
    const { bob, nobody, admin, book } = await yard(await freshPlace());
    for (const [holder, status] of [
      [bob, 404],
      [nobody, 404],
      [admin, 409],
    ] as const) {
      for (const way of [{}, { stream: true }, { background: true }]) {
        const form = { message: 'intruding', session_id: 'of-ada', ...way };
        expect((await holder.run('a', form)).status).toBe(status);
      }
    }
    const { body } = await bob.run('a', { message: 'intruding', session_id: 'of-ada' });
    expect(body.detail).toBe('Session not found');
    expect(book.requests('intruding')).toEqual([]);
    const taken = await bob.send('POST', '/sessions', { session_id: 'of-ada' });
    expect([taken.status, taken.body.error_code]).toEqual([409, 'session_id_refused']);
  });

  it('memories belong to the user that a token names, and to no other', async () => {
    const { ada, bob, nobody } = await yard(await freshPlace());
    const write = async (holder: Holder, topic: string) =>
      (await holder.send('POST', '/memories', { memory: 'Likes tea', topics: [topic], user_id: 'bob' })).body;
    const hers = await write(ada, 'drinks');
    expect(hers.user_id).toBe('ada');
    const his = await write(bob, 'teas');
    expect(idsIn(await ada.get('/memories?user_id=bob'), 'memory_id')).toEqual([hers.memory_id]);
    expect((await ada.get('/memory_topics')).body).toEqual(['drinks']);
    expect(idsIn(await ada.get('/user_memory_stats'), 'user_id')).toEqual(['ada']);
    expect((await ada.get(`/memories/${his.memory_id}`)).status).toBe(404);
    await ada.delete('/memories', { memory_ids: [his.memory_id], user_id: 'bob' });
    expect((await bob.get(`/memories/${his.memory_id}`)).status).toBe(200);
    for (const query of ['', '?user_id=ada', '?topics=drinks', '?search_content=tea', '?agent_id=x'])
      expect((await nobody.get(`/memories${query}`)).body.data).toEqual([]);
    expect((await nobody.get('/memory_topics')).body).toEqual([]);
    expect((await nobody.get('/user_memory_stats')).body.data).toEqual([]);
    expect((await nobody.delete(`/memories/${hers.memory_id}`)).status).toBe(204);
    expect((await ada.get(`/memories/${hers.memory_id}`)).status).toBe(200);
    const refused = await nobody.send('POST', '/memories', { memory: 'Likes tea', user_id: 'ada' });
    expect([refused.status, refused.body.error_code]).toEqual([400, 'user_required']);
  });

  it('learnings: one’s own and those without an owner; naming another user is refused', async () => {
    const { ada, bob, nobody, admin } = await yard(await freshPlace());
    const learn = async (holder: Holder, user_id?: string) =>
      (await holder.send('POST', '/learnings', { learning_type: 'note', content: { a: 1 }, user_id })).body;
    const hers = await learn(ada, 'ada');
    const his = await learn(admin, 'bob');
    const shared = await learn(nobody);
    expect(shared.user_id).toBeNull();
    const seen = [hers.learning_id, shared.learning_id].toSorted();
    expect(idsIn(await ada.get('/learnings'), 'learning_id')).toEqual(seen);
    expect(idsIn(await nobody.get('/learnings'), 'learning_id')).toEqual([shared.learning_id]);
    expect((await ada.get(`/learnings/${his.learning_id}`)).status).toBe(404);
    for (const holder of [bob, nobody]) {
      const refusals = {
        'Cannot list learnings for another user': await holder.get('/learnings?user_id=ada'),
        'Cannot list learning users for another user': await holder.get('/learnings/users?user_id=ada'),
        'Cannot delete learnings for another user': await holder.delete('/learnings/users/ada'),
        'Cannot create learnings for another user': await holder.send('POST', '/learnings', {
          learning_type: 'note',
          content: {},
          user_id: 'ada',
        }),
        'Only admins can modify learnings that have no owner (user_id is null)': await holder.delete(
          `/learnings/${shared.learning_id}`,
        ),
      };
      for (const [detail, { status, body }] of Object.entries(refusals))
        expect([status, body.detail]).toEqual([403, detail]);
    }
    expect(idsIn(await bob.get('/learnings/users'), 'user_id')).toEqual(['bob']);
    expect((await nobody.get('/learnings/users')).body.data).toEqual([]);
    expect((await ada.get(`/learnings/${hers.learning_id}`)).status).toBe(200);
    expect((await admin.delete(`/learnings/${shared.learning_id}`)).status).toBe(204);
  });

  it('a caller without a user deletes and changes what has no owner, and no more', async () => {
    const { ada, nobody } = await yard(await freshPlace());
    const renamed = await nobody.send('PATCH', '/sessions/of-nobody', { session_name: 'Ours' });
    expect(renamed.body.session_name).toBe('Ours');
    const body = { session_ids: ['of-nobody', 'of-ada'], session_types: ['agent', 'agent'] };
    expect((await nobody.delete('/sessions', body)).status).toBe(204);
    expect((await nobody.get('/sessions')).body.data).toEqual([]);
    expect((await ada.get('/sessions/of-ada')).status).toBe(200);
  });
});

describe('a run that is executing', () => {
  async function going() {
    const book = new ScriptBook();
    const released = gate();
    book.write('long', { text: 'done', waitFor: released.opened });
    const house = await Gatehouse.open({ agents: [agent({ id: 'a', model: book.model })] });
    const [ada, bob, nobody] = [await house.person('ada'), await house.person('bob'), await house.nobody()];
    return { released, house, ada, bob, nobody };
  }

  test('is not cancelled by a caller who does not see it', async () => {
    const { released, ada, bob, nobody } = await going();
    const stream = await ada.stream('/agents/a/runs', { message: 'long', run_id: 'r' });
    for (const other of [bob, nobody]) {
      expect((await other.submit('/agents/a/runs/r/cancel')).status).toBe(200);
      expect((await other.get('/agents/a/runs/r')).status).toBe(404);
    }
    released.open();
    await stream.over;
    expect(stream.names.at(-1)).toBe('RunCompleted');
  });

  test('is cancelled by a caller without a user if it has no owner', async () => {
    const { nobody } = await going();
    const stream = await nobody.stream('/agents/a/runs', { message: 'long', run_id: 'r' });
    await nobody.submit('/agents/a/runs/r/cancel');
    await stream.over;
    expect(stream.names).toContain('RunCancelled');
  });

  test('a cancellation by a caller without a user is not kept for a user’s later run', async () => {
    const { ada, nobody } = await going();
    await nobody.submit('/agents/a/runs/later/cancel');
    const { body } = await ada.run('a', { message: 'short', run_id: 'later' });
    expect(body.status).toBe('completed');
  });
});

test('a factory is not shown the state of another user’s session', async () => {
  const states: Body[] = [];
  const model = new ScriptBook().model;
  const made = agentFactory({
    id: 'f',
    build({ state }) {
      states.push(state);
      return agent({ id: 'x', model });
    },
  });
  const house = await Gatehouse.open({ agents: [made] });
  const [ada, nobody] = [await house.person('ada'), await house.nobody()];
  await ada.run('f', { message: 'mine', session_id: 's', session_state: { pin: 1 } });
  expect((await nobody.run('f', { message: 'theirs', session_id: 's' })).status).toBe(404);
  expect(states).toEqual([{ pin: 1 }]);
});

test('without isolation every caller with the scope sees everything, and acts as themselves', async () => {
  const house = await Gatehouse.open({
    agents: [agent({ id: 'a', model: new ScriptBook().model })],
    userIsolation: false,
  });
  const [ada, nobody] = [await house.person('ada'), await house.nobody()];
  const hers = (await ada.run('a', { message: 'hello', user_id: 'bob' })).body;
  expect(hers.user_id).toBe('ada');
  expect((await nobody.run('a', { message: 'hello', user_id: 'bob' })).body.user_id).toBe('bob');
  expect((await nobody.get('/agents/a/runs')).body).toHaveLength(2);
  expect(idsIn(await nobody.get('/sessions?user_id=ada'), 'session_id')).toEqual([hers.session_id]);
  // her own name counts, whatever the form says
  const form = { input: 'more', user_id: 'bob' };
  expect((await ada.submit(`/agents/a/runs/${hers.run_id}/continue`, form)).body.user_id).toBe('ada');
});
