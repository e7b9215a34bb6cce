import type { ComponentConfig } from '../../../core/configs/component-config.js';
import { errors } from '../../../core/errors/errors.js';
import type { Json } from '../../../core/json.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { assertMayPrioritize } from '../../../platform/auth/rights.js';
import type { ComponentChange } from './component-change-store.js';
import { assertNoSecrets, type ConfigLanguage, checkedConfig, linkRows } from './config-check.js';
import type { ChangedField, Editing, Link, Stage, VersionWithContent } from './stored-component.js';

/** Numbers are never used twice, so this bounds how often a component can be published. */
const mostVersions = 10_000;

/** A version to add. */
export interface NewVersion {
  readonly config: ComponentConfig;
  readonly version?: number | undefined;
  readonly label: string | null;
  readonly stage: string;
  readonly notes: string | null;
  readonly links: readonly Link[];
  /** Whether a published version becomes the current one. A draft never does. */
  readonly setsCurrent: boolean;
}

/** Who changes something now. Lists are sorted by the seconds that they show. */
export async function editingBy(by: string | null, now: () => Promise<number>): Promise<Editing> {
  return { by, at: Math.floor((await now()) / 1000) * 1000 };
}

export function stageOf(given: string): Stage {
  if (given !== 'draft' && given !== 'published') throw errors.invalidStage(given);
  return given;
}

/** Refuses a change of something that another editor has changed. */
export function assertRevision(what: string, expected: number | undefined, revision: number): void {
  if (expected !== undefined && expected !== revision) throw errors.staleRevision(what, expected, revision);
}

/** Adds a version under its number, or the next one. */
export async function addVersion(
  change: ComponentChange,
  language: ConfigLanguage,
  given: NewVersion,
): Promise<VersionWithContent> {
  const { id, kind, lastVersion } = change.component;
  const { label, notes, links } = given;
  const stage = stageOf(given.stage);
  const version = given.version ?? lastVersion + 1;
  if (version <= lastVersion) throw errors.versionUsed(id, version, lastVersion + 1);
  if ((await change.countVersions()) >= mostVersions) throw errors.tooManyVersions(id, mostVersions);
  const config = checkedConfig(language, kind, given.config);
  assertNoSecrets(language, { label, notes, links: textsOf(links) });
  if (label !== null) await assertFreeLabel(change, label, version);
  await assertLinks(change, links, stage);
  const refersTo = linkRows(language, kind, config, links);
  const added = await change.addVersion(version, { label, stage, notes }, { config, links }, refersTo);
  if (stage === 'published' && given.setsCurrent) change.set({ currentVersion: version });
  return { ...added, config, links };
}

/** What a save of a version changes. Undefined: as it is. */
export interface VersionUpdate {
  readonly config?: ComponentConfig | undefined;
  readonly label?: string | null | undefined;
  readonly stage?: string | undefined;
  readonly notes?: string | null | undefined;
  readonly links?: readonly Link[] | undefined;
  readonly expectedRevision?: number | undefined;
}

/** Saves a draft, and publishes it if that is asked for: then it is the current version. */
export async function saveVersion(
  change: ComponentChange,
  language: ConfigLanguage,
  before: VersionWithContent,
  given: VersionUpdate,
): Promise<VersionWithContent> {
  const { id, kind } = change.component;
  const { version } = before;
  const stage = given.stage === undefined ? before.stage : stageOf(given.stage);
  if (before.stage === 'published') throw errors.configPublished(id, version);
  const after = {
    config: checkedConfig(language, kind, given.config ?? before.config),
    label: given.label === undefined ? before.label : given.label,
    notes: given.notes === undefined ? before.notes : given.notes,
    links: given.links ?? before.links,
    stage,
  };
  const { label, notes, links } = after;
  assertNoSecrets(language, { label, notes, links: textsOf(links) });
  if (after.label !== null) await assertFreeLabel(change, after.label, version);
  await assertLinks(change, after.links, stage);
  const refersTo = linkRows(language, kind, after.config, after.links);
  const saved = await change.saveVersion(before, after, after, refersTo);
  if (stage === 'published') change.set({ currentVersion: version });
  change.note({
    action: stage === 'published' ? 'version_published' : 'version_saved',
    version,
    revision: saved.revision,
    fields: changedFields(before, after),
  });
  return { ...saved, config: after.config, links: after.links };
}

/** Whether a version can be the current one; else with which error it is refused. */
export async function assertMayBeCurrent(
  change: ComponentChange,
  version: number,
  missing: (id: string, version: number) => Error,
): Promise<void> {
  const { id } = change.component;
  const found = await change.version(version);
  if (found === undefined) throw missing(id, version);
  if (found.stage === 'draft') throw errors.draftNotCurrent(id, version);
}

/** Refuses a change after which an urgent version runs, as storing one is refused. */
export async function assertMayRun(caller: Caller, change: ComponentChange): Promise<void> {
  assertMayPrioritize(caller, (await change.running())?.config.priority);
}

/** What callers write into links, by its place in the request. */
function textsOf(links: readonly Link[]): Json {
  return links.map(({ linkKind, linkKey, meta }) => ({ link_kind: linkKind, link_key: linkKey, meta }));
}

/** The unique index decides as well; this names the fault. */
async function assertFreeLabel(change: ComponentChange, label: string, version: number): Promise<void> {
  if (await change.isLabelTaken(label, version)) throw errors.labelTaken(label, change.component.id);
}

/** Links name versions that are there; what is published pins what is published. */
async function assertLinks(change: ComponentChange, links: readonly Link[], stage: Stage): Promise<void> {
  const children = new Map(links.map((link) => [`${link.childId}\n${link.childVersion}`, link]));
  for (const { childId, childVersion } of children.values()) {
    const child = await change.stageOf(childId, childVersion);
    if (child === undefined) throw errors.writtenConfigNotFound(childId, childVersion);
    if (child === 'draft' && stage === 'published') throw errors.linkToDraft(childId, childVersion);
  }
}

/** The longest value that the history shows, as JSON. */
const longestShown = 200;

type Saved = Pick<VersionWithContent, 'config' | 'label' | 'notes' | 'stage' | 'links'>;

function changedFields(before: Saved, after: Saved): ChangedField[] {
  const plain = (['label', 'stage', 'notes'] as const).flatMap((field) =>
    changedField(field, before[field], after[field]),
  );
  const keys = new Set([...Object.keys(before.config), ...Object.keys(after.config)]);
  const config = [...keys].flatMap((key) =>
    changedField(`config.${key}`, own(before.config, key), own(after.config, key)),
  );
  const areLinksSame = JSON.stringify(before.links) === JSON.stringify(after.links);
  return [...plain, ...config, ...(areLinksSame ? [] : [{ field: 'links' }])];
}

/** A field with its values, if it changed: long values are left out. */
export function changedField(
  field: string,
  before: Json | undefined,
  after: Json | undefined,
): ChangedField[] {
  const [one, other] = [JSON.stringify(before) ?? '', JSON.stringify(after) ?? ''];
  if (one === other) return [];
  return [
    {
      field,
      ...(before !== undefined && before !== null && one.length <= longestShown && { before }),
      ...(after !== undefined && after !== null && other.length <= longestShown && { after }),
    },
  ];
}

function own(config: ComponentConfig, key: string): Json | undefined {
  return Object.hasOwn(config, key) ? config[key] : undefined;
}

/** `a, b and others`. */
export function inWords(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(', ')} and others` : names.join(', ');
}
