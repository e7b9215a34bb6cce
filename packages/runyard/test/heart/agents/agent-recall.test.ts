import { describe, expect, test } from 'vitest';
import { type AgentSettings, agent, type Embedder, step, team, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';

/** An agent that recalls, and what its model was shown last. */
function recalling(semanticRecall: AgentSettings['semanticRecall'], more: Partial<AgentSettings> = {}) {
  const model = scriptedModel(() => 'Noted.');
  const component = agent({ id: 'a', model, semanticRecall: semanticRecall ?? true, ...more });
  const say = (text: string, sessionId: string, userId: string | null = 'ada') =>
    component.run(text, { sessionId, ...(userId !== null && { userId }) });
  const recalled = () => {
    const system = model.requests.at(-1)?.messages.find(({ role }) => role === 'system')?.content ?? '';
    return [...system.matchAll(/^user: (.*)$/gm)].map(([, text]) => text);
  };
  return { component, model, say, recalled };
}

const zebras = 'My zebra eats purple carrots every morning';

test('what was said in another session of the user is shown when the user comes back to it', async () => {
  const { model, say, recalled } = recalling({ topK: 1, messageRange: 0 });
  await say(zebras, 'monday');
  await say('The train to Oslo leaves at nine', 'monday');
  await say('What does the zebra eat?', 'tuesday');
  expect(recalled()).toEqual([zebras]);
  expect(model.requests.at(-1)!.messages[0]!.content).toContain('assistant: Noted.');
  // neither another user, nor a run without one
  await say('What does the zebra eat?', 'hers', 'eve');
  expect(recalled()).toEqual([]);
  await say('What does the zebra eat?', 'nobody', null);
  expect(recalled()).toEqual([]);
});

test('the exchanges around a match come with it, and what the history shows does not come twice', async () => {
  const { say, recalled } = recalling(
    { topK: 1, messageRange: { before: 1, after: 1 } },
    { addHistoryToContext: true, numHistoryRuns: 1 },
  );
  for (const text of ['one', 'two', zebras, 'four', 'five']) await say(text, 's');
  await say('What does the zebra eat?', 's');
  expect(recalled()).toEqual(['two', zebras, 'four']);
  const other = recalling({ topK: 1, messageRange: 2 }, { addHistoryToContext: true });
  for (const text of ['one', zebras, 'three']) await other.say(text, 's');
  await other.say('What does the zebra eat?', 's');
  expect(other.recalled()).toEqual([]);
});

test('an exchange is found by its answer too, with as many around it as each side allows', async () => {
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)!.content === 'What was it?' ? 'The zebra eats purple carrots.' : 'Noted.',
  );
  const { say } = recalling({ topK: 1, messageRange: { before: 0, after: 2 } }, { model });
  for (const text of ['one', 'What was it?', 'three', 'four', 'five']) await say(text, 'monday');
  await say('What does the zebra eat?', 'tuesday');
  const system = model.requests.at(-1)!.messages[0]!.content;
  expect([...system.matchAll(/^user: (.*)$/gm)].map(([, text]) => text)).toEqual([
    'What was it?',
    'three',
    'four',
  ]);
});

test('four exchanges are found without a setting, and what is not more similar than the threshold is left out', async () => {
  const wide = recalling({ messageRange: 0 });
  for (const day of [1, 2, 3, 4, 5, 6]) await wide.say(`${zebras} on day ${day}`, `s${day}`);
  await wide.say('What does the zebra eat?', 'last');
  expect(wide.recalled()).toHaveLength(4);
  const strict = recalling({ similarityThreshold: 0.99 });
  await strict.say(zebras, 'one');
  await strict.say('What does the zebra eat?', 'two');
  expect(strict.recalled()).toEqual([]);
});

test('runs of another user are not shown, whatever a search returns', async () => {
  const { component, model } = recalling(true);
  const store = await freshStore();
  const found: string[] = [];
  const nearest = async () => found.map((runId) => ({ runId, similarity: 1, runIds: [runId] }));
  const recall = { put: async () => {}, nearest };
  const engine = engineOver(store, [component], { ports: { recall } });
  const say = async (userId: string) => {
    const { runId, ended } = await begin(engine, component, { userId });
    await ended;
    return runId;
  };
  found.push(await say('eve'), await say('ada'));
  await say('ada');
  const system = model.requests.at(-1)!.messages[0]!.content;
  expect(system.match(/^user: hello$/gm)).toHaveLength(1);
});

test('of what a pre-hook removed from a message, later runs are shown nothing', async () => {
  const { model, say, recalled } = recalling(
    { topK: 1, messageRange: 0 },
    { preHooks: [({ content }) => content.replaceAll(/\d+/g, '[number]')] },
  );
  await say('My zebra has the number 4711', 'monday');
  await say('Which number does the zebra have?', 'tuesday');
  expect(recalled()).toEqual(['My zebra has the number [number]']);
  expect(JSON.stringify(model.requests)).not.toContain('4711');
});

test('with the scope of a session, other sessions are not searched', async () => {
  const { say, recalled } = recalling({ scope: 'session', messageRange: 0 });
  await say(zebras, 'one', null);
  await say('What does the zebra eat?', 'two', null);
  expect(recalled()).toEqual([]);
  await say('What does the zebra eat?', 'one', null);
  expect(recalled()).toEqual([zebras]);
});

/** Finds everything, and notes what it is asked to embed. */
function noting() {
  const asked: { text: string; purpose: unknown }[] = [];
  const usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1 };
  const embedder: Embedder = {
    id: 'noting',
    provider: 'test',
    embed: async (texts, { purpose } = {}) => {
      asked.push(...texts.map((text) => ({ text, purpose })));
      return { vectors: texts.map(() => Float32Array.of(1, 0)), usage };
    },
  };
  return { asked, embedder };
}

test('the message is embedded as a query, the exchange as a document, and of both a bounded part', async () => {
  const { asked, embedder } = noting();
  const model = scriptedModel(() => `answer ${'a'.repeat(20_000)} end of the answer`);
  const { say } = recalling({ embedder }, { model });
  await say(`question ${'q'.repeat(20_000)} end of the question`, 'one');
  expect(asked.map(({ purpose }) => purpose)).toEqual(['query', 'document']);
  const [query, exchange] = asked.map(({ text }) => text);
  for (const text of [query!, exchange!]) {
    expect(text.length).toBeLessThan(8_200);
    expect(text).toContain('end of the question');
  }
  // neither side displaces the other
  expect(exchange).toMatch(/^question [\s\S]*answer aaa[\s\S]* end of the answer$/);
  // without a text there is nothing to search with
  await say('  ', 'two');
  expect(asked.map(({ purpose }) => purpose)).toEqual(['query', 'document', 'document']);
});

test('of each message and of all of them, the model is shown a bounded part in one line each', async () => {
  const model = scriptedModel(() => `one\ntwo\n\nuser: not a user ${'a'.repeat(5_000)}`);
  const { say } = recalling({ topK: 20, messageRange: 0, embedder: noting().embedder }, { model });
  const shown = () => {
    const system = model.requests.at(-1)!.messages.find(({ role }) => role === 'system')!.content;
    return /<recalled_conversations>\n([\s\S]*)\n<\/recalled_conversations>/.exec(system)![1]!;
  };
  await say(`first\n${'q'.repeat(5_000)}`, 's0');
  await say('again', 's1');
  const lines = shown().split('\n');
  expect(lines.map((line) => line.slice(0, 18))).toEqual([
    new Date().toISOString().slice(0, 10),
    'user: first qqqqqq',
    'assistant: one two',
  ]);
  for (const line of lines) expect(line.length).toBeLessThan(1_100);
  for (let run = 2; run < 18; run += 1) await say(`day ${run} ${'q'.repeat(2_000)}`, `s${run}`);
  await say('again', 'last');
  expect(shown().length).toBeLessThan(16_200);
  expect(shown()).toContain('day 17');
});

test('a run within another one neither searches nor is found', async () => {
  const { asked, embedder } = noting();
  const member = agent({ id: 'm', model: scriptedModel(() => 'ok'), semanticRecall: { embedder } });
  const flow = workflow({ id: 'w', steps: [step({ name: 's', agent: member })] });
  await flow.run('hello', { sessionId: 's', userId: 'ada' });
  expect(asked).toEqual([]);
  await member.run('hello', { sessionId: 's', userId: 'ada' });
  expect(asked).toHaveLength(2);
});

test('without an embedder that works, the run continues', async () => {
  const embedder = {
    id: 'broken',
    provider: 'test',
    embed: () => Promise.reject(new Error('no quota')),
  };
  const { say, recalled } = recalling({ embedder });
  expect((await say(zebras, 'one')).status).toBe('completed');
  expect((await say(zebras, 'two')).status).toBe('completed');
  expect(recalled()).toEqual([]);
});

test('a run that resumes after a crash is shown what it was shown, and is stored once', async () => {
  const stored: string[] = [];
  const reached = gate();
  let searches = 0;
  const recall = {
    put: async (runId: string) => {
      stored.push(runId);
      // the process dies here, after its work and before the record of it
      if (stored.length === 1) {
        reached.open();
        await new Promise(() => {});
      }
    },
    nearest: async () => {
      searches += 1;
      return [];
    },
  };
  const { component, model } = recalling(true);
  const store = await freshStore();
  const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1, ports: { recall } });
  const handle = await begin(dead, component, { userId: 'ada', background: true });
  await reached.promise;
  await expect.poll(async () => (await store.load(handle.runId))?.steps.at(-1)?.key).toBe('recall');
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [component], { ports: { recall } });
  await next.recover();
  const { run } = await next.handle(handle.runId)!.ended;
  expect(run.status).toBe('completed');
  expect([searches, model.requests.length]).toEqual([1, 1]);
  // the same vector in the same row
  expect(stored).toEqual([handle.runId, handle.runId]);
  await allEvents({ events: () => next.events(handle.runId, 0) });
});

describe('the setting', () => {
  test.each([
    [{ topK: 0 }, 'semanticRecall.topK is 0. Give a whole number from 1 to 20'],
    [{ messageRange: 11 }, 'semanticRecall.messageRange is 11'],
    [{ messageRange: { next: 1 } }, 'semanticRecall.messageRange'],
    [{ scope: 'thread' }, "semanticRecall.scope is 'thread'"],
    [{ embedder: 'nobody:knows' }, 'semanticRecall.embedder'],
    [{ similarityThreshold: 2 }, 'semanticRecall.similarityThreshold is 2'],
    [{ limit: 2 }, 'semanticRecall.limit is not an option'],
  ])('%j is refused', (semanticRecall, reason) => {
    // it does not fit the types
    const settings = { id: 'a', model: 'offline', semanticRecall } as unknown as AgentSettings;
    expect(() => agent(settings)).toThrow(reason);
  });

  test('is one of the leader of a team, too', async () => {
    const model = scriptedModel(() => 'Noted.');
    const members = [agent({ id: 'm', model: 'offline' })];
    const mates = team({ id: 't', model, members, semanticRecall: true });
    await mates.run(zebras, { sessionId: 'one', userId: 'ada' });
    await mates.run('What does the zebra eat?', { sessionId: 'two', userId: 'ada' });
    expect(model.requests.at(-1)!.messages[0]!.content).toContain(zebras);
  });
});
