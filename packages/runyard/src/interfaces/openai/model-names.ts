import type { Component, ComponentsService } from '../../capabilities/components/service.js';
import { errors } from '../../core/errors/errors.js';
import type { RunKind } from '../../core/runs/run.js';
import { assertMay } from '../../platform/auth/authenticator.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { ComponentName } from '../common/exposed-components.js';
import type { OpenaiConfig } from './options.js';

/** A component by the name of a model. */
export interface ModelTarget extends ComponentName {
  /** The name that the client used. */
  readonly model: string;
  /** Of a stored component. */
  readonly version?: number;
}

/** A component as a model of the list. */
export interface ListedModel {
  readonly id: string;
  readonly kind: RunKind;
}

const kinds = ['agent', 'team', 'workflow'] as const;
const shownActions = ['read', 'run'] as const;
/** The error that names no model lists so many. */
const mostNamed = 20;

/** The names of models: the id of a component, with its kind before it where that is needed. */
export class ModelNames {
  constructor(
    private readonly config: OpenaiConfig,
    private readonly components: ComponentsService,
  ) {}

  /** All models that the caller may use or see, registered ones first. */
  async list(caller: Caller): Promise<ListedModel[]> {
    const found: { kind: RunKind; id: string }[] = [];
    const { agents, teams, workflows } = this.components.shownTo(caller);
    const registered: Record<RunKind, readonly Component[]> = {
      agent: agents,
      team: teams,
      workflow: workflows,
    };
    for (const kind of kinds) {
      found.push(...registered[kind].map(({ id }) => ({ kind, id })));
      for await (const { stored } of this.components.listStored(kind, caller, shownActions))
        found.push({ kind, id: stored.id });
    }
    const shown = found.filter(({ kind, id }) => this.config.exposes(kind, id));
    const times = new Map<string, number>();
    for (const { id } of shown) times.set(id, (times.get(id) ?? 0) + 1);
    return shown.map(({ kind, id }) => ({ kind, id: times.get(id) === 1 ? id : `${kind}:${id}` }));
  }

  /** What a model of a request means. Throws when there is none, or when the caller may not do this with it. */
  async target(caller: Caller, name: string, action: 'run' | 'read'): Promise<ModelTarget> {
    const { id, version, kind } = parsed(name);
    const wanted = kind === undefined ? kinds : [kind];
    const found: ComponentName[] = [];
    // an id may hold what looks like a kind or a version
    for (const meant of [
      ...wanted.map((one) => ({ kind: one, componentId: id, version })),
      ...(id === name ? [] : kinds.map((one) => ({ kind: one, componentId: name, version: undefined }))),
    ]) {
      if (!this.config.exposes(meant.kind, meant.componentId)) continue;
      if (!isShown(caller, meant)) continue;
      if ((await this.components.home(meant.kind, meant.componentId)) !== undefined)
        found.push(withoutVersion(meant));
    }
    const [only, ...others] = found;
    if (only === undefined) throw await this.unknown(caller, name);
    if (others.length > 0)
      throw errors.ambiguousModel(
        name,
        found.map((one) => `${one.kind}:${one.componentId}`),
      );
    assertMayWith(caller, only, action);
    return { ...only, model: name, ...(version !== undefined && only.componentId === id && { version }) };
  }

  private async unknown(caller: Caller, name: string): Promise<Error> {
    const ids = (await this.list(caller)).map(({ id }) => id);
    return errors.modelNotFound(name.slice(0, 200), ids.slice(0, mostNamed));
  }
}

/** Refuses a caller who may not do this with a component. Reading what one may run is allowed. */
export function assertMayWith(caller: Caller, { kind, componentId }: ComponentName, action: 'run' | 'read') {
  const actions = action === 'run' ? ['run'] : ['read', 'run'];
  const scope = actions.map((one) => `${kind}s:${one}`);
  assertMay(caller, { scope, params: { [`${kind}_id`]: componentId } });
}

function isShown({ rights }: Caller, { kind, componentId }: ComponentName): boolean {
  return shownActions.some((action) => rights.may(`${kind}s:${action}`, componentId));
}

/** `team:desk@3` */
function parsed(name: string): { id: string; kind?: RunKind; version?: number } {
  const [, prefix, id = name, digits] = /^(?:(agent|team|workflow):)?(.+?)(?:@(\d{1,9}))?$/s.exec(name) ?? [];
  const kind = kinds.find((one) => one === prefix);
  const version = Number(digits ?? 0);
  return { id, ...(kind && { kind }), ...(version > 0 && { version }) };
}

function withoutVersion({ kind, componentId }: ComponentName): ComponentName {
  return { kind, componentId };
}
