import { errors } from '../../../core/errors/errors.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { assertMayPrioritize } from '../../../platform/auth/rights.js';
import { offsetOf, type PageRequest } from '../../../platform/http/request/pagination.js';
import type { ComponentChange } from './component-change-store.js';
import { type ConfigDiff, compared } from './config-diff.js';
import type { StoredComponentsOptions, StoredComponentsService } from './service.js';
import type { StoredComponent, StoredVersion, VersionWithContent } from './stored-component.js';
import {
  addVersion,
  assertMayBeCurrent,
  assertMayRun,
  assertRevision,
  changedField,
  editingBy,
  inWords,
  type NewVersion,
  saveVersion,
  type VersionUpdate,
} from './version-rules.js';

/** How many versions an error names. */
const namedPins = 10;

/** A version to compare: its newest revision, or the one that is given. */
export interface ComparedVersion {
  readonly version: number;
  readonly revision?: number | undefined;
}

export interface Comparison extends ConfigDiff {
  readonly from: VersionWithContent;
  readonly to: VersionWithContent;
}

/** The versions of stored components. */
export class ComponentVersionsService {
  constructor(
    private readonly options: Pick<StoredComponentsOptions, 'store' | 'changes' | 'language' | 'now'>,
    private readonly components: StoredComponentsService,
  ) {}

  /** Newest first, with what they hold, read as they are taken. The component is found before that. */
  async list(id: string, page: PageRequest): Promise<AsyncIterable<VersionWithContent>> {
    await this.components.get(id);
    return this.options.store.versions(id, { limit: page.limit, offset: offsetOf(page) });
  }

  /** The same without what they hold. */
  async bareList(id: string, page: PageRequest): Promise<StoredVersion[]> {
    await this.components.get(id);
    return this.options.store.bareVersions(id, { limit: page.limit, offset: offsetOf(page) });
  }

  async get(id: string, version: number): Promise<VersionWithContent> {
    const component = await this.options.store.find(id);
    const found = component?.deletedAt === null ? await this.options.store.version(id, version) : undefined;
    if (found === undefined) throw errors.configNotFound(id, version);
    return found;
  }

  /** What runs when no version is named: the current version, or else the newest draft. */
  async current(id: string): Promise<VersionWithContent> {
    const { store } = this.options;
    const component = await store.find(id);
    if (component === undefined || component.deletedAt !== null) throw errors.noCurrentConfig(id);
    const version = component.currentVersion ?? (await store.newestDraft(id));
    const found = version === undefined ? undefined : await store.version(id, version);
    if (found === undefined) throw errors.noCurrentConfig(id);
    return found;
  }

  async create(
    caller: Caller,
    id: string,
    { expectedRevision, ...given }: NewVersion & { readonly expectedRevision?: number | undefined },
  ): Promise<VersionWithContent> {
    assertMayPrioritize(caller, given.config.priority);
    const language = await this.options.language();
    const missing = () => errors.versionsOfUnknown(id);
    const { result } = await this.#change(caller, id, missing, async (change) => {
      assertRevision(`Component ${id}`, expectedRevision, change.component.revision);
      const added = await addVersion(change, language, given);
      const action = added.stage === 'published' ? 'version_published' : 'version_created';
      change.note({ action, version: added.version, revision: added.revision });
      return added;
    });
    return result;
  }

  async update(
    caller: Caller,
    id: string,
    version: number,
    update: VersionUpdate,
  ): Promise<VersionWithContent> {
    assertMayPrioritize(caller, update.config?.priority);
    const language = await this.options.language();
    const missing = () => errors.versionsOfUnknown(id);
    const { result } = await this.#change(caller, id, missing, async (change) => {
      const before = await change.version(version);
      if (before === undefined) throw errors.writtenConfigNotFound(id, version);
      assertRevision(`Config ${id} v${version}`, update.expectedRevision, before.revision);
      const saved = await saveVersion(change, language, before, update);
      if (saved.stage === 'published') await assertMayRun(caller, change);
      return saved;
    });
    return result;
  }

  /** Deletes a draft that no other component pins. */
  async remove(
    caller: Caller,
    id: string,
    version: number,
    expectedRevision: number | undefined,
  ): Promise<void> {
    const missing = () => errors.configNotFound(id, version);
    await this.#change(caller, id, missing, async (change) => {
      const found = await change.version(version);
      if (found === undefined) throw missing();
      assertRevision(`Config ${id} v${version}`, expectedRevision, found.revision);
      if (change.component.currentVersion === version) throw errors.currentConfigKept(id, version);
      if (found.stage === 'published') throw errors.publishedConfigKept(id, version);
      const pins = await change.pinnedBy(version, namedPins + 1);
      const names = pins.map((one) => `${one.id} v${one.version}`);
      if (pins.length > 0) throw errors.configPinned(id, version, inWords(names, namedPins));
      await change.deleteVersion(version);
      // an earlier draft may be what runs now
      await assertMayRun(caller, change);
      change.note({ action: 'version_deleted', version, revision: found.revision });
    });
  }

  /** Makes a published version the current one: an earlier one, to roll back, or a later one. */
  async setCurrent(
    caller: Caller,
    id: string,
    version: number,
    expectedRevision: number | undefined,
  ): Promise<StoredComponent> {
    const missing = () => errors.currentConfigNotFound(id, version);
    const { component } = await this.#change(caller, id, missing, async (change) => {
      const { revision, currentVersion } = change.component;
      assertRevision(`Component ${id}`, expectedRevision, revision);
      await assertMayBeCurrent(change, version, missing);
      change.set({ currentVersion: version });
      await assertMayRun(caller, change);
      const fields = changedField('current_version', currentVersion, version);
      change.note({ action: 'current_set', version, fields });
    });
    return component;
  }

  /** What differs between two versions, or two saves of one. */
  async compare(id: string, from: ComparedVersion, to: ComparedVersion): Promise<Comparison> {
    await this.components.get(id);
    const [before, after] = [await this.#state(id, from), await this.#state(id, to)];
    return { from: before, to: after, ...compared(before, after) };
  }

  async #state(id: string, { version, revision }: ComparedVersion): Promise<VersionWithContent> {
    const newest = await this.get(id, version);
    if (revision === undefined || revision === newest.revision) return newest;
    const content = await this.options.store.revision(id, version, revision);
    if (content === undefined) throw errors.revisionGone(id, version, revision);
    return { ...newest, revision, ...content };
  }

  async #change<Result>(
    { userId }: Caller,
    id: string,
    missing: () => Error,
    work: (change: ComponentChange) => Promise<Result>,
  ) {
    const { changes, now } = this.options;
    return changes.change(id, await editingBy(userId, now), missing, (change) => {
      if (change.component.deletedAt !== null) throw missing();
      return work(change);
    });
  }
}
