import type { ReadyComponent } from './capabilities/components/service.js';
import type { ComponentConfig } from './core/configs/component-config.js';
import { checkValue } from './core/options/check-options.js';
import type { RegistrySources } from './core/registry/collect.js';
import { Registry } from './core/registry/registry.js';
import { collectFixedTools } from './core/tools/collect-tools.js';
import { readyComponent } from './runyard-options.js';

/** The code of a service as configurations see it: what they may refer to, and components as configurations. */
export class CodeConfigs {
  private collected: Registry | undefined;

  constructor(private readonly sources: RegistrySources) {
    // two tools of one name in a kit are a fault of the code: not of the first configuration that is read
    for (const entry of sources.settings?.tools ?? []) collectFixedTools('The registry', [entry]);
  }

  /** Collected when it is first asked for: a service without stored components needs none. */
  readonly registry = (): Registry => {
    this.collected ??= new Registry(this.sources);
    return this.collected;
  };

  async of(component: ReadyComponent): Promise<ComponentConfig> {
    checkValue('toConfig()', 'the component', component, readyComponent);
    const { configOf } = await import('./core/configs/config-of.js');
    return configOf(component, this.registry());
  }
}
