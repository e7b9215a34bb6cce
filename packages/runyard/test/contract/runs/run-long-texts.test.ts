import { expect, test } from 'vitest';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { silentLog } from '../../../src/core/log.js';
import { agent, tool } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { scriptedModel } from '../../../src/testing.js';
import { runWays, seeRun } from '../../support/clients/run-ways.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { type DatabasePlace, forEachDatabase } from '../../support/databases.js';
import { type Body, startService } from '../../support/service.js';

const sentence = 'A "long" answer: 🙂 \u2028 and so on.\n';
const piece = sentence.repeat(500);
const answer = piece.repeat(12);
const toolResult = `result: ${sentence.repeat(2700)}`;
const emitted = `emitted: ${sentence.repeat(4000)}`;

const fetchAll = tool({
  name: 'fetch_all',
  description: 'Fetches',
  execute: (_args, { emit }) => {
    emit({ emitted });
    return toolResult;
  },
});

async function aService(place: DatabasePlace) {
  const talker = scriptedModel(() => ({ chunks: Array(12).fill(piece) }));
  const fetcher = scriptedModel(({ messages }) =>
    messages.at(-1)!.role === 'tool' ? 'Done.' : { toolCalls: [{ name: 'fetch_all', id: 'f' }] },
  );
  const service = await startService({
    database: place.url,
    autoMigrate: true,
    websocket: true,
    agents: [
      agent({ id: 'talker', model: talker }),
      agent({ id: 'fetcher', model: fetcher, tools: [fetchAll] }),
    ],
  });
  const database = await place.open();
  const timers = { ...systemTimers, now: () => Date.now() + 7_200_000 };
  const settings = { eventRetentionHours: 1, traceRetentionDays: 0 };
  const forget = () => new RetentionService(database, { settings, timers, log: silentLog }).sweep();
  return { service, database, forget };
}

/** How much the tables hold of a run, and its long texts. */
async function storedLengths(database: Database, runId: string) {
  const lengthOf = (rows: readonly Record<string, unknown>[]) => JSON.stringify(rows).length;
  const { query } = database;
  return {
    run: lengthOf(await query.selectFrom('runs').selectAll().where('run_id', '=', runId).execute()),
    steps: lengthOf(await query.selectFrom('steps').selectAll().where('run_id', '=', runId).execute()),
    events: lengthOf(
      await query.selectFrom('event_blocks').selectAll().where('run_id', '=', runId).execute(),
    ),
    texts: await query
      .selectFrom('run_texts')
      .select(['text_id', 'part', 'kept', 'payload'])
      .where('run_id', '=', runId)
      .execute(),
  };
}

forEachDatabase((_dialect, freshPlace) => {
  test.each(runWays)(
    'a long answer is the same in every view, and stands once in the tables, %s',
    async (way) => {
      const { service, database } = await aService(await freshPlace());
      const seen = await seeRun(service, way, 'talker', { message: 'talk' });
      for (const body of [seen.stored, seen.answer ?? seen.stored]) {
        expect(body.content === answer).toBe(true);
        expect(body.messages.at(-1).content === answer).toBe(true);
      }
      expect(seen.listed.content === answer).toBe(true);
      const last = seen.stored.events.at(-1);
      expect(last).toMatchObject({ event: 'RunCompleted', event_index: expect.any(Number) });
      expect(last.content === answer).toBe(true);
      if (seen.stream !== undefined) {
        expect(seen.stream.events.at(-1)).toEqual(last);
        expect(textOf(seen.stream.events) === answer).toBe(true);
      }

      const { run, steps, events, texts } = await storedLengths(database, seen.stored.run_id);
      expect(run + steps).toBeLessThan(10_000);
      // the pieces of a stream are events of their own
      if (way === 'not streamed') expect(events).toBeLessThan(10_000);
      else expect(events).toBeLessThan(1.5 * answer.length);
      expect(JSON.parse(`"${texts.map(({ payload }) => payload).join('')}"`) === answer).toBe(true);
    },
  );

  test('a long result of a tool and a long event are the same in every view', async () => {
    const { service, database, forget } = await aService(await freshPlace());
    const { stored, stream } = await seeRun(service, 'streamed', 'fetcher', { message: 'fetch' });
    const runId = stored.run_id as string;
    for (const events of [stream!.events, stored.events]) {
      const custom = events.find(({ event }: Body) => event === 'CustomEvent');
      expect(custom.emitted === emitted).toBe(true);
      const completed = events.find(({ event }: Body) => event === 'ToolCallCompleted');
      expect(completed.tool.result === toolResult).toBe(true);
    }
    expect(stored.tools[0].result === toolResult).toBe(true);
    const { run, steps, texts } = await storedLengths(database, runId);
    expect(run + steps).toBeLessThan(10_000);
    expect(new Set(texts.map(({ text_id, kept }) => `${text_id} ${kept}`)).size).toBe(2);
    await forget();
    const left = await storedLengths(database, runId);
    expect(left.texts.every(({ kept }) => kept === 1)).toBe(true);
    const later = (await service.get(`/agents/fetcher/runs/${runId}`)).body;
    expect(later.tools[0].result === toolResult).toBe(true);
  });

  test('it is replayed, copied with its session, and made anew from the journal', async () => {
    const { service, forget } = await aService(await freshPlace());
    const first = await (await service.stream('talker', { message: 'talk', session_id: 'trip' })).end();
    const runId = first.events[0]!.run_id as string;
    const resume = () => service.submitForStream(`/agents/talker/runs/${runId}/resume`, {});
    const replayed = (await (await resume()).end()).events.filter(({ event }) => event !== 'replay');
    expect(replayed).toEqual(first.events);

    const { body: fork } = await service.call('POST', '/agents/talker/sessions/trip/fork');
    const { body: copies } = await service.get(`/agents/talker/runs?session_id=${fork.session_id}`);
    expect(copies[0].content === answer).toBe(true);
    expect(copies[0].messages.at(-1).content === answer).toBe(true);

    await forget();
    const rebuilt = (await (await resume()).end()).events;
    expect(rebuilt.at(-1)).toMatchObject({ event: 'RunCompleted', rebuilt: true });
    expect(rebuilt.at(-1)!.content === answer).toBe(true);
    expect(textOf(rebuilt) === answer).toBe(true);
  });

  test('a row that holds its text itself, as rows did before, is read as it is', async () => {
    const { service, database } = await aService(await freshPlace());
    const { stored } = await seeRun(service, 'not streamed', 'talker', { message: 'talk' });
    const runId = stored.run_id as string;
    const result = JSON.stringify({ content: answer, contentType: 'str' });
    await database.query.updateTable('runs').set({ result }).where('run_id', '=', runId).execute();
    const data = `{"event":"RunCompleted","content":${JSON.stringify(`${answer}!`).replaceAll('\u2028', '\\u2028')},"event_index":0}`;
    await database.query.deleteFrom('event_blocks').where('run_id', '=', runId).execute();
    await database.query
      .insertInto('event_blocks')
      .values({ run_id: runId, first_index: 0, event_count: 1, payload: `e\tRunCompleted\tend\t${data}` })
      .execute();
    const { body } = await service.get(`/agents/talker/runs/${runId}`);
    expect(body.content === answer).toBe(true);
    expect(body.events.at(-1).content === `${answer}!`).toBe(true);
  });

  test('a WebSocket carries it as one message, and other messages wait for its end', async () => {
    const { service } = await aService(await freshPlace());
    const client = await WsClient.connect(service.url, '/agents/ws');
    const runIds = ['one', 'two', 'three'];
    for (const runId of runIds) {
      client.send({ action: 'start-agent', agent_id: 'talker', message: 'talk', run_id: runId });
    }
    for (const runId of runIds) {
      const last = await client.event('RunCompleted', ({ run_id }) => run_id === runId);
      expect(last.content === answer).toBe(true);
      expect(client.contentOf(runId) === answer).toBe(true);
    }
  });
});

function textOf(events: readonly Body[]): string {
  return events
    .filter(({ event }) => event === 'RunContent')
    .map(({ content }) => content)
    .join('');
}
