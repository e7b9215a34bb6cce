import { describe, expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { RunWrite } from '../../../src/core/runs/journal/ports.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { aRun, creation, finished, start } from '../../conformance/builders.js';
import { person } from '../../support/clients/callers.js';
import { JournalSteps } from '../../support/components/journal-steps.js';
import { asking, book, components, Sessions } from '../../support/components/sessions.js';
import { forEachDatabase } from '../../support/databases.js';
import { openOver } from '../../support/open-services.js';
import { type Body, startService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const never = () => new Promise<never>(() => {});

/** What users of the older interface lost or were shown wrongly, by the numbers of the contract. */
forEachDatabase((_dialect, freshPlace) => {
  async function yard() {
    const place = await freshPlace();
    const database: Database = await place.open();
    const service = await startService({ ...components, database: place.url, maxConcurrentRuns: 50 });
    return { service, database, sessions: new Sessions(service), place };
  }

  it('S1: parallel runs of one session are all kept', async () => {
    const { sessions } = await yard();
    const messages = Array.from({ length: 6 }, (_, index) => `parallel ${index}`);
    await Promise.all(messages.map((message) => sessions.said('agents', 'writer', 's1', message)));
    const runs = (await sessions.runs('s1')).body;
    expect(runs.map(({ run_input: input }: Body) => input).sort()).toEqual(messages);
  });

  it('S1: what is changed while a run is executing stays', async () => {
    const { service, sessions } = await yard();
    const rest = gate();
    const message = book.write('Slowly', { chunks: ['one', rest.opened, ' two'] });
    const form = { message, session_id: 's1b', session_state: { old: 1, kept: 1 } };
    const stream = await service.stream('writer', form);
    await stream.until(() => stream.content === 'one', 'the text');
    const change = { session_name: 'By hand', session_state: { fresh: 2 }, metadata: { m: 1 } };
    expect((await sessions.change('s1b', change)).status).toBe(200);
    rest.open();
    await stream.end();
    expect((await sessions.get('s1b')).body).toMatchObject(change);
    expect((await sessions.rename('s1b', { session_name: 'Again' })).body.session_name).toBe('Again');
    expect((await sessions.runs('s1b')).body).toMatchObject([{ content: 'one two', status: 'completed' }]);
  });

  it('S2: a wrong kind is a hint and rewrites nothing', async () => {
    const { sessions } = await yard();
    await sessions.said('workflows', 'pipeline', 's2', 'A plan');
    const before = (await sessions.get('s2')).body;
    expect((await sessions.get('s2', '?type=agent')).body).toEqual(before);
    const patched = await sessions.change('s2', { session_name: 'Renamed' }, '?type=agent');
    expect(patched.body).toMatchObject({ workflow_id: 'pipeline', session_name: 'Renamed' });
    await sessions.rename('s2', { session_name: 'Twice' }, '?type=team');
    expect((await sessions.runs('s2', '?type=team')).body).toMatchObject([{ workflow_id: 'pipeline' }]);
  });

  it("S3: a run in another user's session is refused before the model is called", async () => {
    const { service, sessions } = await yard();
    await sessions.said('agents', 'writer', 's3', 'Mine', { user_id: 'ada' });
    const message = 'Not mine (S3)';
    const asked = book.requests(message).length;
    const { status } = await service.run('writer', { message, session_id: 's3', user_id: 'bob' });
    expect(status).toBe(409);
    expect(book.requests(message)).toHaveLength(asked);
    expect((await sessions.runs('s3')).body).toHaveLength(1);
  });

  it('S4: an agent and a team in the session of a workflow keep its runs', async () => {
    const { sessions } = await yard();
    await sessions.said('workflows', 'pipeline', 's4', 'Plan first');
    await sessions.said('agents', 'writer', 's4', 'Then write');
    await sessions.said('teams', 'newsroom', 's4', asking('Then discuss', 'Think about S4'));
    const runs = (await sessions.runs('s4')).body;
    const kinds = runs.map((run: Body) => run.workflow_id ?? run.team_id ?? run.agent_id);
    expect(kinds).toEqual(['pipeline', 'writer', 'helper', 'newsroom']);
    expect((await sessions.get('s4')).body).toMatchObject({
      workflow_id: 'pipeline',
      session_name: 'Plan first',
    });
  });

  it('S5: a search for a name looks at names alone, also at those that were derived', async () => {
    const { sessions } = await yard();
    const state = { session_state: '{"secret_key":"%"}' };
    await sessions.said('agents', 'writer', 's5', 'Derived Ünicode Name', state);
    for (const name of ['input_tokens', 'secret_key', '%', '_', 's5']) {
      expect(await sessions.names(`?session_name=${encodeURIComponent(name)}`), name).toEqual([]);
    }
    expect(await sessions.names(`?session_name=${encodeURIComponent('ünicode')}`)).toEqual(['s5']);
    expect(await sessions.names('?session_name=')).toEqual(['s5']);
  });

  it('S6: pages neither repeat nor skip a session, whatever they are sorted by', async () => {
    const { sessions } = await yard();
    const ids = Array.from({ length: 7 }, (_, index) => `s6-${index}`);
    await Promise.all(ids.map((session_id) => sessions.create({ session_id, user_id: 'same' })));
    for (const by of [
      'created_at',
      'updated_at',
      'user_id',
      'session_type',
      'agent_id',
      'session_name',
      'x',
    ]) {
      const seen: string[] = [];
      for (const page of [1, 2, 3, 4])
        seen.push(...(await sessions.names(`?limit=2&page=${page}&sort_by=${by}`)));
      expect(seen.sort(), by).toEqual(ids);
    }
    const refused = (await sessions.list('?sort_order=up&limit=0&page=-1')).body.detail;
    expect(refused.map(({ type }: Body) => type).sort()).toEqual([
      'enum',
      'greater_than_equal',
      'greater_than_equal',
    ]);
  });

  it('S7: a session of many runs opens with the last of what was said, and its runs come in pages', async () => {
    const { database, sessions } = await yard();
    const runs = Array.from({ length: 203 }, (_, index) => talk('s7', index));
    await new RunStore(database).commit(runs);
    const { chat_history: said } = (await sessions.get('s7')).body;
    expect(said).toHaveLength(400);
    expect([said[0].content, said.at(-1).content]).toEqual(['talk 3', 'answer 202']);
    const page = (await sessions.runs('s7', '?limit=3&page=68')).body;
    expect(page.map(({ run_input: input }: Body) => input)).toEqual(['talk 201', 'talk 202']);
  });

  it('S7: files of a listed run are described, and carried by the run itself', async () => {
    const { service, sessions } = await yard();
    const files = [new File(['some words'], 'note.txt', { type: 'text/plain' })];
    const { body } = await service.run('writer', { message: 'Read it', session_id: 's7f', files });
    const [listed] = (await sessions.runs('s7f')).body;
    expect(listed.input_media.files[0]).toMatchObject({ filename: 'note.txt' });
    expect(listed.input_media.files[0]).not.toHaveProperty('content');
    const [file] = (await sessions.run('s7f', body.run_id)).body.input_media.files;
    expect(file.content).toBe('some words');
  });

  it('S8: a run that is executing is listed in its session, also in one that was made before', async () => {
    const { service, sessions } = await yard();
    await sessions.create({ session_id: 's8', agent_id: 'writer' });
    const rest = gate();
    const message = book.write('Goes on', { chunks: ['a', rest.opened, 'b'] });
    const stream = await service.stream('writer', { message, session_id: 's8' });
    const { run_id: runId } = await stream.event('RunStarted');
    const [running] = (await sessions.runs('s8')).body;
    expect(running).toMatchObject({ run_id: runId, run_input: message, status: 'running' });
    expect(running).not.toHaveProperty('messages');
    expect((await sessions.run('s8', runId)).body.status).toBe('running');
    rest.open();
    await stream.end();
    expect((await sessions.runs('s8')).body).toMatchObject([{ run_id: runId, status: 'completed' }]);
  });

  it('S8: a session that is deleted during a run stays gone, and the stream ends as cancelled', async () => {
    const { service, sessions } = await yard();
    await sessions.said('agents', 'writer', 's8b', 'Earlier');
    const message = book.write('Never ends', { chunks: ['half', never()] });
    const stream = await service.stream('writer', { message, session_id: 's8b' });
    await stream.until(() => stream.content === 'half', 'the text');
    expect((await sessions.delete('s8b')).status).toBe(204);
    await stream.end();
    expect(stream.names).toContain('RunCancelled');
    expect((await sessions.get('s8b')).status).toBe(404);
    expect(await sessions.names()).toEqual([]);
  });

  it('S8: a run that another process executes is ended with its session', async () => {
    const { place, sessions } = await yard();
    const other = await startService({ ...components, database: place.url });
    const message = book.write('Elsewhere', { chunks: ['half', never()] });
    const stream = await other.stream('writer', { message, session_id: 's8c' });
    await stream.until(() => stream.content === 'half', 'the text');
    expect((await sessions.delete('s8c')).status).toBe(204);
    await stream.end();
    expect(stream.names).toContain('RunCancelled');
    expect((await new Sessions(other).get('s8c')).status).toBe(404);
  });

  it('S9: deleting does not reveal what existed, nor creating what others have', async () => {
    const { database, sessions } = await yard();
    await sessions.create({ session_id: 's9', user_id: 'ada', session_name: 'Hers' });
    const rules = (await openOver(database, components)).services.sessions;
    const bob = person('bob');
    const refused = await rules.create(bob, 'agent', {}, { session_id: 's9' }).catch((error: Error) => error);
    expect(refused).toMatchObject({ status: 409, code: 'session_id_refused' });
    expect(String(refused)).not.toMatch(/exists|PATCH|ada/);
    await rules.create(bob, 'agent', {}, { session_id: 's9-own', user_id: 'ada' });
    expect((await sessions.get('s9-own')).body.user_id).toBe('bob');
    const again = rules.create(bob, 'agent', {}, { session_id: 's9-own' });
    await expect(again).rejects.toMatchObject({ code: 'session_exists' });
    await rules.delete(bob, ['s9'], { user_id: 'ada' });
    expect((await sessions.get('s9')).status).toBe(200);
  });

  it('a caller who sees only their own finds nothing else, whichever user they name', async () => {
    const { database, sessions } = await yard();
    for (const user_id of ['ada', 'bob'])
      await sessions.create({ session_id: `of-${user_id}`, user_id, session_name: user_id });
    await sessions.create({ session_id: 'of-nobody' });
    const rules = (await openOver(database, components)).services.sessions;
    const bob = person('bob');
    const query = { user_id: 'ada' };
    const page = await rules.list(bob, {
      ...{ ...query, limit: 20, page: 1, sort_by: 'created_at', sort_order: 'desc' as const },
    });
    const entries: unknown[] = [];
    for await (const entry of page.entries) entries.push(entry);
    expect([page.total, entries]).toEqual([1, [expect.objectContaining({ session_id: 'of-bob' })]]);
    for (const id of ['of-ada', 'of-nobody']) {
      await expect(rules.get(bob, id, query)).rejects.toMatchObject({ status: 404 });
      const change = rules.update(bob, id, query, { session_name: 'stolen' });
      await expect(change).rejects.toMatchObject({ status: 404 });
    }
    expect((await sessions.get('of-ada')).body.session_name).toBe('ada');
    expect(await rules.get(bob, 'of-bob', query)).toMatchObject({ session_name: 'bob' });
  });

  describe('S10', () => {
    it('an invalid summary is refused', async () => {
      const { sessions } = await yard();
      await sessions.create({ session_id: 's10' });
      for (const [summary, type] of [
        [{ summary: 5 }, 'string_type'],
        [{ summary: 'x', mood: 'good' }, 'extra_forbidden'],
        [{ summary: 'x', updated_at: 'yesterday' }, 'value_error'],
        [{ summary: 'x', topics: 'one' }, 'list_type'],
        [{ topics: [] }, 'missing'],
      ] as const) {
        const { status, body } = await sessions.change('s10', { summary });
        expect([status, body.detail[0].type]).toEqual([422, type]);
      }
      expect((await sessions.get('s10')).body).not.toHaveProperty('session_summary');
    });

    it('a workflow session shows its summary, what it used and what was said', async () => {
      const { sessions } = await yard();
      await sessions.said('workflows', 'pipeline', 's10w', 'make a plan');
      const { body } = await sessions.change('s10w', { summary: { summary: 'Plans' } });
      expect(body).toMatchObject({
        workflow_id: 'pipeline',
        workflow_data: {
          workflow_id: 'pipeline',
          name: 'Pipeline',
          steps: [{ name: 'draft', description: 'A first text', type: 'Step' }],
        },
        session_summary: { summary: 'Plans', topics: [] },
        total_tokens: expect.any(Number),
        chat_history: [
          { role: 'user', content: 'make a plan' },
          { role: 'assistant', content: 'Answer to: make a plan' },
        ],
      });
      expect(body.session_data.session_metrics).toEqual(body.metrics);
      expect(body.metrics.details.model).toHaveLength(1);
    });
  });

  it('S10: the tokens of members count in the session of a team, and not in its own run', async () => {
    const { sessions } = await yard();
    const usage = { inputTokens: 20, outputTokens: 12, totalTokens: 32 };
    asking('Count us', 'Count me (S10)');
    book.write('Count me (S10)', { text: 'counted', usage });
    await sessions.said('teams', 'newsroom', 's10t', 'Count us');
    const runs = (await sessions.runs('s10t')).body;
    const { metrics } = (await sessions.get('s10t')).body;
    const [member, whole] = runs;
    expect(member.metrics.total_tokens).toBe(32);
    expect(metrics.total_tokens).toBe(32 + (whole.metrics.total_tokens ?? 0));
  });

  it('S11: unknown ids and invalid requests have their own status', async () => {
    const { sessions } = await yard();
    for (const [answer, status] of [
      [await sessions.list('?db_id=zz'), 404],
      [await sessions.list('?table=sessions'), 400],
      [await sessions.get('x', '?db_id=zz'), 404],
      [await sessions.runs('x', '?table=sessions'), 400],
      [await sessions.change('x', {}, '?db_id=zz'), 404],
    ] as const) {
      expect(answer.status).toBe(status);
      expect(answer.body.detail).not.toMatch(/^\d{3}:/);
    }
  });
});

/** A run that has ended, as runs are stored. */
function talk(sessionId: string, index: number): RunWrite {
  const content = `talk ${index}`;
  const input = { content, media: [], options: { stream: false } };
  const run = aRun({ ...finished, sessionId, input, createdAt: start + index });
  const { steps } = new JournalSteps().context(content).model(0, `answer ${index}`);
  return creation(run, { steps: steps.map((step) => ({ ...step, runId: run.runId })) });
}
