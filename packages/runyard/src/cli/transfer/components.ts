import { z } from 'zod';
import { checkConfig, storedConfig } from '../../core/configs/check-config.js';
import { componentReferences } from '../../core/configs/references.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { RunKind } from '../../core/runs/run.js';
import { withoutPrototype } from '../../platform/http/request/fields.js';
import { linksOf, type Pin, pin, pinner, pinsOf } from './pins.js';
import { planOf } from './plan.js';
import { fields, type TransferService } from './service.js';
import { isSame, type Planned, type TransferKind } from './thing.js';

const object = () => withoutPrototype(z.record(z.string(), z.custom<Json>()));

const version = z.strictObject({
  /** Whether it is the current one. A new component runs its newest draft if none is. */
  current: z.boolean().optional(),
  stage: z.enum(['draft', 'published']).default('published'),
  label: z.string().optional(),
  notes: z.string().optional(),
  config: object(),
  /** Versions of other components. Left out: their current ones. */
  links: z.array(pin).optional(),
});
type Version = z.output<typeof version>;

const mostVersions = 10_000;
/** Each may hold a megabyte. */
const versionsAtOnce = 20;

const schema = z
  .strictObject({
    component_id: z.string().min(1),
    component_type: z.enum(['agent', 'team', 'workflow']),
    name: z.string().optional(),
    description: z.string().optional(),
    metadata: object().optional(),
    /** The oldest first. */
    versions: z.array(version).min(1).max(mostVersions),
  })
  .check(({ value: { component_type: kind, versions }, issues }) => {
    const current = versions.filter((one) => one.current);
    if (current.length > 1 || current[0]?.stage === 'draft')
      issues.push({
        code: 'custom',
        input: null,
        path: ['versions'],
        message: 'at most one of them is current, and it is published',
      });
    for (const [index, { config }] of versions.entries()) {
      for (const { path, message } of checkConfig(kind, config))
        issues.push({
          code: 'custom',
          input: config,
          path: ['versions', index, 'config', path].filter((one) => one !== ''),
          message,
        });
    }
  });
type ComponentFile = z.output<typeof schema>;

interface Stored {
  readonly body: JsonObject;
  /** The oldest first, with their pins. */
  readonly versions: readonly StoredVersion[];
}

type StoredVersion = JsonObject & { readonly pins: Pin[] };

/** Stored agents, teams and workflows. */
export const components: TransferKind = {
  folder: 'components',

  async export(service, { allVersions }) {
    const stored = await storedComponents(service);
    return stored.map(({ body, versions }) => {
      const { component_id: id, component_type: type, name, description, metadata } = body;
      const chosen = allVersions ? versions : currentOf(body, versions);
      return {
        name: String(id),
        content: {
          component_id: id ?? null,
          component_type: type ?? null,
          ...(name != null && { name }),
          ...(description != null && { description }),
          ...(metadata != null && { metadata }),
          versions: chosen.map((one) => versionFile(one, body)),
        },
      };
    });
  },

  async plan(service, files) {
    const stored = await storedComponents(service);
    const plan = planOf<ComponentFile, Stored>(files, {
      schema,
      key: ({ component_id: id }) => id,
      name: nameOf,
      stored: new Map(stored.map((one) => [String(one.body.component_id), one])),
      nameOfStored: ({ body }) => nameOf(body),
      differences,
      create: (content) => create(service, content),
      change: (content, one) => change(service, content, one),
      remove: async ({ body }) => {
        await service.send('DELETE', pathOf(String(body.component_id)));
      },
    });
    return {
      ...plan,
      files: inOrder(
        plan.files,
        files.map(({ content }) => content),
      ),
      others: inOrder(
        plan.others,
        stored.map(({ body, versions }) => ({ ...body, versions: [...versions] })),
      ),
    };
  },
};

function currentOf(
  { current_version: current }: JsonObject,
  versions: readonly StoredVersion[],
): StoredVersion[] {
  const found = versions.find(({ version: number }) => number === current) ?? versions.at(-1);
  return found === undefined ? [] : [found];
}

function versionFile(stored: StoredVersion, { current_version: current }: JsonObject): JsonObject {
  const { version: number, stage, label, notes, config, pins } = stored;
  return {
    ...(number === current && { current: true }),
    stage: stage ?? null,
    ...(label != null && { label }),
    ...(notes != null && { notes }),
    config: config ?? {},
    ...(pins.length > 0 && { links: pins }),
  };
}

async function storedComponents(service: TransferService): Promise<Stored[]> {
  const found: { body: JsonObject; versions: JsonObject[] }[] = [];
  for (const body of (await service.all('/components')).sort(byId))
    found.push({ body, versions: await versionsOf(service, String(body.component_id)) });
  const pins = await pinsOf(service, found);
  return found.map(({ body, versions }) => ({
    body,
    versions: versions.map((one) => ({
      ...one,
      pins: [...(pins.get(pinner(body.component_id, one.version)) ?? [])],
    })),
  }));
}

/** The oldest first. */
async function versionsOf(service: TransferService, id: string): Promise<JsonObject[]> {
  const path = `${pathOf(id)}/configs?limit=${versionsAtOnce}`;
  // by their numbers: one that is added meanwhile moves another to the next page
  const found = new Map<number, JsonObject>();
  for (let page = 1; page <= mostVersions / versionsAtOnce; page += 1) {
    const list = await service.get(`${path}&page=${page}`);
    const versions = Array.isArray(list) ? list.filter(isJsonObject) : [];
    for (const one of versions) found.set(Number(one.version), one);
    if (versions.length < versionsAtOnce) break;
  }
  return [...found].sort(([one], [other]) => one - other).map(([, one]) => one);
}

function byId(one: JsonObject, other: JsonObject): number {
  return String(one.component_id) < String(other.component_id) ? -1 : 1;
}

function pathOf(id: string): string {
  return `/components/${encodeURIComponent(id)}`;
}

/** What the file says of the component itself, as far as the service says something else. A name may be left out. */
function aboutChanges(content: ComponentFile, body: JsonObject): JsonObject {
  const { name = body.name ?? null, description = null, metadata = null } = content;
  const changes = Object.entries({ name, description, metadata });
  return Object.fromEntries(changes.filter(([key, value]) => !isSame(value, body[key])));
}

function differences(content: ComponentFile, { body, versions }: Stored): string[] {
  const found: string[] = [];
  if (content.component_type !== body.component_type) found.push('component_type');
  found.push(...Object.keys(aboutChanges(content, body)));
  const missing = content.versions.filter((one) => matching(one, versions) === undefined);
  if (missing.length > 0)
    found.push(
      `${missing.length === 1 ? 'a new version' : `${missing.length} new versions`}${keysThatDiffer(missing[0], body, versions)}`,
    );
  const current = content.versions.find((one) => one.current);
  const now = current && matching(current, versions);
  if (now !== undefined && now.version !== body.current_version) found.push(`current version ${now.version}`);
  return found;
}

/** Which keys a new version changes, for the report. */
function keysThatDiffer(
  next: Version | undefined,
  body: JsonObject,
  versions: readonly StoredVersion[],
): string {
  const [now] = currentOf(body, versions);
  const before = fields(now?.config ?? null);
  const after = next?.config ?? {};
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = keys.filter((key) => !isSame(before[key], after[key]));
  if (!isSame(now?.pins, next?.links ?? [])) differing.push('links');
  return differing.length === 0 ? '' : ` (${differing.join(', ')})`;
}

/** The newest version of a service that is what a file says. What is published cannot become a draft again. */
function matching(
  { config, stage, links = [] }: Version,
  versions: readonly StoredVersion[],
): StoredVersion | undefined {
  const wanted = storedConfig(config);
  return versions.findLast(
    (one) =>
      isSame(one.config, wanted) &&
      isSame(one.pins, links) &&
      (stage === 'draft' || one.stage === 'published'),
  );
}

/** A component whose versions are refused is not left behind with some of them. */
async function create(service: TransferService, content: ComponentFile): Promise<void> {
  const { component_id: id, component_type: type, name = id, description, metadata, versions } = content;
  const [first, ...others] = versions;
  if (first === undefined) return;
  const about = { component_id: id, component_type: type, name, ...givenOf({ description, metadata }) };
  const { links, ...version } = await saved(service, first);
  // a new team pins the current versions of its members, and the pins of a draft can be changed
  const isPinned = type === 'team' || first.links !== undefined;
  const made = await service.send('POST', '/components', {
    ...about,
    ...version,
    ...(isPinned && { stage: 'draft' }),
  });
  try {
    let now = fields(made).current_version;
    let current = first.current ? now : undefined;
    if (isPinned) {
      const { version: number = null } = (await versionsOf(service, id)).at(-1) ?? {};
      await service.send('PATCH', `${pathOf(id)}/configs/${number}`, {
        links: links ?? [],
        stage: first.stage,
      });
      if (first.stage === 'published') now = number;
      if (first.current) current = number;
    }
    for (const one of others) {
      const { version: number = null } = await addVersion(service, id, one);
      if (one.stage === 'published') now = number;
      if (one.current) current = number;
    }
    if (current !== undefined && current !== now)
      await service.send('POST', `${pathOf(id)}/configs/${current}/set-current`);
  } catch (error) {
    await service.send('DELETE', pathOf(id));
    throw error;
  }
}

/** A draft with the same configuration: an import that was interrupted leaves one before it pins and publishes it. */
function unfinished({ config }: Version, versions: readonly StoredVersion[]): StoredVersion | undefined {
  const wanted = storedConfig(config);
  return versions.findLast((one) => one.stage === 'draft' && isSame(one.config, wanted));
}

async function saveDraft(
  service: TransferService,
  id: string,
  number: Json | undefined,
  version: Version,
): Promise<JsonObject> {
  const path = `${pathOf(id)}/configs/${String(number)}`;
  return fields(await service.send('PATCH', path, await saved(service, version)));
}

async function addVersion(service: TransferService, id: string, version: Version): Promise<JsonObject> {
  return fields(await service.send('POST', `${pathOf(id)}/configs`, await saved(service, version)));
}

/** Versions first: they are what a service may refuse. */
async function change(service: TransferService, content: ComponentFile, stored: Stored): Promise<void> {
  const { body, versions } = stored;
  const id = content.component_id;
  if (content.component_type !== body.component_type)
    throw new Error(
      `component_type is ${content.component_type}, and that of the service is ${body.component_type}. Give it another id.`,
    );
  let now = Number(body.current_version ?? 0);
  let current: number | undefined;
  for (const one of content.versions) {
    let number = Number(matching(one, versions)?.version ?? 0);
    if (number === 0) {
      const draft = unfinished(one, versions);
      const added = await (draft === undefined
        ? addVersion(service, id, one)
        : saveDraft(service, id, draft.version, one));
      number = Number(added.version);
      if (one.stage === 'published') now = number;
    }
    if (one.current) current = number;
  }
  if (current !== undefined && current !== now)
    await service.send('POST', `${pathOf(id)}/configs/${current}/set-current`);
  const changes = aboutChanges(content, body);
  if (Object.keys(changes).length > 0) await service.send('PATCH', pathOf(id), changes);
}

async function saved(
  service: TransferService,
  { stage, label, notes, config, links: pins = [] }: Version,
): Promise<JsonObject> {
  const links = await linksOf(pins, (id) => versionsOf(service, id));
  return { config, stage, ...givenOf({ label, notes }), links };
}

function givenOf(values: Readonly<Record<string, Json | undefined>>): JsonObject {
  // what is left has a value
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** What others refer to comes before them. */
function inOrder<One extends Planned>(planned: readonly One[], contents: readonly JsonObject[]): One[] {
  const named = new Map(planned.map((one) => [one.name, one]));
  const contentsByName = new Map(contents.map((content) => [nameOf(content), content]));
  const ordered = new Set<One>();
  const visited = new Set<One>();
  const visit = (one: One): void => {
    if (visited.has(one)) return;
    visited.add(one);
    for (const name of referencesOf(contentsByName.get(one.name))) {
      const other = named.get(name);
      if (other !== undefined) visit(other);
    }
    ordered.add(one);
  };
  for (const one of planned) visit(one);
  return [...ordered];
}

/** What reports call a component. */
function nameOf({ component_type: type, component_id: id }: Readonly<Record<string, unknown>>): string {
  return `${type} ${id}`;
}

/** The components that the versions of a component name. */
function referencesOf({ component_type: type, versions }: JsonObject = {}): string[] {
  if (!Array.isArray(versions)) return [];
  return versions.flatMap((one) =>
    // a file of another type has been refused, and is not planned
    componentReferences(type as RunKind, fields(fields(one).config ?? null)).map(
      ({ kind, id }) => `${kind} ${id}`,
    ),
  );
}
