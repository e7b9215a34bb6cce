import { expect, test } from 'vitest';
import { z } from 'zod';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { silentLog } from '../../../src/core/log.js';
import { agent, team, tool, toolResult } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { scriptedModel } from '../../../src/testing.js';
import { type DatabasePlace, forEachDatabase } from '../../support/databases.js';
import { type Body, startService } from '../../support/service.js';

const given = Buffer.from('the bytes that were given');
const made = Buffer.from('the bytes that were made');
const upload = () => [new File([given], 'given.png', { type: 'image/png' })];

const draw = tool({
  name: 'draw',
  description: 'Draws',
  inputSchema: z.object({}),
  execute: () => toolResult('drawn', { media: [{ kind: 'image', bytes: made, mimeType: 'image/png' }] }),
});

const drawing = () =>
  scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'draw' }] } : 'Done.',
  );

/** As a minute and an hour later. */
async function sweep(database: Database, laterMs = 120_000): Promise<void> {
  const timers = { ...systemTimers, now: () => Date.now() + laterMs };
  const settings = { eventRetentionHours: 0, traceRetentionDays: 0 };
  await new RetentionService(database, { settings, timers, log: silentLog }).sweep();
}

async function contents(database: Database): Promise<string[]> {
  const rows = await database.query.selectFrom('media_contents').select('bytes').execute();
  return rows.map(({ bytes }) => Buffer.from(bytes).toString()).sort();
}

async function serviceAt({ url, open }: DatabasePlace) {
  const models = { quiet: drawing(), keeping: drawing() };
  const own = { tools: [draw], addHistoryToContext: true };
  const quiet = agent({ id: 'quiet', model: models.quiet, storeMedia: false, ...own });
  const keeping = agent({ id: 'keeping', model: models.keeping, ...own });
  const leader = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? {
          toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'keeping', task: 'Draw' } }],
        }
      : 'Both are done.',
  );
  const teams = [team({ id: 't', model: leader, members: [keeping], storeMedia: false })];
  const service = await startService({ database: url, agents: [quiet, keeping], teams });
  return { service, models, quiet, database: await open() };
}

forEachDatabase((_dialect, freshPlace) => {
  test('the caller gets the media of a run, which has nothing but their names from then on', async () => {
    const { service, models, quiet, database } = await serviceAt(await freshPlace());
    const form = { message: 'Look', session_id: 's', files: upload() };
    const { body: answer } = await service.run('quiet', { ...form, run_id: 'r' });
    expect(models.quiet.requests[0]!.messages.at(-1)?.media).toHaveLength(1);
    expect(answer.images[0].content).toBe(made.toString('base64'));
    // the same bytes, which another run keeps
    await service.run('keeping', { ...form, session_id: 'k', run_id: 'kept' });
    expect(await contents(database)).toEqual([...[given, given, made, made].map(String)]);

    const { body: run } = await service.get('/agents/quiet/runs/r?session_id=s');
    const facts = { mime_type: 'image/png', size: given.length };
    expect(run.input.images).toEqual([
      { id: expect.any(String), filename: 'given.png', format: 'png', ...facts },
    ]);
    expect(run.images).toMatchObject([{ mime_type: 'image/png', size: made.length }]);
    expect(JSON.stringify(run)).not.toContain('"content":"dGhl');
    await sweep(database, 0);
    expect(await contents(database)).toHaveLength(4);
    await sweep(database);
    expect(await contents(database)).toEqual([given, made].map(String));
    const { body: kept } = await service.get('/agents/keeping/runs/kept?session_id=k');
    expect([kept.input.images[0].content, kept.images[0].content]).toEqual(
      [given, made].map((bytes) => bytes.toString('base64')),
    );

    // a later run of the session is shown the texts
    await service.run('quiet', { message: 'And now?', session_id: 's' });
    const { messages } = models.quiet.requests.at(-2)!;
    expect(messages.map(({ content, media }) => [content, media])).toEqual([
      ...[
        ['Look', undefined],
        ['', undefined],
        ['drawn', undefined],
        ['Done.', undefined],
      ],
      ['And now?', undefined],
    ]);
    const go = (fields: object) =>
      service.submit('/agents/quiet/runs/r/continue', { stream: false, session_id: 's', ...fields });
    const refused = await go({ regenerate: true });
    expect([refused.status, refused.body.error_code]).toEqual([409, 'media_not_kept']);
    expect((await go({ input: 'More?' })).body.status).toBe('completed');

    const inCode = await quiet.run('Look', { images: [given] });
    await sweep(database);
    expect(Buffer.from(await inCode.media[0]!.bytes())).toEqual(made);
  });

  test('what a team was given goes with it, and what a member made is of the setting of the member', async () => {
    const { service, database } = await serviceAt(await freshPlace());
    const form = { message: 'Look', session_id: 's', run_id: 'r', files: upload(), stream: false };
    expect((await service.submit('/teams/t/runs', form)).body.status).toBe('completed');
    const { body: run } = await service.get('/teams/t/runs/r?session_id=s');
    const [member] = run.member_responses;
    expect(member.images).toMatchObject([{ mime_type: 'image/png' }]);
    expect(member.input.images.map((one: Body) => one.filename)).toEqual(['given.png']);
    await sweep(database);
    expect(await contents(database)).toEqual([String(made)]);
  });

  test('bytes whose run was never stored are removed, and those of a run that is not over are kept', async () => {
    const { service, database } = await serviceAt(await freshPlace());
    const run_id = 'r';
    await service.run('keeping', { message: 'Look', run_id });
    // the id is taken
    expect((await service.run('quiet', { message: 'Look', run_id, files: upload() })).status).toBe(409);
    const hour = 3_700_000;
    await sweep(database);
    expect(await contents(database)).toEqual([given, made].map(String));
    await database.query.updateTable('runs').set({ status: 'paused' }).where('run_id', '=', run_id).execute();
    await sweep(database, hour);
    expect(await contents(database)).toEqual([given, made].map(String));
    await database.query
      .updateTable('runs')
      .set({ status: 'completed' })
      .where('run_id', '=', run_id)
      .execute();
    await sweep(database, hour);
    expect(await contents(database)).toEqual([String(made)]);
  });
});
