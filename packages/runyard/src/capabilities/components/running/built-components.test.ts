import { expect, test } from 'vitest';
import { Agent } from '../../../core/agents/agent.js';
import type { BuiltComponent, ComponentReference } from '../../../core/configs/component-config.js';
import type { JsonObject } from '../../../core/json.js';
import type { ConfigVersion, Run, RunKind } from '../../../core/runs/run.js';
import { Team } from '../../../core/teams/team.js';
import { anonymousCaller } from '../../../platform/auth/caller.js';
import { Rights } from '../../../platform/auth/rights.js';
import { ComponentsService } from '../service.js';
import type { StoredComponents, StoredConfig } from '../stored-components.js';
import { BuiltComponents, type ConfigLanguage } from './built-components.js';
import { LastUsed } from './last-used.js';

/** Versions of components in memory: the last one that was published is current. */
class Shelf implements StoredComponents {
  readonly states: StoredConfig[] = [];
  reads = 0;

  put(kind: RunKind, id: string, { version = 1, revision = 1, ...given }: Partial<StoredConfig>): void {
    this.states.push({
      kind,
      id,
      version,
      revision,
      stage: 'published',
      config: {},
      digest: JSON.stringify(given.config ?? {}),
      pins: [],
      name: id,
      ...given,
    });
  }

  async find(kind: RunKind, id: string, version?: number): Promise<StoredConfig | undefined> {
    this.reads += 1;
    const all = this.states.filter((one) => one.kind === kind && one.id === id);
    return all.findLast((one) => one.version === (version ?? one.version));
  }

  async at(
    kind: RunKind,
    id: string,
    { version, revision }: ConfigVersion,
  ): Promise<StoredConfig | undefined> {
    this.reads += 1;
    return this.states.find(
      (one) => one.kind === kind && one.id === id && one.version === version && one.revision === revision,
    );
  }

  async ids(kind: RunKind): Promise<string[]> {
    return this.states.filter((one) => one.kind === kind).map(({ id }) => id);
  }

  async *pages(kind: RunKind) {
    yield this.states.filter((one) => one.kind === kind);
  }

  async keys(): Promise<string[]> {
    this.reads += 1;
    return this.states.map(({ kind, id }) => `${kind} ${id}`);
  }
}

/** `members` are ids of agents, or of teams when they begin with `t`. */
function referencesOf(_kind: RunKind, config: JsonObject): ComponentReference[] {
  const { members = [], linkKind = 'member' } = config as { members?: string[]; linkKind?: 'step_agent' };
  return members.map((id, at) => ({
    kind: id.startsWith('t') ? 'team' : 'agent',
    id,
    path: `members[${at}]`,
    linkKind,
    linkKey: `member_${at}`,
  }));
}

const language: ConfigLanguage = {
  references: referencesOf,
  build(kind, id, config, site) {
    const name = String(config.name ?? id);
    if (config.fault !== undefined) throw new Error(String(config.fault));
    if (kind === 'agent') return new Agent({ id, name, model: 'offline' });
    const members = referencesOf(kind, config).map((reference) => site.component(reference));
    // the test gives members that exist
    return new Team({ id, name, model: 'offline', members: members as Agent[] });
  },
  write: () => ({}),
  faultsOf: (error) =>
    error instanceof Error ? [{ path: error.message, message: 'is unknown' }] : undefined,
};

function site(code: readonly BuiltComponent[] = []) {
  const shelf = new Shelf();
  let now = 0;
  const built = new BuiltComponents({
    stored: shelf,
    code: (kind, id) => code.find((one) => one.kind === kind && one.id === id),
    databases: ['own', 'other'],
    language: async () => language,
    now: () => now,
    attach: () => {},
  });
  return { shelf, built, later: (ms: number) => (now += ms) };
}

/** The names of members, those of teams in lists. */
const membersOf = (component: object | undefined): unknown[] =>
  component instanceof Team
    ? component.members.map((one) => (one.kind === 'team' ? membersOf(one) : one.name))
    : [];

test('what was built is used again until another state is current, and no longer', async () => {
  const { shelf, built } = site();
  shelf.put('agent', 'a', { config: { name: 'One' } });
  const one = await built.find('agent', 'a');
  expect(await built.find('agent', 'a')).toBe(one);
  expect(one).toMatchObject({ name: 'One', configs: { 'agent a': { version: 1, revision: 1 } } });
  shelf.put('agent', 'a', { version: 2, config: { name: 'Two' } });
  expect((await built.find('agent', 'a'))?.name).toBe('Two');
  expect(await built.find('agent', 'a', 1)).toBe(one);
  expect(await built.find('agent', 'a', 3)).toBeUndefined();
  expect(await built.find('team', 'a')).toBeUndefined();
});

test('a component that has the id and the numbers of one that a downgrade deleted is built anew', async () => {
  const { shelf, built } = site();
  shelf.put('agent', 'a', { config: { name: 'Old' } });
  expect((await built.find('agent', 'a'))?.name).toBe('Old');
  shelf.states.pop();
  shelf.put('agent', 'a', { config: { name: 'New' } });
  expect((await built.find('agent', 'a'))?.name).toBe('New');
});

test('a draft that is published is no preview, though its revision is the same', async () => {
  const { shelf, built } = site();
  shelf.put('agent', 'a', { stage: 'draft' });
  expect((await built.find('agent', 'a'))?.sessionMetadata).toEqual({ preview: { version: 1 } });
  shelf.states[0] = { ...shelf.states[0]!, stage: 'published' };
  expect((await built.find('agent', 'a'))?.sessionMetadata).toBeUndefined();
});

test('a member is the pinned version, or the current one, or that of the code; a step is that of the code first', async () => {
  const { shelf, built } = site([new Agent({ id: 'a', name: 'Code', model: 'offline' })]);
  const pins = [
    { linkKind: 'member', linkKey: 'member_0', id: 'a', version: 1 },
    // of another component: it pins nothing here
    { linkKind: 'member', linkKey: 'member_1', id: 'a', version: 1 },
  ];
  shelf.put('team', 't', { config: { members: ['a', 'tm'] }, pins });
  shelf.put('team', 'tm', { config: { members: ['a'] } });
  shelf.put('team', 'ts', { config: { members: ['a'], linkKind: 'step_agent' } });
  shelf.put('agent', 'a', { config: { name: 'One' } });
  shelf.put('agent', 'a', { version: 2, config: { name: 'Two' } });
  const team = await built.find('team', 't');
  expect(membersOf(team)).toEqual(['One', ['Two']]);
  expect(team?.configs).toEqual({
    'team t': { version: 1, revision: 1 },
    'team tm': { version: 1, revision: 1 },
    'agent a v1': { version: 1, revision: 1 },
    'agent a': { version: 2, revision: 1 },
  });
  expect(membersOf(await built.find('team', 'ts'))).toEqual(['Code']);
  shelf.states.splice(3);
  await expect(built.find('team', 't')).rejects.toThrow(
    "Version 1 of the team 't' cannot be built: members[0] names version 1 of the agent 'a', which is pinned and does not exist.",
  );
});

test('a run keeps the states that it began with, and without them there is a clear error', async () => {
  const { shelf, built } = site();
  shelf.put('team', 't', { config: { members: ['a'] } });
  shelf.put('agent', 'a', { config: { name: 'One' } });
  const states = (await built.find('team', 't'))?.configs ?? {};
  shelf.put('agent', 'a', { version: 2, config: { name: 'Two' } });
  expect(membersOf(await built.find('team', 't'))).toEqual(['Two']);
  expect(membersOf(await built.at('team', 't', states))).toEqual(['One']);
  const { reads } = shelf;
  await built.at('team', 't', states);
  expect(shelf.reads).toBe(reads);
  const gone = { ...states, 'agent a': { version: 1, revision: 7 } };
  await expect(built.at('team', 't', gone)).rejects.toThrow(
    "The run began with revision 7 of version 1 of the agent 'a', which no longer exists.",
  );
});

test('what contains itself or is too deep is refused with the way to it', async () => {
  const { shelf, built } = site();
  shelf.put('team', 't1', { config: { members: ['t2'] } });
  shelf.put('team', 't2', { config: { members: ['t1'] } });
  await expect(built.find('team', 't1')).rejects.toThrow(
    'members[0] → members[0] leads back to itself: team t1 → team t2 → team t1.',
  );
  for (let at = 0; at < 17; at += 1) shelf.put('team', `td${at}`, { config: { members: [`td${at + 1}`] } });
  shelf.put('team', 'td17', {});
  await expect(built.find('team', 'td0')).rejects.toThrow(
    /is below more than 16 levels: team td0 → .* → team td16\./,
  );
  shelf.put('team', 'tw', { config: { members: Array.from({ length: 1001 }, () => 'a') } });
  await expect(built.find('team', 'tw')).rejects.toThrow(
    "Version 1 of the team 'tw' cannot be built: the config has more than 1000 components in it.",
  );
});

test('without its model, or with a step of an unknown type, there is no such component, and lists say why', async () => {
  const { shelf, built } = site();
  shelf.put('workflow', 'w', { config: { fault: 'steps[0].else_steps[1].type' } });
  await expect(built.find('workflow', 'w')).rejects.toMatchObject({
    status: 404,
    message: 'Workflow not found',
    options: { fields: { hint: expect.stringContaining('steps[0].else_steps[1].type is unknown') } },
  });
  shelf.put('workflow', 'w', { version: 2, config: { fault: 'steps[0].agent_id' } });
  await expect(built.find('workflow', 'w')).rejects.toMatchObject({ status: 422 });
  shelf.put('agent', 'a', { config: { fault: 'model' } });
  shelf.put('agent', 'b', { config: { fault: 'tools[0]' } });
  await expect(built.find('agent', 'a')).rejects.toMatchObject({ status: 404, message: 'Agent not found' });
  await expect(built.find('agent', 'b')).rejects.toMatchObject({
    status: 422,
    message: "Version 1 of the agent 'b' cannot be built: tools[0] is unknown",
  });
  const reasons: (string | undefined)[] = [];
  for await (const { degraded } of built.list('agent', () => true)) reasons.push(degraded);
  expect(reasons).toEqual([
    "Version 1 of the agent 'a' cannot be built: model is unknown",
    "Version 1 of the agent 'b' cannot be built: tools[0] is unknown",
  ]);
});

test('engines read the keys of all components once in two seconds', async () => {
  const { shelf, built, later } = site();
  shelf.put('agent', 'a', {});
  expect([await built.keys(), await built.keys(), shelf.reads]).toEqual([['agent a'], ['agent a'], 1]);
  later(2_001);
  await built.keys();
  expect(shelf.reads).toBe(2);
});

test('lists name nothing that the caller may not read', async () => {
  const { shelf, built } = site();
  const components = new ComponentsService({});
  components.connect(built);
  for (const id of ['a', 'b']) shelf.put('workflow', id, { config: { fault: 'steps' } });
  const rights = new Rights(['workflows:b:read'], { adminScope: 'admin', enforced: true });
  const listed: string[] = [];
  for await (const { stored } of components.listStored('workflow', { ...anonymousCaller, rights }))
    listed.push(stored.id);
  expect(listed).toEqual(['b']);
});

test('a component of the code is found without reading, and a run keeps to what it began as', async () => {
  const coded = new Agent({ id: 'a', name: 'Code', model: 'offline' });
  const { shelf, built } = site();
  const components = new ComponentsService({ agents: [coded] });
  components.connect(built);
  shelf.put('agent', 'a', { config: { name: 'Stored' } });
  // what is looked at of a run
  const runOf = (options: object) => ({ kind: 'agent', componentId: 'a', input: { options } }) as Run;
  const began = (revision: number) => runOf({ configs: { 'agent a': { version: 1, revision } } });
  const executed = (run: Run) => components.executableOf(run, async () => ({}));
  expect(await components.resolve('agent', 'a', { version: 7 })).toBe(coded);
  expect(await executed(runOf({}))).toBe(coded);
  expect(shelf.reads).toBe(0);
  for await (const { stored } of components.listStored('agent', anonymousCaller))
    expect(stored).toBe(undefined);
  expect((await executed(began(1)))?.name).toBe('Stored');
  const gone = await executed(began(2));
  await expect(gone?.execute(undefined as never)).rejects.toMatchObject({ failure: { type: 'config_gone' } });
});

test('a failed read of the keys is not kept', async () => {
  const { shelf, built } = site();
  shelf.put('agent', 'a', {});
  const { keys } = shelf;
  shelf.keys = () => Promise.reject(new Error('away'));
  await expect(built.keys()).rejects.toThrow('away');
  shelf.keys = keys;
  expect(await built.keys()).toEqual(['agent a']);
});

test('two saves of a draft refer to what each of them names', async () => {
  const { shelf, built } = site();
  for (const id of ['a', 'b']) shelf.put('agent', id, {});
  shelf.put('team', 't', { stage: 'draft', config: { members: ['a'] } });
  expect(membersOf(await built.find('team', 't'))).toEqual(['a']);
  shelf.put('team', 't', { stage: 'draft', revision: 2, config: { members: ['a', 'b'] } });
  expect(membersOf(await built.find('team', 't'))).toEqual(['a', 'b']);
});

test('a list displaces nothing that was built, and the longest unused is displaced first', async () => {
  const { shelf, built } = site();
  shelf.put('agent', 'a', {});
  const listed = async () => {
    const all: unknown[] = [];
    for await (const { component } of built.list('agent', () => true)) all.push(component);
    return all[0];
  };
  expect(await listed()).not.toBe(await listed());
  expect(await built.find('agent', 'a')).toBe(await listed());
  const two = new LastUsed<number>(2);
  for (const [at, key] of ['a', 'b'].entries()) two.set(key, at);
  two.get('a');
  two.set('c', 2);
  expect(['a', 'b', 'c'].map((key) => two.get(key))).toEqual([0, undefined, 2]);
});
