import type {
  Capability,
  InfoParts,
  OpenCapability,
  ServiceParts,
  Services,
} from './capabilities/capability.js';
import type { TakesUp } from './capabilities/runs/database-space.js';
import { RunSpaces } from './capabilities/runs/run-spaces.js';
import { ModelPace } from './core/models/pace/model-pace.js';
import { type ModelTurns, OwnModelTurns } from './core/models/pace/model-turns.js';
import { RunSlots } from './core/runs/leases/run-slots.js';
import { systemTimers } from './platform/engine/local/timers.js';
import { SchemaGate } from './platform/storage/schema-gate.js';

export interface OpenCapabilities {
  readonly services: Services;
  readonly slots: RunSlots;
  readonly spaces: RunSpaces;
  /** What `/info` and `/config` consist of. */
  readonly infoParts: InfoParts[];
  /** Takes up work: the runs that wait, and what else happens in the background; or less. */
  start(takesUp?: TakesUp): Promise<void>;
  /** Accepts no new runs, gives running ones time and releases what is left. */
  stop(graceMs: number): Promise<void>;
  /** What is left to be done when everything has stopped. */
  close(withinMs: number): Promise<void>;
}

/** Opens capabilities in the order of the list. Nothing happens in the background before `start`. */
export async function openCapabilities(
  capabilities: readonly Capability[],
  parts: ServiceParts,
): Promise<OpenCapabilities> {
  const { settings } = parts;
  const slots = new RunSlots({ executing: settings.maxConcurrentRuns, waiting: settings.maxWaitingRuns });
  const jobSlots = new RunSlots({ executing: settings.maxJobs, waiting: 0 });
  const pace = new ModelPace(settings.modelRates, turnsOf(parts), systemTimers);
  // the loop adds the services of each capability: those after it find them
  const services = { settings } as Services;
  const opened: OpenCapability[] = [];
  const infoParts: InfoParts[] = [];
  const gates = parts.databases.map((database) => new SchemaGate(database));
  const databases = gates.map(({ database }) => database);
  const site = { ...parts, databases, capabilities, slots, jobSlots, pace, services, opened, infoParts };
  const spaces = new RunSpaces(site, gates);
  for (const capability of capabilities) {
    const open = (await capability.open?.({ ...site, spaces })) ?? {};
    Object.assign(services, open.services);
    opened.push(open);
    infoParts.push(open);
  }
  return {
    services,
    slots,
    spaces,
    infoParts,
    start: (takesUp) => spaces.open(takesUp),
    stop: (graceMs) => spaces.stop(graceMs),
    async close(withinMs) {
      await Promise.all(opened.map((capability) => capability.close?.(withinMs)));
    },
  };
}

/** The processes of the service's own database call models together. */
function turnsOf({ databases: [own] }: ServiceParts): ModelTurns {
  return own?.shared?.modelTurns(systemTimers) ?? new OwnModelTurns(() => systemTimers.elapsed());
}
