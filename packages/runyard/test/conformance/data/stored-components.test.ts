import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ComponentChangeStore } from '../../../src/capabilities/components/stored/change-store.js';
import type { ComponentChange } from '../../../src/capabilities/components/stored/component-change-store.js';
import { RunnableComponents } from '../../../src/capabilities/components/stored/runnable-store.js';
import { StoredComponentsService } from '../../../src/capabilities/components/stored/service.js';
import { ComponentStore } from '../../../src/capabilities/components/stored/store.js';
import type { Link, Stage } from '../../../src/capabilities/components/stored/stored-component.js';
import type { RunKind } from '../../../src/core/runs/run.js';
import { anonymousCaller } from '../../../src/platform/auth/caller.js';
import { forEachDatabase } from '../../support/databases.js';

const missing = () => new Error('missing');
const everything = { includeDeleted: false, hidden: { agent: [], team: [], workflow: [] } };
const fields = (over: { label?: string; stage?: Stage } = {}) => ({
  label: null,
  stage: 'draft' as Stage,
  notes: null,
  ...over,
});
const holding = (text: string, links: readonly Link[] = []) => ({ config: { instructions: text }, links });

forEachDatabase((_dialect, freshPlace) => {
  let store: ComponentStore;
  let changes: ComponentChangeStore;
  let runnable: RunnableComponents;
  let seconds = 0;

  async function open() {
    const place = await freshPlace();
    const database = await place.open();
    store = new ComponentStore(database);
    changes = new ComponentChangeStore(database);
    runnable = new RunnableComponents(database);
    return { place, database };
  }

  const editing = () => ({ by: 'ada', at: ++seconds * 1000 });

  async function created(id: string, stage: Stage = 'draft', kind: RunKind = 'agent') {
    const made = { id, kind, name: id, description: null, metadata: { deep: [null, 'ü'] } };
    const { component } = await changes.create(made, editing(), async (change, isNew) => {
      expect(isNew).toBe(true);
      await change.addVersion(1, fields({ stage }), holding('first'), []);
      if (stage === 'published') change.set({ currentVersion: 1 });
      change.note({ action: 'created', version: 1, revision: 1 });
    });
    return component;
  }

  const changed = <Result>(id: string, work: (change: ComponentChange) => Promise<Result>) =>
    changes.change(id, editing(), missing, work);

  const save = (id: string, text: string, over: { label?: string; stage?: Stage } = {}) =>
    changed(id, async (change) => {
      const before = await change.version(1);
      await change.saveVersion(before!, fields(over), holding(text), []);
      if (over.stage === 'published') change.set({ currentVersion: 1 });
      change.note({ action: 'version_saved', version: 1 });
    });

  it('stores a component with its first version, and runs the newest draft until one is published', async () => {
    await open();
    const component = await created('a');
    expect(await store.find('a')).toEqual(component);
    expect(component).toMatchObject({
      ...{ revision: 1, lastVersion: 1, currentVersion: null, createdBy: 'ada', updatedAt: null },
    });
    expect(await runnable.find('agent', 'a')).toEqual({
      ...{
        kind: 'agent',
        id: 'a',
        version: 1,
        revision: 1,
        stage: 'draft',
        pins: [],
        name: 'a',
        digest: expect.any(String),
      },
      config: { instructions: 'first' },
    });
    await save('a', 'second', { stage: 'published' });
    expect(await store.find('a')).toMatchObject({ currentVersion: 1, revision: 2, updatedBy: 'ada' });
    await changed('a', (change) => change.addVersion(2, fields(), holding('draft'), []));
    expect(await runnable.find('agent', 'a')).toMatchObject({
      version: 1,
      config: { instructions: 'second' },
    });
    expect(await runnable.find('agent', 'a', 2)).toMatchObject({ stage: 'draft' });
    expect(await runnable.find('agent', 'a', 3)).toBeUndefined();
    expect(await runnable.find('team', 'a')).toBeUndefined();
  });

  it('keeps the states of runs: earlier saves, deleted drafts, deleted components', async () => {
    await open();
    await created('a');
    await save('a', 'second');
    const at = (revision: number) => runnable.at('agent', 'a', { version: 1, revision });
    expect(await at(1)).toMatchObject({ revision: 1, config: { instructions: 'first' } });
    await changed('a', (change) => change.deleteVersion(1));
    expect(await store.version('a', 1)).toBeUndefined();
    expect(await runnable.find('agent', 'a')).toBeUndefined();
    await changed('a', async (change) => change.set({ deletedAt: 5000 }));
    expect(await at(2)).toMatchObject({ config: { instructions: 'second' } });
    expect((await store.list({ ...everything }, { limit: 5, offset: 0 })).total).toBe(0);
    expect((await store.list({ ...everything, includeDeleted: true }, { limit: 5, offset: 0 })).total).toBe(
      1,
    );
  });

  it('keeps the newest hundred saves of a version', async () => {
    const { database } = await open();
    await created('a');
    await save('a', 'second');
    await save('a', 'third');
    // as if there had been so many saves in between
    await database.query.updateTable('component_configs').set({ revision: 101 }).execute();
    await database.query
      .updateTable('component_revisions')
      .set({ revision: 101 })
      .where('revision', '=', 3)
      .execute();
    await changed('a', async (change) => {
      const before = await change.version(1);
      await change.saveVersion(before!, fields(), holding('newest'), []);
      change.note({ action: 'version_saved', version: 1, revision: 102, fields: [{ field: 'notes' }] });
    });
    expect(await store.revision('a', 1, 2)).toBeUndefined();
    expect(await store.revision('a', 1, 101)).toMatchObject({ config: { instructions: 'third' } });
    expect(await store.version('a', 1)).toMatchObject({ revision: 102 });
    const noted = { version: 1, revision: 102, fields: [{ field: 'notes' }], changedBy: 'ada' };
    expect(await store.history('a', { limit: 1, offset: 0 })).toEqual({
      total: 4,
      items: [{ number: 4, action: 'version_saved', ...noted, changedAt: seconds * 1000 }],
    });
  });

  it('lets two editors at once change a component one after the other, and undoes a change that fails', async () => {
    const { place } = await open();
    const other = new ComponentChangeStore(await place.open());
    await created('a');
    const add = (at: ComponentChangeStore) =>
      at.change('a', editing(), missing, (change) =>
        change.addVersion(change.component.lastVersion + 1, fields(), holding('more'), []),
      );
    const made = await Promise.all([add(changes), add(other), add(changes), add(other)]);
    expect(made.map(({ result }) => result.version).sort()).toEqual([2, 3, 4, 5]);
    expect(await store.find('a')).toMatchObject({ lastVersion: 5, revision: 5 });
    await expect(
      changed('a', async (change) => {
        await change.addVersion(6, fields(), holding('lost'), []);
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect(await store.version('a', 6)).toBeUndefined();
    await expect(changed('b', async () => undefined)).rejects.toThrow('missing');
  });

  it('lets editors whose components pin each other not wait for each other', async () => {
    await open();
    await Promise.all(['a', 'b'].map((id) => created(id)));
    let reached = () => {};
    const both = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const edit = (id: string, pinned: string) =>
      changed(id, async (change) => {
        // locks of rows would be taken crosswise here
        await Promise.race([both, setTimeout(200)]);
        reached();
        const stage = await change.stageOf(pinned, 1);
        await change.addVersion(2, fields(), holding('more'), []);
        return [stage, (await change.other(pinned))?.kind, await change.other(id)];
      });
    const made = await Promise.all([edit('a', 'b'), edit('b', 'a')]);
    expect(made.map(({ result }) => result)).toEqual([
      ['draft', 'agent', undefined],
      ['draft', 'agent', undefined],
    ]);
  });

  it('keeps what a change has looked at until it is stored', async () => {
    const { place } = await open();
    const other = new ComponentChangeStore(await place.open());
    await Promise.all(['a', 'b'].map((id) => created(id)));
    const steps: string[] = [];
    let deleting: Promise<unknown> | undefined;
    await changed('b', async (change) => {
      expect(await change.stageOf('a', 1)).toBe('draft');
      deleting = other.change('a', editing(), missing, async (one) => {
        steps.push('deleted');
        await one.deleteVersion(1);
      });
      await Promise.race([deleting, setTimeout(50)]);
      steps.push('stored');
    });
    await deleting;
    expect(steps).toEqual(['stored', 'deleted']);
    const stage = async (id: string) => (await changed('b', (change) => change.stageOf(id, 1))).result;
    expect(await stage('a')).toBeUndefined();
    await created('c', 'published');
    expect(await stage('c')).toBe('published');
    await changed('c', async (change) => change.set({ deletedAt: 1000 }));
    expect(await stage('c')).toBeUndefined();
  });

  it('restores nothing under an id that the code has by now', async () => {
    await open();
    await created('a');
    await changed('a', async (change) => change.set({ deletedAt: 1000 }));
    const language = () => Promise.reject(new Error('nothing is read'));
    const restored = (team: readonly string[]) =>
      new StoredComponentsService({
        ...{ store, changes, language, now: async () => 2000 },
        code: { agent: [], team, workflow: [] },
        isMember: () => false,
        degraded: async () => undefined,
      }).restore(anonymousCaller, 'a', undefined);
    await expect(restored(['a'])).rejects.toMatchObject({ status: 409 });
    expect(await restored([])).toMatchObject({ id: 'a', deletedAt: null });
  });

  it('gives an id to one of several who create it at once', async () => {
    const { place } = await open();
    const other = new ComponentChangeStore(await place.open());
    const make = (at: ComponentChangeStore) =>
      at.create(
        { id: 'a', kind: 'agent', name: 'a', description: null, metadata: null },
        editing(),
        async (change, isNew) => {
          if (!isNew) throw new Error('taken');
          await change.addVersion(1, fields(), holding('first'), []);
        },
      );
    const made = await Promise.allSettled([make(changes), make(other), make(changes)]);
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  it('has a label once in a component, and frees that of a deleted version', async () => {
    await open();
    await created('a');
    await created('b');
    await save('a', 'x', { label: 'stable' });
    await save('b', 'x', { label: 'stable' });
    const label = (change: ComponentChange) =>
      change.addVersion(change.component.lastVersion + 1, fields({ label: 'stable' }), holding('x'), []);
    expect(await changed('a', (change) => change.isLabelTaken('stable', 2))).toMatchObject({ result: true });
    await expect(changed('a', label)).rejects.toThrow();
    await changed('a', (change) => change.deleteVersion(1));
    await changed('a', label);
  });

  it('knows which versions refer to a component, and which of them run', async () => {
    await open();
    await created('a', 'published');
    await created('crew', 'draft', 'team');
    const link = {
      linkKind: 'member',
      linkKey: 'member_0',
      childId: 'a',
      childVersion: 1,
      position: 0,
      meta: null,
    };
    await changed('crew', (change) =>
      change.addVersion(2, fields(), holding('x', [link]), [
        link,
        { linkKind: 'member', linkKey: 'member_1', childId: 'code', childVersion: null },
      ]),
    );
    expect(await store.dependents('a', { limit: 5, offset: 0 })).toEqual({
      total: 1,
      items: [
        {
          ...{
            componentId: 'crew',
            kind: 'team',
            name: 'crew',
            version: 2,
            stage: 'draft',
            isCurrent: false,
          },
          ...{ linkKind: 'member', linkKey: 'member_0', childVersion: 1 },
        },
      ],
    });
    expect((await runnable.find('team', 'crew'))?.pins).toEqual([
      { linkKind: 'member', linkKey: 'member_0', id: 'a', version: 1 },
    ]);
    const found = await changed('a', async (change) => [await change.users(5), await change.pinnedBy(1, 5)]);
    expect(found.result).toEqual([['crew'], [{ id: 'crew', version: 2 }]]);
    await changed('crew', async (change) => change.set({ deletedAt: 1000 }));
    expect((await changed('a', (change) => change.users(5))).result).toEqual([]);
    expect((await store.dependents('a', { limit: 5, offset: 0 })).total).toBe(0);
  });

  it('lists newest first, and in pages for runs in the order of their creation', async () => {
    await open();
    for (let number = 0; number < 45; number++) {
      // several within a second
      if (number % 3 > 0) seconds -= 1;
      await created(`a${String(number).padStart(2, '0')}`);
    }
    await created('crew', 'draft', 'team');
    const list = await store.list(
      { ...everything, kind: 'agent', hidden: { agent: ['a44'], team: [], workflow: [] } },
      { limit: 4, offset: 0 },
    );
    expect([list.total, list.items.map(({ id }) => id)]).toEqual([44, ['a42', 'a43', 'a39', 'a40']]);
    const pages: string[][] = [];
    for await (const page of runnable.pages('agent')) pages.push(page.map(({ id }) => id));
    expect(pages.map(({ length }) => length)).toEqual([20, 20, 5]);
    const all = pages.flat();
    expect(new Set(all).size).toBe(45);
    expect(all.slice(0, 4)).toEqual(['a02', 'a01', 'a00', 'a05']);
    expect([...(await runnable.keys())].sort()).toEqual(
      [...all.map((id) => `agent ${id}`), 'team crew'].sort(),
    );
    await created('late');
    await changed('late', async (change) => change.set({ deletedAt: 1000 }));
    expect(await runnable.keys()).toContain('agent late');
  });

  it('reads versions newest first, a few at a time', async () => {
    await open();
    await created('a');
    await changed('a', async (change) => {
      for (let version = 2; version <= 25; version++)
        await change.addVersion(version, fields(), holding(`v${version}`), []);
    });
    const read: number[] = [];
    for await (const { version } of store.versions('a', { limit: 15, offset: 3 })) read.push(version);
    expect(read).toEqual(Array.from({ length: 15 }, (_, index) => 22 - index));
    expect((await store.bareVersions('a', { limit: 2, offset: 20 })).map(({ version }) => version)).toEqual([
      5, 4,
    ]);
    expect(await store.newestDraft('a')).toBe(25);
  });
});
