import { expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { Executable } from '../../../src/core/runs/executable.js';
import { anyRecord } from '../../../src/core/runs/journal/records.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { isTransientStorageError } from '../../../src/platform/storage/transient.js';
import { forEachDatabase } from '../../support/databases.js';
import { allEvents, begin, engineOver, executable, gate, note } from '../harness.js';

/** The database refuses every step whose output, and every run whose input or result, holds this word. */
const word = 'unstorable';

async function refuseWord(database: Database): Promise<void> {
  const rules = [
    ['steps', 'output'],
    ['runs', 'result'],
    ['runs', 'input'],
  ] as const;
  for (const [table, column] of rules) {
    const statements =
      database.dialect === 'sqlite'
        ? ['INSERT', 'UPDATE'].map(
            (change) => `CREATE TRIGGER refuse_${column}_${change} BEFORE ${change} ON ${table}
              WHEN NEW.${column} LIKE '%${word}%' BEGIN SELECT RAISE(ABORT, 'refused by a rule'); END`,
          )
        : [`ALTER TABLE ${table} ADD CONSTRAINT refuse_${column} CHECK (${column} NOT LIKE '%${word}%')`];
    for (const text of statements) await database.transaction((run) => run(text, []));
  }
}

const saying = (text: string, calls: { count: number }) =>
  executable('a', async (context) => {
    calls.count += 1;
    context.emit(note('begun'), 'begun');
    const step = (name: string, work: () => Promise<string>) =>
      context.step(name, { kind: 'step', name, record: anyRecord }, work);
    await step('first', async () => 'done');
    await context.stored();
    return step('second', async () => text);
  });

forEachDatabase((_dialect, freshPlace) => {
  async function refusingStore() {
    const database = await (await freshPlace()).open();
    await refuseWord(database);
    return new RunStore(database);
  }
  const engineWith = (store: RunStore, ...components: Executable[]) =>
    engineOver(store, components, { isTransient: isTransientStorageError });

  test('a run with something that the database refuses ends with an error, executed once', async () => {
    const store = await refusingStore();
    const calls = { count: 0 };
    const component = saying(word, calls);
    const engine = engineWith(store, component);
    const handle = await begin(engine, component);
    const seen = allEvents(handle);
    const { run } = await handle.ended;
    expect(run).toMatchObject({
      status: 'error',
      leaseOwner: null,
      result: { error: { type: 'not_storable' } },
    });
    expect(run.result?.content).toContain('The log of the service has the reason');
    const stored = (await store.load(handle.runId))!;
    expect(stored.run).toMatchObject({ status: 'error', leaseOwner: null, attempt: 1 });
    expect(stored.steps.map(({ key }) => key)).toEqual(['first']);
    expect((await seen).map(({ name }) => name)).toEqual(['RunIntermediateContent', 'RunError']);
    expect(
      (await allEvents({ events: (from) => engine.events(handle.runId, from) })).map(({ name }) => name),
    ).toEqual(['RunIntermediateContent', 'RunError']);
    await engine.recover();
    expect(calls.count).toBe(1);
  });

  test('so does one of which nothing was stored before', async () => {
    const store = await refusingStore();
    const component = executable('a', async (context) =>
      context.step('only', { kind: 'step', name: 'only', record: anyRecord }, async () => word),
    );
    const handle = await begin(engineWith(store, component), component);
    const { run } = await handle.ended;
    expect(run).toMatchObject({ status: 'error', result: { error: { type: 'not_storable' } } });
    expect((await store.load(handle.runId))?.run.status).toBe('error');
  });

  test('a run whose input the database refuses is not accepted', async () => {
    const store = await refusingStore();
    const component = executable('a', async () => 'done');
    const engine = engineWith(store, component);
    const input = { content: word, media: [], options: { stream: false } };
    await expect(begin(engine, component, { input, background: true })).rejects.toMatchObject({
      code: 'not_storable',
    });
    const handle = await begin(engine, component, { input });
    await expect(handle.ended).rejects.toMatchObject({ code: 'not_storable' });
    expect(await store.load(handle.runId)).toBeUndefined();
  });

  test('takes no other run of the same batch with it', async () => {
    const store = await refusingStore();
    const together = gate();
    const component = executable('a', async (context) => {
      await together.promise;
      const { content } = context.run.input;
      return context.step(
        'only',
        { kind: 'step', name: 'only', record: anyRecord },
        async () => `${content}storable`,
      );
    });
    const engine = engineWith(store, component);
    const words = ['one', 'two', 'un', 'three', 'un', 'four'];
    const handles = await Promise.all(
      words.map((content) =>
        begin(engine, component, {
          input: { content, media: [], options: { stream: false } },
          background: true,
        }),
      ),
    );
    together.open();
    const ended = await Promise.all(handles.map((handle) => handle.ended));
    expect(ended.map(({ run }) => run.status)).toEqual(
      words.map((content) => (content === 'un' ? 'error' : 'completed')),
    );
  });
});
