import { componentKey } from '../../core/runs/resume/ending-executable.js';
import type { InterfaceSite } from '../interface.js';
import type { ComponentName } from './exposed-components.js';

/** Warns of components that an interface names and that are not there. They may be stored later: this is no fault. */
export async function warnOfUnknown(
  { services, log }: Pick<InterfaceSite, 'services' | 'log'>,
  owner: string,
  named: readonly ComponentName[],
): Promise<void> {
  if (named.length === 0) return;
  const known = new Set(await services.components.keys());
  for (const { kind, componentId } of named)
    if (!known.has(componentKey(kind, componentId)))
      log.warn(
        { kind, id: componentId },
        `${owner} names the ${kind} '${componentId}', which does not exist. Clients find it when it is stored.`,
      );
}
