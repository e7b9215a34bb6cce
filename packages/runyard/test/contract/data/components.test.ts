import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, team } from '../../../src/index.js';
import { Gatehouse, type Holder } from '../../support/clients/tokens.js';
import type { Answer, Body } from '../../support/service.js';

let house: Gatehouse;
let ada: Holder;
let bob: Holder;

beforeAll(async () => {
  const plain = agent({ id: 'plain', model: 'offline' });
  const desk = team({ id: 'desk', model: 'offline', members: [plain] });
  house = await Gatehouse.shared({ agents: [plain], teams: [desk] });
  const scopes = ['components:read', 'components:write', 'components:delete'];
  ada = await house.person('ada', scopes);
  bob = await house.person('bob', scopes);
});
afterAll(() => house.service.stop());

let made = 0;
const freshId = () => `c-${++made}`;
const config = (instructions = 'Greet.') => ({ model: 'offline', instructions });
const text = ({ status, body }: Answer) => [status, body?.detail];
const faults = ({ status, body }: Answer) => [
  status,
  body.detail.map(({ type, loc, msg }: Body) => [type, loc.join('.'), msg]),
];

async function done(answer: Promise<Answer>): Promise<Body> {
  const { status, body } = await answer;
  expect([status < 300, body?.detail]).toEqual([true, undefined]);
  return body;
}

const create = (over: Body = {}, holder = ada) =>
  holder.send('POST', '/components', {
    ...{ name: 'Greeter', component_id: freshId(), component_type: 'agent', config: config() },
    ...over,
  });
const created = async (over: Body = {}): Promise<string> => (await done(create(over))).component_id;
const add = (id: string, over: Body = {}) =>
  ada.send('POST', `/components/${id}/configs`, { config: config(), ...over });
const save = (id: string, version: number, body: Body, holder = ada) =>
  holder.send('PATCH', `/components/${id}/configs/${version}`, body);
const setCurrent = (id: string, version: number, query = '') =>
  ada.send('POST', `/components/${id}/configs/${version}/set-current${query}`);
const read = (path: string) => done(ada.get(`/components/${path}`));

/** A team with one member. */
const crew = (id: string, over: Body = {}) => ({
  component_type: 'team',
  config: { model: 'offline', members: [{ type: 'agent', agent_id: id }] },
  ...over,
});

describe('a component', () => {
  test('is created with a draft as its first version, and shows who made it', async () => {
    const id = freshId();
    const before = Math.floor(Date.now() / 1000) - 1;
    const body = await done(
      create({ component_id: id, description: 'Says hello', metadata: { team: 'a' }, notes: 'first' }),
    );
    expect(body).toEqual({
      ...{ component_id: id, component_type: 'agent', name: 'Greeter', description: 'Says hello' },
      ...{ metadata: { team: 'a' }, created_at: expect.any(Number), revision: 1 },
      ...{ created_by: 'ada', updated_by: 'ada' },
    });
    expect(body.created_at).toBeGreaterThanOrEqual(before);
    expect(await read(id)).toEqual(body);
    const version = {
      ...{ component_id: id, version: 1, stage: 'draft', notes: 'first', revision: 1 },
      ...{ created_at: body.created_at, created_by: 'ada', updated_by: 'ada' },
    };
    expect(await read(`${id}/configs/1`)).toEqual({ ...version, config: config() });
    expect(await read(`${id}/configs/current`)).toEqual({ ...version, config: config() });
    expect(await read(`${id}/configs`)).toEqual([{ ...version, config: config() }]);
    expect(await read(`${id}/configs?include_config=false`)).toEqual([version]);
  });

  test('gets an id from its name, and refuses ids that no URL has or that are taken', async () => {
    expect((await done(create({ name: 'My new_Agent!', component_id: null }))).component_id).toBe(
      'my-new-agent',
    );
    expect((await done(create({ name: '', component_id: undefined }))).component_id).toMatch(/^\w+-\w+-\d+$/);
    const id = await created();
    expect(text(await create({ component_id: id }))).toEqual([400, `Component ${id} already exists`]);
    const of = /^The id 'plain' belongs to the agent 'plain' in the code/;
    expect(text(await create({ component_id: 'plain' }))).toEqual([409, expect.stringMatching(of)]);
    const another = expect.stringMatching(/^The id 'desk' belongs to the team 'desk' in the code/);
    expect(text(await create({ component_id: 'desk' }))).toEqual([409, another]);
    for (const wrong of ['a/b', 'a b', '..', 'ü', 'ws', 'x'.repeat(256)])
      expect((await create({ component_id: wrong })).status, wrong).toBe(400);
    expect(faults(await ada.send('POST', '/components', { component_type: 'robot' }))).toEqual([
      422,
      [
        ['missing', 'body.name', 'Field required'],
        ['enum', 'body.component_type', "Input should be 'agent', 'team' or 'workflow'"],
      ],
    ]);
    expect(text(await create({ stage: 'live' }))).toEqual([400, 'Invalid stage: live']);
  });

  test('refuses what its configuration cannot hold, with the place, and secrets wherever they are', async () => {
    const [status, items] = faults(await create({ config: { model: 'offline', instruktions: 'x' } }));
    expect([status, items[0][1], items[0][2]]).toEqual([
      422,
      'body.config.instruktions',
      expect.stringMatching(/^Value error, instruktions .*instructions/),
    ]);
    const secret = 'sk-0123456789abcdefghij';
    const id = await created();
    for (const answer of [
      await create({ config: { metadata: { api_key: secret } } }),
      await create({ metadata: { deep: [{ password: 'hunter2' }] } }),
      await create({ component_id: secret }),
      await create({ name: secret }),
      await add(id, { notes: `use ${secret}` }),
      await save(id, 1, { notes: `use ${secret}` }),
      await add(id, {
        links: [{ link_kind: 'x', link_key: secret, child_component_id: id, child_version: 1 }],
      }),
      await save(id, 1, { config: { instructions: `use ${secret}` } }),
      await ada.send('PATCH', `/components/${id}`, { description: secret }),
    ]) {
      expect(faults(answer)[0]).toBe(422);
      expect(answer.text).not.toMatch(/sk-0123|hunter2/);
    }
    const db = { id: 'default', db_url: 'sqlite:///tmp/x.db' };
    const saved = await done(save(id, 1, { config: { ...config(), db } }));
    expect(saved.config).toEqual({ ...config(), db: { id: 'default' } });
    const long = { instructions: 'x'.repeat(1_000_001) };
    expect((await create({ config: long })).status).toBe(422);
  });

  test('is listed newest first, in pages, with the time that the search took', async () => {
    const id = await created();
    const { data, meta } = await read('?limit=2');
    expect(meta).toMatchObject({ page: 1, limit: 2, total_count: expect.any(Number) });
    expect(meta.search_time_ms).toBeGreaterThan(0);
    const ids = (await read('?limit=100')).data.map(({ component_id }: Body) => component_id);
    expect([data.length, ids.includes(id), ids.includes('plain')]).toEqual([2, true, false]);
    expect((await read('?component_type=workflow')).data).toEqual([]);
    expect((await ada.get('/components?component_type=robot')).status).toBe(422);
  });

  test('is changed: fields that are left out stay, and null removes what can be empty', async () => {
    const id = await created({ description: 'x', metadata: { a: 1 } });
    const path = `/components/${id}`;
    const renamed = await done(ada.send('PATCH', path, { name: 'New' }));
    expect(renamed).toMatchObject({ name: 'New', description: 'x', metadata: { a: 1 }, revision: 2 });
    const emptied = await done(bob.send('PATCH', path, { name: null, description: null, metadata: null }));
    expect(emptied).toEqual({
      ...{ component_id: id, component_type: 'agent', name: 'New', revision: 3 },
      ...{ created_by: 'ada', updated_by: 'bob' },
      ...{ created_at: renamed.created_at, updated_at: expect.any(Number) },
    });
    expect(text(await ada.send('PATCH', path, { component_type: 'robot' }))).toEqual([
      400,
      "'robot' is not a valid ComponentType",
    ]);
    expect((await ada.send('PATCH', path, { component_type: 'team' })).status).toBe(409);
    expect((await ada.send('PATCH', path, { component_type: 'agent' })).status).toBe(200);
    expect(text(await ada.send('PATCH', '/components/nope', {}))).toEqual([404, 'Component nope not found']);
    expect(text(await ada.get('/components/nope'))).toEqual([404, 'Component nope not found']);
  });

  test('is deleted and restored, and created again under its id with its versions', async () => {
    const id = await created({ stage: 'published', description: 'old' });
    expect((await ada.delete(`/components/${id}`)).status).toBe(204);
    expect((await ada.delete(`/components/${id}`)).status).toBe(204);
    for (const path of [id, `${id}/configs`, `${id}/configs/1`, `${id}/configs/current`, `${id}/dependents`])
      expect((await ada.get(`/components/${path}`)).status, path).toBe(404);
    expect((await add(id)).status).toBe(400);
    expect((await ada.send('PATCH', `/components/${id}`, { name: 'x' })).status).toBe(404);
    expect((await read(`${id}/history`)).data.map(({ action }: Body) => action)).toEqual([
      'deleted',
      'created',
    ]);
    expect((await bob.send('POST', `/components/${id}/restore?expected_revision=1`)).status).toBe(409);
    const deleted = await read(`${id}?include_deleted=true`);
    expect(deleted.deleted_at).toEqual(expect.any(Number));
    const shown = (await read('?limit=100&include_deleted=true')).data;
    expect(shown).toContainEqual(deleted);
    const restored = await done(bob.send('POST', `/components/${id}/restore`));
    expect(restored).toMatchObject({ current_version: 1, description: 'old', updated_by: 'bob' });
    expect(restored).not.toHaveProperty('deleted_at');
    expect((await bob.send('POST', `/components/${id}/restore`)).status).toBe(200);
    await ada.delete(`/components/${id}`);
    expect((await create({ component_id: id, component_type: 'workflow', config: {} })).status).toBe(409);
    const again = await done(create({ component_id: id, name: 'Again' }));
    expect([again.name, again.current_version, again.description]).toEqual(['Again', undefined, undefined]);
    expect((await read(`${id}/configs/current`)).version).toBe(2);
    expect((await done(setCurrent(id, 1))).current_version).toBe(1);
    expect(text(await ada.delete('/components/nope'))).toEqual([404, 'Component nope not found']);
    expect((await ada.send('POST', '/components/nope/restore')).status).toBe(404);
  });
});

describe('a version', () => {
  test('is a draft until it is published, then never changes, and can be current again', async () => {
    const id = await created();
    const saved = await done(save(id, 1, { config: config('Greet warmly.'), label: 'v1', notes: 'warm' }));
    expect(saved).toMatchObject({ config: config('Greet warmly.'), label: 'v1', revision: 2 });
    const emptied = await done(save(id, 1, { label: null, notes: null, config: null }));
    expect([emptied.label, emptied.notes, emptied.config]).toEqual([undefined, undefined, saved.config]);
    expect(text(await setCurrent(id, 1))).toEqual([
      400,
      `Cannot set draft config ${id} v1 as current. Only published configs can be current.`,
    ]);
    expect((await done(save(id, 1, { stage: 'published' }))).stage).toBe('published');
    expect((await read(id)).current_version).toBe(1);
    expect(text(await save(id, 1, { notes: 'x' }))).toEqual([400, `Cannot update published config ${id} v1`]);
    const second = await done(add(id, { stage: 'published', label: 'second' }));
    expect([second.version, (await read(id)).current_version]).toEqual([2, 2]);
    expect((await done(setCurrent(id, 1))).current_version).toBe(1);
    expect((await read(`${id}/configs/current`)).version).toBe(1);
    const set = (version: number) => ada.send('PATCH', `/components/${id}`, { current_version: version });
    expect((await done(set(2))).current_version).toBe(2);
    expect(text(await set(9))).toEqual([400, `Config ${id} v9 not found`]);
    await done(add(id));
    expect((await set(3)).status).toBe(400);
    expect(text(await setCurrent(id, 88))).toEqual([404, `Component ${id} or config version 88 not found`]);
    expect(text(await setCurrent('nope', 1))).toEqual([404, 'Component nope or config version 1 not found']);
    expect((await read(`${id}/configs`)).map(({ version }: Body) => version)).toEqual([3, 2, 1]);
    expect((await read(`${id}/configs?limit=1&page=2`)).map(({ version }: Body) => version)).toEqual([2]);
  });

  test('is published without becoming current, or gets a number, when that is asked for', async () => {
    const id = await created({ stage: 'published' });
    await done(add(id, { stage: 'published', set_current: false }));
    expect((await read(id)).current_version).toBe(1);
    expect((await done(add(id, { version: 7 }))).version).toBe(7);
    expect((await add(id, { version: 3 })).status).toBe(409);
    expect((await done(add(id))).version).toBe(8);
    expect((await add(id, { version: Number.MAX_SAFE_INTEGER })).status).toBe(422);
    await done(add(id, { version: 1_000_000_000 }));
    expect((await done(add(id))).version).toBe(1_000_000_001);
  });

  test('is deleted as a draft alone, and its number is not used again', async () => {
    const id = await created({ stage: 'published' });
    await done(add(id, { label: 'stable' }));
    expect(text(await ada.delete(`/components/${id}/configs/1`))).toEqual([
      400,
      `Cannot delete current config ${id} v1`,
    ]);
    expect((await ada.delete(`/components/${id}/configs/2`)).status).toBe(204);
    expect(text(await ada.delete(`/components/${id}/configs/2`))).toEqual([404, `Config ${id} v2 not found`]);
    const next = await done(add(id, { stage: 'published', label: 'stable' }));
    expect(next.version).toBe(3);
    expect(text(await ada.delete(`/components/${id}/configs/1`))).toEqual([
      400,
      expect.stringMatching(new RegExp(`^Cannot delete published config ${id} v1\\.`)),
    ]);
  });

  test('is refused with the texts of the contract', async () => {
    const id = await created({ label: 'stable' });
    const taken = [400, `Label 'stable' already exists for ${id}`];
    expect(text(await add(id, { label: 'stable' }))).toEqual(taken);
    await done(add(id));
    expect(text(await save(id, 2, { label: 'stable' }))).toEqual(taken);
    expect(text(await add(id, { stage: 'zzz' }))).toEqual([400, 'Invalid stage: zzz']);
    expect(text(await save(id, 2, { stage: 'zzz' }))).toEqual([400, 'Invalid stage: zzz']);
    expect(text(await add('nope'))).toEqual([400, 'Component nope not found']);
    expect(text(await save('nope', 1, {}))).toEqual([400, 'Component nope not found']);
    expect(text(await save(id, 77, {}))).toEqual([400, `Config ${id} v77 not found`]);
    expect(text(await ada.get(`/components/${id}/configs/77`))).toEqual([404, `Config ${id} v77 not found`]);
    expect(text(await ada.get('/components/nope/configs'))).toEqual([404, 'Component nope not found']);
    expect(text(await ada.get('/components/nope/configs/current'))).toEqual([
      404,
      'No current config for nope',
    ]);
    expect((await ada.get(`/components/${id}/configs/x`)).status).toBe(422);
    expect(faults(await ada.send('POST', `/components/${id}/configs`, {}))).toEqual([
      422,
      [['missing', 'body.config', 'Field required']],
    ]);
  });

  test('gets its label when two give it at once, and one of them is refused', async () => {
    const id = await created();
    const answers = await Promise.all([add(id, { label: 'one' }), add(id, { label: 'one' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  });
});

describe('links', () => {
  test('pin the members of a new team, and protect what others use', async () => {
    const child = await created({ stage: 'published' });
    const team = await created(crew(child, { stage: 'published' }));
    await done(add(child, { stage: 'published' }));
    expect(await read(`${child}/dependents`)).toMatchObject({
      meta: { total_count: 1 },
      data: [
        {
          ...{ component_id: team, component_type: 'team', version: 1, stage: 'published', is_current: true },
          ...{ link_kind: 'member', link_key: 'member_0', child_version: 1 },
        },
      ],
    });
    const used = await ada.delete(`/components/${child}`);
    expect(text(used)).toEqual([409, expect.stringMatching(`^Component ${child} is used by ${team}\\.`)]);
    await done(
      ada.send('POST', `/components/${team}/configs`, {
        config: { model: 'offline', members: [{ type: 'agent', agent_id: 'plain' }] },
        stage: 'published',
      }),
    );
    expect((await ada.delete(`/components/${child}`)).status).toBe(204);
  });

  test('to members that nobody has are refused', async () => {
    expect(text(await create({ ...crew('ghost'), name: 'T1' }))).toEqual([
      400,
      expect.stringMatching(
        /^Cannot create team 'T1': the following members could not be resolved: ghost\. /,
      ),
    ]);
    expect((await create(crew('plain'))).status).toBe(201);
    const unresolved = [400, expect.stringContaining('could not be resolved')];
    const child = await created({ stage: 'published' });
    await ada.delete(`/components/${child}`);
    expect(text(await create(crew(child)))).toEqual(unresolved);
    const crewed = await created(crew('plain', { stage: 'published' }));
    // a team where an agent is named
    expect(text(await create(crew(crewed)))).toEqual(unresolved);
  });

  test('of a caller name a version that is there, and drafts only in drafts', async () => {
    const child = await created();
    const parent = await created();
    const link = (over: Body = {}) => ({
      links: [{ link_kind: 'member', link_key: 'member_0', child_component_id: child, ...over }],
    });
    expect(text(await add(parent, link()))).toEqual([400, `child_version is required for link to ${child}`]);
    expect(text(await add(parent, link({ child_version: 5 })))).toEqual([
      400,
      `Config ${child} v5 not found`,
    ]);
    expect(faults(await add(parent, { links: [{ link_kind: 'member' }] }))).toEqual([
      422,
      [
        ['missing', 'body.links.0.link_key', 'Field required'],
        ['missing', 'body.links.0.child_component_id', 'Field required'],
      ],
    ]);
    const pinned = link({ child_version: 1 });
    expect(faults(await add(parent, { links: [...pinned.links, ...pinned.links] }))[0]).toBe(422);
    expect((await add(parent, { ...pinned, stage: 'published' })).status).toBe(400);
    const { version } = await done(add(parent, pinned));
    expect((await read(`${parent}/configs/${version}/links`)).links).toEqual([
      { ...pinned.links[0], position: 0 },
    ]);
    expect(text(await ada.delete(`/components/${child}/configs/1`))).toEqual([
      409,
      `Config ${child} v1 is pinned by ${parent} v${version}. Change their links first.`,
    ]);
    expect((await save(parent, version, { stage: 'published' })).status).toBe(400);
    await done(save(parent, version, { links: [] }));
    expect((await ada.delete(`/components/${child}/configs/1`)).status).toBe(204);
    const gone = [400, `Config ${child} v1 not found`];
    expect(text(await add(parent, pinned))).toEqual(gone);
  });
});

describe('two editors', () => {
  test('do not overwrite each other', async () => {
    const id = await created({ stage: 'published' });
    await done(add(id));
    const { revision } = await read(id);
    const path = `/components/${id}`;
    const rename = (name: string) => ada.send('PATCH', path, { name, expected_revision: revision });
    const answers = await Promise.all([rename('one'), rename('other')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const late = [409, expect.stringMatching(/another editor changed it/)];
    expect(text(await setCurrent(id, 1, `?expected_revision=${revision}`))).toEqual(late);
    expect(text(await add(id, { expected_revision: revision }))).toEqual(late);
    expect(text(await ada.delete(`${path}?expected_revision=${revision}`))).toEqual(late);
    await done(save(id, 2, { notes: 'mine', expected_revision: 1 }));
    expect(text(await save(id, 2, { notes: 'yours', expected_revision: 1 }))).toEqual(late);
    expect(text(await ada.delete(`${path}/configs/2?expected_revision=1`))).toEqual(late);
    expect((await read(`${id}/configs/2`)).notes).toBe('mine');
    expect((await ada.delete(`${path}/configs/2?expected_revision=2`)).status).toBe(204);
  });

  test('see who changed what', async () => {
    const id = await created();
    await done(save(id, 1, { config: config('Greet warmly.'), label: 'x' }, bob));
    await done(save(id, 1, { stage: 'published' }));
    await done(bob.send('PATCH', `/components/${id}`, { description: 'd'.repeat(300) }));
    const { data, meta } = await read(`${id}/history?limit=3`);
    expect(meta.total_count).toBe(4);
    expect(data).toEqual([
      {
        ...{ number: 4, action: 'changed', fields: [{ field: 'description' }] },
        ...{ changed_by: 'bob', changed_at: expect.any(Number) },
      },
      {
        ...{ number: 3, action: 'version_published', version: 1, revision: 3 },
        fields: [{ field: 'stage', before: 'draft', after: 'published' }],
        ...{ changed_by: 'ada', changed_at: expect.any(Number) },
      },
      {
        ...{ number: 2, action: 'version_saved', version: 1, revision: 2 },
        fields: [
          { field: 'label', after: 'x' },
          { field: 'config.instructions', before: 'Greet.', after: 'Greet warmly.' },
        ],
        ...{ changed_by: 'bob', changed_at: expect.any(Number) },
      },
    ]);
    expect((await read(`${id}/history?page=2&limit=3`)).data).toMatchObject([{ action: 'created' }]);
  });

  test('compare versions and saves field by field', async () => {
    const child = await created({ stage: 'published' });
    const id = await created({ config: config('Greet.\nBe kind.\nBe brief.') });
    await done(save(id, 1, { config: { ...config('Greet.\nBe kind.\nBe long.'), markdown: true } }));
    const link = { link_kind: 'member', link_key: 'member_0', child_component_id: child, child_version: 1 };
    await done(add(id, { config: { instructions: 'Hi' }, links: [link] }));
    expect(await read(`${id}/diff?from=1&to=1&from_revision=1`)).toEqual({
      component_id: id,
      from: { version: 1, revision: 1, stage: 'draft' },
      to: { version: 1, revision: 2, stage: 'draft' },
      changes: [
        {
          ...{ path: 'instructions', kind: 'changed' },
          ...{ before: 'Greet.\nBe kind.\nBe brief.', after: 'Greet.\nBe kind.\nBe long.' },
          lines: ['  Greet.', '  Be kind.', '- Be brief.', '+ Be long.'],
        },
        { path: 'markdown', kind: 'added', after: true },
      ],
      truncated: false,
    });
    const { changes } = await read(`${id}/diff?from=1&to=2`);
    expect(changes.map(({ path, kind }: Body) => [path, kind])).toEqual([
      ['model', 'removed'],
      ['instructions', 'changed'],
      ['markdown', 'removed'],
      ['links["member:member_0"]', 'added'],
    ]);
    expect(text(await ada.get(`/components/${id}/diff?from=1&to=9`))).toEqual([
      404,
      `Config ${id} v9 not found`,
    ]);
    expect((await ada.get(`/components/${id}/diff?from=1&to=1&to_revision=9`)).status).toBe(404);
    expect((await ada.get(`/components/${id}/diff?from=1`)).status).toBe(422);
  });
});

test('callers see and run the stored agents that their scopes name, and no session of others', async () => {
  const [mine, other] = [await created(), await created()];
  const run = (holder: Holder, id: string) => holder.run(id, { message: 'hi', session_id: 'of-amy' });
  const amy = await house.person('amy', ['agents:run']);
  expect((await run(amy, 'plain')).status).toBe(200);
  const joe = await house.person('joe', [`agents:${mine}:read`, `agents:${mine}:run`]);
  expect((await joe.get('/agents')).body.map(({ id }: Body) => id)).toEqual([mine]);
  expect([(await joe.get(`/agents/${other}`)).status, (await run(joe, other)).status]).toEqual([403, 403]);
  // as for an agent of the code, though it is a draft
  const zoe = await house.person('zoe', ['agents:run']);
  expect(text(await run(joe, mine))).toEqual(text(await run(zoe, 'plain')));
});

test('callers need the scope of what they do', async () => {
  const id = await created();
  const reader = await house.person('eve', ['components:read', 'components:x:write', 'agents:run']);
  expect((await reader.get(`/components/${id}/history`)).status).toBe(200);
  expect((await create({}, reader)).status).toBe(403);
  expect((await reader.delete(`/components/${id}`)).status).toBe(403);
  expect((await reader.send('POST', `/components/${id}/restore`)).status).toBe(403);
  const account = await house.account('deployer', 'components:write');
  const body = await done(account.send('PATCH', `/components/${id}`, { name: 'By a program' }));
  expect(body.updated_by).toBe('sa:deployer');
});
