import { describe, expect, it } from 'vitest';
import {
  DatabaseLearnings,
  type GivenLearning,
  LearningsService,
} from '../../../src/capabilities/learnings/service.js';
import { InProcessLearnings } from '../../../src/core/learnings/in-process-learnings.js';
import type { LearningChange, LearningIdentity, Learnings } from '../../../src/core/learnings/learnings.js';
import { administrator, person } from '../../support/clients/callers.js';
import { forEachDatabase } from '../../support/databases.js';

const admin = administrator(null);
const ada = person('ada');

const nobody: Omit<LearningIdentity, 'learningId' | 'learningType'> = {
  namespace: null,
  userId: null,
  agentId: null,
  teamId: null,
  sessionId: null,
  entityId: null,
  entityType: null,
};

function given(more: Partial<GivenLearning> = {}): GivenLearning {
  return { learningType: 'note', content: { text: 'hello' }, metadata: null, ...nobody, ...more };
}

function change(more: Partial<LearningIdentity>, rest: Partial<LearningChange> = {}): LearningChange {
  const identity = { ...nobody, learningId: 'one', learningType: 'note', ...more };
  return { identity, key: 'k', now: 1, merge: () => ({ text: 'hello' }), ...rest };
}

/** The promises to runs, whatever the store. */
function describeLearnings(make: () => Promise<Learnings>): void {
  it('creates a record, and changes it based on its content', async () => {
    const learnings = await make();
    const add = (text: string, now: number) =>
      learnings.change(
        change(
          { userId: 'ada', agentId: 'a' },
          {
            key: text,
            now,
            merge: (content) => ({ texts: [...((content?.texts as string[]) ?? []), text] }),
          },
        ),
      );
    await add('one', 10);
    await add('two', 20);
    expect(await learnings.get('ada', 'one')).toEqual({
      ...nobody,
      learningId: 'one',
      learningType: 'note',
      userId: 'ada',
      agentId: 'a',
      content: { texts: ['one', 'two'] },
      metadata: null,
      createdAt: 10,
      updatedAt: 20,
    });
  });

  it('makes a change once, however often it is asked for', async () => {
    const learnings = await make();
    let count = 0;
    const counted = change(
      {},
      { merge: (content) => ({ count: ((content?.count as number) ?? 0) + ++count }) },
    );
    for (let times = 0; times < 3; times += 1) await learnings.change(counted);
    await learnings.change({ ...counted, key: 'other', merge: () => undefined });
    expect((await learnings.get(null, 'one'))?.content).toEqual({ count: 1 });
  });

  it('loses none of several simultaneous changes', async () => {
    const learnings = await make();
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    await Promise.all(
      names.map((name) =>
        learnings.change(change({}, { key: name, merge: (content) => ({ ...content, [name]: true }) })),
      ),
    );
    const { content } = (await learnings.get(null, 'one'))!;
    expect(Object.keys(content).sort()).toEqual([...names].sort());
  });

  it('leaves records of another user, or about something else, alone', async () => {
    const learnings = await make();
    await learnings.change(change({ userId: 'ada' }));
    const merge = () => ({ text: 'taken' });
    await learnings.change(change({ userId: 'bob' }, { key: 'b', merge }));
    await learnings.change(change({}, { key: 'c', merge }));
    await learnings.change(change({ userId: 'ada', learningType: 'other' }, { key: 'd', merge }));
    await learnings.change(change({ userId: 'ada', namespace: 'sales' }, { key: 'e', merge }));
    expect((await learnings.get('ada', 'one'))?.content).toEqual({ text: 'hello' });
    expect(await learnings.get('bob', 'one')).toBeUndefined();
    expect(await learnings.get(null, 'one')).toBeUndefined();
  });

  it('finds the records of the user and those without an owner, the newest first', async () => {
    const learnings = await make();
    const owners = ['ada', 'bob', null] as const;
    for (const [now, userId] of owners.entries())
      await learnings.change(change({ learningId: `of-${userId}`, userId }, { now }));
    const found = async (userId: string | null) =>
      (await learnings.find(userId, { limit: 10 })).map(({ learningId }) => learningId);
    expect(await found('ada')).toEqual(['of-null', 'of-ada']);
    expect(await found(null)).toEqual(['of-null']);
  });

  it('finds by type and namespace; what has none is in the global one', async () => {
    const learnings = await make();
    await learnings.change(change({ learningId: 'plain' }, { now: 1 }));
    await learnings.change(change({ learningId: 'global', namespace: 'global' }, { now: 2 }));
    await learnings.change(
      change({ learningId: 'sales', namespace: 'sales', learningType: 'deal' }, { now: 3 }),
    );
    const found = async (query: object) =>
      (await learnings.find(null, { limit: 10, ...query })).map(({ learningId }) => learningId);
    expect(await found({ namespaces: ['global'] })).toEqual(['global', 'plain']);
    expect(await found({ namespaces: ['sales', 'other'] })).toEqual(['sales']);
    expect(await found({ learningType: 'deal' })).toEqual(['sales']);
    expect(await found({ exceptTypes: ['deal'] })).toEqual(['global', 'plain']);
    expect(await found({ limit: 1 })).toEqual(['sales']);
  });

  it('finds words in any script, the most of them first, and takes no sign for a wildcard', async () => {
    const learnings = await make();
    const texts = ['Ада Лавлейс lives in London', 'London is rainy', '100%_sure'];
    for (const [now, text] of texts.entries())
      await learnings.change(
        change({ learningId: `${now}`, entityId: 'x' }, { now, merge: () => ({ in: [{ text }] }) }),
      );
    const found = async (search: string) =>
      (await learnings.find(null, { limit: 10, search })).map(({ learningId }) => learningId);
    expect(await found('АДА london')).toEqual(['0', '1']);
    expect(await found('london')).toEqual(['1', '0']);
    expect(await found('nowhere')).toEqual([]);
    expect(await found('%')).toEqual(['2', '1', '0']);
    expect(await found('100_')).toEqual(['2']);
  });
}

describe('in the process', () => describeLearnings(async () => new InProcessLearnings()));

forEachDatabase((_dialect, freshPlace) => {
  describeLearnings(async () => new DatabaseLearnings(await (await freshPlace()).open()).ofRuns);

  async function service() {
    const learnings = new DatabaseLearnings(await (await freshPlace()).open());
    return {
      service: new LearningsService({
        choose: async () => ({ learnings, sessions: { find: async () => undefined } }),
      }),
      learnings,
    };
  }

  it('L1: of many simultaneous creates of the same record exactly one succeeds, and its content stays', async () => {
    const { service: learnings } = await service();
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, attempt) =>
        learnings.create(
          admin,
          {},
          given({ learningType: 'user_profile', userId: 'ada', content: { attempt } }),
        ),
      ),
    );
    const made = tries.filter((result) => result.status === 'fulfilled');
    const refused = tries.filter((result) => result.status === 'rejected');
    expect(made).toHaveLength(1);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'learning_exists', status: 409 });
    const stored = await learnings.get(admin, {}, 'user_profile_ada');
    expect(stored.content).toEqual(made[0]!.value.content);
  });

  it('sorts by any field, missing values last and ties by id', async () => {
    const { service: learnings } = await service();
    const ids: Record<string, string> = {};
    for (const [name, namespace] of Object.entries({ a: 'b', b: 'B', c: null, d: 'a' }))
      ids[(await learnings.create(admin, {}, given({ namespace }))).learningId] = name;
    const sorted = async (sortBy: string, direction: 'asc' | 'desc') => {
      const page = { limit: 10, page: 1 };
      const { items } = await learnings.list(admin, {}, {}, { sortBy, direction }, page);
      return items.map(({ learningId }) => ids[learningId]);
    };
    expect(await sorted('namespace', 'asc')).toEqual(['b', 'd', 'a', 'c']);
    expect(await sorted('namespace', 'desc')).toEqual(['a', 'd', 'b', 'c']);
    const byId = Object.keys(ids)
      .sort()
      .map((id) => ids[id]);
    expect(await sorted('learning_id', 'asc')).toEqual(byId);
    expect(await sorted('learning_type', 'asc')).toEqual(byId);
    expect(await sorted('learning_type', 'desc')).toEqual([...byId].reverse());
    expect(await sorted('content', 'desc')).toEqual(await sorted('updated_at', 'desc'));
  });

  it('shows a caller who sees only their own records those and the ones without an owner', async () => {
    const { service: learnings } = await service();
    const make = (userId: string | null) => learnings.create(admin, {}, given({ userId }));
    const [own, foreign, ownerless] = [await make('ada'), await make('bob'), await make(null)];
    const page = { limit: 10, page: 1 };
    const order = { direction: 'desc' } as const;
    const { items, total } = await learnings.list(ada, {}, {}, order, page);
    expect(items.map(({ learningId }) => learningId).sort()).toEqual(
      [own.learningId, ownerless.learningId].sort(),
    );
    expect(total).toBe(2);
    const missing = { status: 404, message: 'Learning not found' };
    const ownerlessRefused = {
      status: 403,
      message: 'Only admins can modify learnings that have no owner (user_id is null)',
    };
    await expect(learnings.get(ada, {}, foreign.learningId)).rejects.toMatchObject(missing);
    await expect(learnings.delete(ada, {}, foreign.learningId)).rejects.toMatchObject(missing);
    await expect(learnings.update(ada, {}, foreign.learningId, { content: {} })).rejects.toMatchObject(
      missing,
    );
    expect((await learnings.get(ada, {}, ownerless.learningId)).content).toEqual({ text: 'hello' });
    await expect(learnings.delete(ada, {}, ownerless.learningId)).rejects.toMatchObject(ownerlessRefused);
    await expect(learnings.update(ada, {}, ownerless.learningId, {})).rejects.toMatchObject(ownerlessRefused);
    expect((await learnings.users(ada, {}, {}, order, page)).items.map(({ userId }) => userId)).toEqual([
      'ada',
    ]);
    await learnings.update(ada, {}, own.learningId, { content: { text: 'new' } });
    expect((await learnings.get(admin, {}, own.learningId)).content).toEqual({ text: 'new' });
    await learnings.delete(ada, {}, own.learningId);
    await expect(learnings.get(admin, {}, own.learningId)).rejects.toMatchObject(missing);
  });

  it('refuses a caller who sees only their own records any request that names another user', async () => {
    const { service: learnings } = await service();
    const page = { limit: 10, page: 1 };
    const order = { direction: 'desc' } as const;
    const refused = (what: string) => ({ status: 403, message: `Cannot ${what} for another user` });
    await expect(learnings.list(ada, {}, { user_id: 'bob' }, order, page)).rejects.toMatchObject(
      refused('list learnings'),
    );
    await expect(learnings.users(ada, {}, { userId: 'bob' }, order, page)).rejects.toMatchObject(
      refused('list learning users'),
    );
    await expect(learnings.create(ada, {}, given({ userId: 'bob' }))).rejects.toMatchObject(
      refused('create learnings'),
    );
    await expect(learnings.create(ada, {}, given({ namespace: 'user:bob' }))).rejects.toMatchObject(
      refused('create learnings'),
    );
    await expect(learnings.deleteOfUser(ada, {}, 'bob', undefined)).rejects.toMatchObject(
      refused('delete learnings'),
    );
    expect((await learnings.create(ada, {}, given())).userId).toBeNull();
    expect((await learnings.create(ada, {}, given({ userId: 'ada', namespace: 'user:ada' }))).userId).toBe(
      'ada',
    );
  });

  it('keeps what a run changes after the record was changed by hand', async () => {
    const { service: learnings, learnings: database } = await service();
    const identity = { learningId: 'user_profile_ada', learningType: 'user_profile', userId: 'ada' };
    const set = (field: string) =>
      database.ofRuns.change(
        change(identity, { key: field, merge: (content) => ({ ...content, [field]: 'run' }) }),
      );
    await set('name');
    await learnings.update(admin, {}, 'user_profile_ada', {
      content: { name: 'Ada' },
      metadata: { by: 'hand' },
    });
    await set('name');
    await set('language');
    const { content, metadata } = await learnings.get(admin, {}, 'user_profile_ada');
    expect(content).toEqual({ name: 'Ada', language: 'run' });
    expect(metadata).toEqual({ by: 'hand' });
  });
});
