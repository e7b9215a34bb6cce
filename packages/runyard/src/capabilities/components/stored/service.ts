import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { RunKind } from '../../../core/runs/run.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { assertMayPrioritize } from '../../../platform/auth/rights.js';
import { type ListPage, offsetOf, type PageRequest } from '../../../platform/http/request/pagination.js';
import type { ComponentChangeStore } from './change-store.js';
import type { ComponentChange } from './component-change-store.js';
import { checkedId, idFromName } from './component-ids.js';
import { assertNoSecrets, type ConfigLanguage, checkedConfig } from './config-check.js';
import type { ComponentStore } from './store.js';
import type { Change, Dependent, Editing, Link, StoredComponent } from './stored-component.js';
import {
  addVersion,
  assertMayBeCurrent,
  assertMayRun,
  assertRevision,
  changedField,
  editingBy,
  inWords,
  type NewVersion,
  stageOf,
} from './version-rules.js';

export interface StoredComponentsOptions {
  readonly store: ComponentStore;
  readonly changes: ComponentChangeStore;
  /** The ids of the components in the code. */
  readonly code: Readonly<Record<RunKind, readonly string[]>>;
  /** Whether the code uses such a component within another one. */
  readonly isMember: (kind: RunKind, id: string) => boolean;
  /** Why a version, or else what is current, cannot run; undefined when it can. */
  readonly degraded: (kind: RunKind, id: string, version?: number) => Promise<string | undefined>;
  readonly language: () => Promise<ConfigLanguage>;
  /** The time by which all processes go. */
  readonly now: () => Promise<number>;
}

const kinds = ['agent', 'team', 'workflow'] as const;

/** How many dependents an error names. */
const namedDependents = 10;

/** A component to create, with its first version. */
export interface GivenComponent extends Omit<NewVersion, 'links' | 'version'> {
  readonly kind: RunKind;
  readonly id: string | undefined;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: JsonObject | null;
}

/** Undefined: as it is. */
export interface ComponentUpdate {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly metadata?: JsonObject | null | undefined;
  readonly type?: string | undefined;
  readonly currentVersion?: number | undefined;
  readonly expectedRevision?: number | undefined;
}

export interface ComponentList extends PageRequest {
  readonly kind?: RunKind | undefined;
  readonly includeDeleted: boolean;
}

/** Agents, teams and workflows that are stored as data. All callers with the scope share them. */
export class StoredComponentsService {
  constructor(private readonly options: StoredComponentsOptions) {}

  /** Newest first. A component of the code hides a stored one with its id, which never runs. */
  list({ kind, includeDeleted, ...page }: ComponentList): Promise<ListPage<StoredComponent>> {
    const filter = { kind, includeDeleted, hidden: this.options.code };
    return this.options.store.list(filter, { limit: page.limit, offset: offsetOf(page) });
  }

  async get(id: string, includeDeleted = false): Promise<StoredComponent> {
    const component = await this.options.store.find(id);
    if (component === undefined || (component.deletedAt !== null && !includeDeleted))
      throw errors.storedComponentNotFound(id);
    return component;
  }

  /** Creates a component. One that was deleted is taken up again: its versions stay, and their numbers continue. */
  async create(caller: Caller, given: GivenComponent): Promise<StoredComponent> {
    const { kind, name, description, metadata } = given;
    assertMayPrioritize(caller, given.config.priority);
    stageOf(given.stage);
    const id = given.id ? checkedId(given.id) : idFromName(name);
    this.#assertNotOfCode(id);
    const language = await this.options.language();
    assertNoSecrets(language, { name, component_id: given.id, description, metadata });
    const fields = { name, description, metadata };
    const { component } = await this.options.changes.create(
      { id, kind, ...fields },
      await this.#editing(caller),
      async (change, isNew) => {
        if (!isNew) this.#takeUp(change, given, fields);
        const links = kind === 'team' ? await this.#memberLinks(change, language, given) : [];
        const { version } = await addVersion(change, language, { ...given, links });
        change.note({ action: isNew ? 'created' : 'restored', version, revision: 1 });
      },
    );
    return component;
  }

  async update(caller: Caller, id: string, update: ComponentUpdate): Promise<StoredComponent> {
    const kind = update.type === undefined ? undefined : kindOf(update.type);
    const { name, description, metadata, currentVersion } = update;
    assertNoSecrets(await this.options.language(), { name, description, metadata });
    const { component } = await this.#change(caller, id, async (change) => {
      const before = change.component;
      assertRevision(`Component ${id}`, update.expectedRevision, before.revision);
      if (kind !== undefined && kind !== before.kind) throw errors.componentTypeFixed(id, before.kind);
      if (currentVersion !== undefined && currentVersion !== before.currentVersion)
        await assertMayBeCurrent(change, currentVersion, errors.writtenConfigNotFound);
      const after = {
        name: name ?? before.name,
        description: description === undefined ? before.description : description,
        metadata: metadata === undefined ? before.metadata : metadata,
        currentVersion: currentVersion ?? before.currentVersion,
      };
      change.set(after);
      if (after.currentVersion !== before.currentVersion) await assertMayRun(caller, change);
      const fields = [
        ...changedField('name', before.name, after.name),
        ...changedField('description', before.description, after.description),
        ...changedField('metadata', before.metadata, after.metadata),
        ...changedField('current_version', before.currentVersion, after.currentVersion),
      ];
      change.note({ action: 'changed', fields });
    });
    return component;
  }

  /** Deletes a component that no other one uses. `restore` takes that back. */
  async remove(caller: Caller, id: string, expectedRevision: number | undefined): Promise<void> {
    const { changes } = this.options;
    const editing = await this.#editing(caller);
    const missing = () => errors.storedComponentNotFound(id);
    await changes.change(id, editing, missing, async (change) => {
      if (change.component.deletedAt !== null) return;
      assertRevision(`Component ${id}`, expectedRevision, change.component.revision);
      const users = await change.users(namedDependents + 1);
      if (users.length > 0) throw errors.componentInUse(id, inWords(users, namedDependents));
      change.set({ deletedAt: editing.at });
      change.note({ action: 'deleted' });
    });
  }

  /** Takes the deletion back. A component that is not deleted stays as it is. */
  async restore(caller: Caller, id: string, expectedRevision: number | undefined): Promise<StoredComponent> {
    this.#assertNotOfCode(id);
    const missing = () => errors.storedComponentNotFound(id);
    const { component } = await this.options.changes.change(
      id,
      await this.#editing(caller),
      missing,
      async (change) => {
        assertRevision(`Component ${id}`, expectedRevision, change.component.revision);
        if (change.component.deletedAt === null) return;
        change.set({ deletedAt: null });
        await assertMayRun(caller, change);
        change.note({ action: 'restored' });
      },
    );
    return component;
  }

  /** Why it cannot run in this version, or else the current one. One that is deleted does not run at all. */
  async degraded({ id, kind, deletedAt }: StoredComponent, version?: number): Promise<string | undefined> {
    return deletedAt === null ? this.options.degraded(kind, id, version) : undefined;
  }

  /** The versions of other components that refer to this one. */
  async dependents(id: string, page: PageRequest): Promise<ListPage<Dependent>> {
    await this.get(id);
    return this.options.store.dependents(id, { limit: page.limit, offset: offsetOf(page) });
  }

  /** Who changed what, newest first; of deleted components as well. */
  async history(id: string, page: PageRequest): Promise<ListPage<Change>> {
    await this.get(id, true);
    return this.options.store.history(id, { limit: page.limit, offset: offsetOf(page) });
  }

  #takeUp(
    change: ComponentChange,
    { kind }: GivenComponent,
    fields: Pick<StoredComponent, 'name' | 'description' | 'metadata'>,
  ): void {
    const { id, deletedAt, kind: before } = change.component;
    if (deletedAt === null) throw errors.componentExists(id);
    if (kind !== before) throw errors.componentTypeFixed(id, before);
    // what was current before could run in place of the new version
    change.set({ ...fields, currentVersion: null, deletedAt: null });
  }

  /** Pins the members that are stored components to their current versions. */
  async #memberLinks(
    change: ComponentChange,
    language: ConfigLanguage,
    { name, ...given }: GivenComponent,
  ): Promise<Link[]> {
    const config = checkedConfig(language, 'team', given.config);
    const members = language.references('team', config).filter(({ linkKind }) => linkKind === 'member');
    const unresolved: string[] = [];
    const links: Link[] = [];
    for (const { kind, id, linkKind, linkKey } of members) {
      const found = await change.other(id);
      const stored = found?.kind === kind ? found : undefined;
      const { code, isMember } = this.options;
      if (stored === undefined && !code[kind].includes(id) && !isMember(kind, id)) unresolved.push(id);
      const childVersion = stored?.currentVersion ?? null;
      if (childVersion !== null)
        links.push({ linkKind, linkKey, childId: id, childVersion, position: links.length, meta: null });
    }
    if (unresolved.length > 0) throw errors.membersUnresolved(name, unresolved);
    return links;
  }

  async #change<Result>(caller: Caller, id: string, work: (change: ComponentChange) => Promise<Result>) {
    const missing = () => errors.storedComponentNotFound(id);
    return this.options.changes.change(id, await this.#editing(caller), missing, (change) => {
      if (change.component.deletedAt !== null) throw missing();
      return work(change);
    });
  }

  #assertNotOfCode(id: string): void {
    const kind = kinds.find((one) => this.options.code[one].includes(id));
    if (kind !== undefined) throw errors.componentOfCode(id, kind);
  }

  #editing({ userId }: Caller): Promise<Editing> {
    return editingBy(userId, this.options.now);
  }
}

function kindOf(given: string): RunKind {
  const kind = kinds.find((one) => one === given);
  if (kind === undefined) throw errors.invalidComponentType(given);
  return kind;
}
