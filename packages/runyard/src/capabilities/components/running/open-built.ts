import type { BuiltComponent } from '../../../core/configs/component-config.js';
import type { Registry } from '../../../core/registry/registry.js';
import { systemTimers } from '../../../platform/engine/local/timers.js';
import type { Database } from '../../../platform/storage/database.js';
import type { Spaces } from '../../capability.js';
import type { ComponentsService } from '../service.js';
import { RunnableComponents } from '../stored/runnable-store.js';
import { BuiltComponents, type ConfigLanguage } from './built-components.js';
import { ReadyComponents } from './ready-components.js';

export interface OpenBuiltOptions {
  readonly components: ComponentsService;
  /** The service's own first: it holds what is stored. */
  readonly databases: readonly Database[];
  readonly registry: () => Registry;
  /** Left out where nothing is executed. */
  readonly spaces?: Spaces;
}

/** What is stored in the service's own database, as it runs. */
export function openBuilt({ components, databases, registry, spaces }: OpenBuiltOptions): BuiltComponents {
  // a service has a database of its own
  const own = databases[0]!;
  return new BuiltComponents({
    stored: new ReadyComponents(own, new RunnableComponents(own)),
    code: (kind, id) => components.find(kind, id) ?? registry().member(kind, id),
    databases: databases.map(({ id }) => id),
    language: () => language(registry),
    now: () => systemTimers.now(),
    attach: (component) => spaces && attachTo(spaces, component),
  });
}

/** As those of the code: its runs are in the database that it names. */
function attachTo(spaces: Spaces, component: BuiltComponent): void {
  component.attach(async () => (await spaces.get(component.settings.database)).forCode);
}

/** Loaded with the first stored component: a service without any does not need it. */
async function language(registry: () => Registry): Promise<ConfigLanguage> {
  const { buildComponent } = await import('../../../core/configs/build-component.js');
  const { configOf } = await import('../../../core/configs/config-of.js');
  const { componentReferences } = await import('../../../core/configs/references.js');
  const { configFaultsOf } = await import('../../../core/errors/config-errors.js');
  return {
    references: componentReferences,
    build: (kind, id, config, site) => buildComponent(kind, id, config, { ...site, registry: registry() }),
    write: (component) => configOf(component, registry()),
    faultsOf: configFaultsOf,
  };
}
