import { expect, it } from 'vitest';
import { DatabaseMemories, MemoriesService } from '../../../src/capabilities/memory/service.js';
import { agent } from '../../../src/index.js';
import { type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { person } from '../../support/clients/callers.js';
import { type DatabasePlace, forEachDatabase, freshSqlite } from '../../support/databases.js';
import { type Body, startService } from '../../support/service.js';

const facts = ['Likes tea in the morning', 'Likes tea in the evening', 'Has a dog called Rex'];
const short = 'Likes tea; dog Rex';

function add(memories: DatabaseMemories, userId: string, texts: readonly string[], topics = ['home']) {
  const changes = texts.map((memory, index) => ({
    kind: 'add' as const,
    memoryId: `${userId}-${index}`,
    memory,
    topics: index === 0 ? [...topics, 'food'] : topics,
    agentId: index === 0 ? 'helper' : null,
    teamId: index < 2 ? `team-${index}` : null,
    input: null,
  }));
  return memories.change(userId, changes, Date.now() - 60_000);
}

async function serviceOn(place: DatabasePlace, ...turns: ScriptedTurn[]) {
  const database = await place.open();
  const model = scriptedModel(turns);
  const service = await startService({ agents: [agent({ id: 'helper', model })], database: place.url });
  const memories = new DatabaseMemories(database);
  const optimize = (body: object) =>
    service.call('POST', '/optimize-memories', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const texts = async (userId: string) =>
    (await service.get(`/memories?user_id=${userId}`)).body.data.map(({ memory }: Body) => memory);
  return { service, model, memories, optimize, texts };
}

forEachDatabase((_dialect, freshPlace) => {
  it('merges the memories of a user into one, and reports what that saves', async () => {
    const { service, model, memories, optimize, texts } = await serviceOn(await freshPlace(), short);
    await add(memories, 'ada', facts);
    await add(memories, 'bob', ['Plays chess']);
    const { status, body } = await optimize({ user_id: 'ada' });
    expect(status).toBe(200);
    expect(body).toEqual({
      memories: [
        {
          memory_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          memory: short,
          topics: ['home', 'food'],
          agent_id: 'helper',
          team_id: null,
          user_id: 'ada',
          updated_at: expect.stringMatching(/Z$/),
          created_at: expect.stringMatching(/Z$/),
        },
      ],
      memories_before: 3,
      memories_after: 1,
      tokens_before: 15,
      tokens_after: 5,
      tokens_saved: 10,
      reduction_percentage: (10 / 15) * 100,
    });
    expect((await service.get('/memories?user_id=ada')).body.data).toEqual(body.memories);
    expect(await texts('bob')).toEqual(['Plays chess']);
    const asked = model.requests[0]!.messages.at(-1)!.content;
    for (const fact of facts) expect(asked).toContain(fact);
    expect(asked).not.toContain('chess');
  });

  it('shows the result, and stores nothing, with apply=false', async () => {
    const { memories, optimize, texts } = await serviceOn(await freshPlace(), short);
    await add(memories, 'ada', facts);
    const { body } = await optimize({ user_id: 'ada', apply: false });
    expect(body).toMatchObject({ memories: [{ memory: short }], memories_after: 1, tokens_saved: 10 });
    expect((await texts('ada')).toSorted()).toEqual(facts.toSorted());
  });

  it('M1: a longer text replaces nothing', async () => {
    const { memories, optimize, texts } = await serviceOn(
      await freshPlace(),
      `${facts.join('. ')}. And so on.`,
    );
    await add(memories, 'ada', facts);
    const { status, body } = await optimize({ user_id: 'ada' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      memories_before: 3,
      memories_after: 3,
      tokens_before: 15,
      tokens_after: 15,
      tokens_saved: 0,
      reduction_percentage: 0,
    });
    expect(body.memories.map(({ memory }: Body) => memory).toSorted()).toEqual(facts.toSorted());
    expect((await texts('ada')).toSorted()).toEqual(facts.toSorted());
  });

  it('M1: what is remembered while the model works is kept', async () => {
    const place = await freshPlace();
    const { memories, optimize, texts } = await serviceOn(place, async () => {
      await memories.change('ada', [addition('new', 'Moved to Bern')], Date.now());
      return short;
    });
    await add(memories, 'ada', facts);
    expect((await optimize({ user_id: 'ada' })).body).toMatchObject({
      memories_before: 3,
      memories_after: 1,
    });
    expect((await texts('ada')).toSorted()).toEqual([short, 'Moved to Bern'].toSorted());
  });

  it('M1: what is deleted or corrected while the model works does not come back', async () => {
    const { memories, model, optimize, texts } = await serviceOn(
      await freshPlace(),
      async () => {
        await memories.change('ada', [{ kind: 'delete', memoryId: 'ada-2' }], Date.now());
        return short;
      },
      async () => {
        const mended = { kind: 'update', memoryId: 'ada-1', memory: 'Likes coffee' } as const;
        await memories.change('ada', [mended], Date.now());
        return 'Likes tea';
      },
      'Likes tea, coffee',
    );
    await add(memories, 'ada', facts);
    expect((await optimize({ user_id: 'ada' })).body).toMatchObject({ memories_before: 2 });
    expect(await texts('ada')).toEqual(['Likes tea, coffee']);
    expect(model.requests).toHaveLength(3);
  });

  it('gives up when the memories never rest, and leaves them as they are', async () => {
    let count = 0;
    const busy = async () => {
      count += 1;
      const mended = { kind: 'update', memoryId: 'ada-1', memory: `Likes ${count}` } as const;
      await memories.change('ada', [mended], Date.now());
      return 'x';
    };
    const { memories, optimize, texts } = await serviceOn(await freshPlace(), busy, busy, busy);
    await add(memories, 'ada', facts);
    expect(await optimize({ user_id: 'ada' })).toMatchObject({
      status: 409,
      body: { error_code: 'memories_changed' },
    });
    expect((await texts('ada')).toSorted()).toEqual([facts[0], facts[2], 'Likes 3'].toSorted());
  });

  it('merges many memories in pieces', async () => {
    const { memories, model, optimize, texts } = await serviceOn(
      await freshPlace(),
      ...Array.from({ length: 40 }, (_, index) => `part ${index}`),
    );
    const many = Array.from({ length: 1_000 }, (_, index) => `${'Likes tea. '.repeat(8)}${index}`);
    await add(memories, 'ada', many);
    const { body } = await optimize({ user_id: 'ada' });
    expect(body).toMatchObject({ memories_before: 1_000, memories_after: 1 });
    const asked = model.requests.map(({ messages }) => messages.at(-1)!.content);
    expect(asked.length).toBeGreaterThan(2);
    for (const text of asked) expect(text.length).toBeLessThan(30_000);
    expect(
      asked
        .slice(0, -1)
        .join('\n')
        .match(/^- Likes/gm),
    ).toHaveLength(1_000);
    // the last call merges what the others made
    expect(asked.at(-1)).toContain('part 0');
    expect(await texts('ada')).toEqual([`part ${asked.length - 1}`]);
  });
});

function addition(memoryId: string, memory: string) {
  return { kind: 'add', memoryId, memory, topics: [], agentId: null, teamId: null, input: null } as const;
}

it.each([
  ['fails', { error: new Error('secret-host:5432 refused') }, 'the model failed. The log has the details.'],
  ['gives no text', '  ', 'the model gave no text.'],
  ['is cut off', { text: 'Likes', finishReason: 'length' }, 'the model cut its answer off.'],
] as const)('leaves the memories untouched when the model %s', async (_case, turn, reason) => {
  const { service, memories, optimize, texts } = await serviceOn(await freshSqlite(), turn);
  await add(memories, 'ada', facts);
  const { status, body } = await optimize({ user_id: 'ada' });
  expect([status, body.detail]).toEqual([500, `Failed to optimize memories: ${reason}`]);
  expect((await texts('ada')).toSorted()).toEqual(facts.toSorted());
  expect(service.logged.some(({ fields }) => JSON.stringify(fields).includes('optimize_failed'))).toBe(true);
});

it('M5: uses the model that is named, that of the settings, or that of the first agent', async () => {
  const place = await freshSqlite();
  const memories = new DatabaseMemories(await place.open());
  const twice = ['Likes tea in the morning', 'Likes tea in the morning'];
  await add(memories, 'ada', twice);
  await add(memories, 'bob', twice);
  const main = scriptedModel([]);
  const remembering = scriptedModel(['Likes morning tea']);
  const agents = [agent({ id: 'helper', model: main, memoryModel: remembering })];
  const service = await startService({ agents, database: place.url });
  const optimize = async (body: object) => {
    const headers = { 'content-type': 'application/json' };
    return service.call('POST', '/optimize-memories', { headers, body: JSON.stringify(body) });
  };
  // the stand-in model only leaves out duplicates
  const offline = await optimize({ user_id: 'bob', model: 'offline' });
  expect(offline.body).toMatchObject({ memories: [{ memory: twice[0] }], memories_after: 1 });
  const own = await optimize({ user_id: 'ada' });
  expect(own.body).toMatchObject({ memories: [{ memory: 'Likes morning tea' }] });
  expect([main.requests.length, remembering.requests.length]).toEqual([0, 1]);
  const configured = await startService({ agents, database: place.url, defaultModel: 'offline' });
  const given = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ user_id: 'ada' }) };
  expect((await configured.call('POST', '/optimize-memories', given)).status).toBe(200);
  expect([main.requests.length, remembering.requests.length]).toEqual([0, 1]);
});

it('reports what is wrong with a request to optimize', async () => {
  const { memories, optimize } = await serviceOn(await freshSqlite());
  await add(memories, 'ada', facts);
  expect(await optimize({ user_id: 'nobody' })).toMatchObject({
    status: 404,
    body: { detail: 'No memories found for user nobody' },
  });
  const bad = await optimize({ user_id: 'ada', model: 'bad' });
  expect([bad.status, bad.body.detail]).toEqual([
    400,
    "Invalid model string format: 'bad'. Write provider:model_id, for example openai:gpt-5-mini.",
  ]);
  for (const provider of ['zzz', 'ai-sdk']) {
    expect(await optimize({ user_id: 'ada', model: `${provider}:some:thing` })).toMatchObject({
      status: 400,
      body: { detail: `Model provider '${provider}' is not supported.` },
    });
  }
  expect((await optimize({ model: 'offline' })).status).toBe(422);
  const unsure = await optimize({ user_id: 'ada', apply: 'maybe' });
  expect([unsure.status, unsure.body.detail[0].type]).toEqual([422, 'bool_parsing']);
});

it('optimizes the memories of a caller who sees only their own, whichever user the request names', async () => {
  const memories = new DatabaseMemories(await (await freshSqlite()).open());
  await add(memories, 'ada', facts);
  await add(memories, 'bob', facts);
  const space = { memories, media: { contents: {} as never } };
  const rules = new MemoriesService({
    spaces: { choose: async () => space },
    defaultModel: () => scriptedModel([short]),
  });
  const bob = person('bob');
  const { signal } = new AbortController();
  const request = { userId: 'ada', model: undefined, apply: true, signal };
  expect(await rules.optimize(bob, {}, request)).toMatchObject({
    memories: [{ userId: 'bob', memory: short }],
  });
  expect(await memories.list('ada', 10)).toHaveLength(3);
  expect(await memories.list('bob', 10)).toHaveLength(1);
});
