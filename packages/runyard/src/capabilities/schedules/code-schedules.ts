import { errors } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { DefinedSchedule } from '../../core/schedules/schedule.js';
import type { ScheduleDefinition } from '../../core/schedules/schedule-definition.js';
import { schedulerUser } from '../../platform/auth/named-user.js';
import type { ComponentsService } from '../components/service.js';
import type { Schedule } from './schedule.js';
import { isRetimed, nextOf } from './service.js';
import { codeNames, type ScheduleStore } from './store.js';

const all = { kind: 'all' } as const;

/** How often a schedule is brought up to date again when another process does the same. */
const mostTries = 5;

/** Refuses schedules of the code that cannot be meant. */
export function checkCodeSchedules(
  schedules: readonly DefinedSchedule[],
  components: ComponentsService,
): void {
  const names = new Set<string>();
  for (const { definition, component } of schedules) {
    const { name } = definition;
    if (names.has(name)) throw errors.invalidConfig(`Two schedules have the name '${name}'.`);
    names.add(name);
    if (component !== undefined && components.find(component.kind, component.id) === undefined)
      throw errors.invalidConfig(
        `Schedule '${name}' runs the ${component.kind} '${component.id}', which is not registered. Add it to ${component.kind}s.`,
      );
  }
}

/** Brings what is stored of the schedules of the code to what the code says. Several processes may do so at once. */
export async function storeCodeSchedules(
  schedules: readonly DefinedSchedule[],
  store: ScheduleStore,
  now: () => Promise<number>,
): Promise<void> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const stored = await store.ofCode();
    const results = await Promise.all([
      ...schedules.map(async (defined) => storeOne(defined, stored.get(defined.definition.name), store, now)),
      ...[...stored.values()].map(async (one) => {
        const isDefined = schedules.some(({ definition }) => definition.name === one.name);
        if (isDefined || one.retiredAt !== null) return true;
        const at = await now();
        return (await store.update(all, one, {}, { retiredAt: at }, at)) === 'stored';
      }),
    ]);
    // another process was faster with some of them: what it stored is looked at once more
    if (results.every(Boolean)) return;
  }
}

/** False when another process changed it in the meantime. */
async function storeOne(
  { definition, enabled }: DefinedSchedule,
  stored: Schedule | undefined,
  store: ScheduleStore,
  now: () => Promise<number>,
): Promise<boolean> {
  if (stored !== undefined && stored.retiredAt === null && isSame(stored, definition)) return true;
  const at = await now();
  const id = stored?.id ?? newId();
  const { tick, dueAt } = await nextOf({ id, ...definition }, at);
  if (stored !== undefined) {
    // callers decided whether it is enabled, and ticks that passed while it was not defined are not missed
    const isAnew = stored.retiredAt !== null || isRetimed(stored, definition);
    const state = { retiredAt: null, ...(isAnew && { next: { tick, dueAt } }) };
    return (await store.update(all, stored, definition, state, at)) === 'stored';
  }
  return store.insert(
    {
      ...definition,
      id,
      enabled,
      disabledReason: null,
      source: 'code',
      retiredAt: null,
      userId: schedulerUser,
      creator: { by: 'service' },
      revision: 1,
      nextTick: tick,
      dueAt,
      createdAt: at,
      updatedAt: null,
    },
    codeNames,
  );
}

function isSame(stored: Schedule, definition: ScheduleDefinition): boolean {
  return definitionText(stored) === definitionText(definition);
}

function definitionText(definition: ScheduleDefinition): string {
  const { name, description, method, endpoint, payload, cronExpr, timezone, ...rest } = definition;
  const { timeoutSeconds, maxRetries, retryDelaySeconds, overlap, missed, jitterSeconds } = rest;
  const called = [name, description, method, endpoint, payload, cronExpr, timezone];
  return JSON.stringify([
    ...called,
    timeoutSeconds,
    maxRetries,
    retryDelaySeconds,
    overlap,
    missed,
    jitterSeconds,
  ]);
}
