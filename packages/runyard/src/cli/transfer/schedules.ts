import type { z } from 'zod';
import { createScheduleBody } from '../../capabilities/schedules/schema.js';
import type { JsonObject } from '../../core/json.js';
import { schedulerUser } from '../../platform/auth/named-user.js';
import { planOf } from './plan.js';
import type { TransferService } from './service.js';
import { isSame, type TransferKind } from './thing.js';

/** A file says what a request to create the schedule says. */
const schema = createScheduleBody.strict();
type ScheduleFile = z.output<typeof schema>;

const fields = Object.keys(createScheduleBody.shape);

/** Schedules that callers made. Those of the code come with the code. */
export const schedules: TransferKind = {
  folder: 'schedules',

  async export(service) {
    const stored = await ofCallers(service);
    return stored.map((one) => ({
      name: String(one.name),
      content: Object.fromEntries(fields.flatMap((name) => (one[name] == null ? [] : [[name, one[name]]]))),
    }));
  },

  async plan(service, files) {
    const stored = await ofCallers(service);
    return planOf<ScheduleFile, JsonObject>(files, {
      schema,
      key: ({ name }) => name,
      name: ({ name }) => name,
      stored: new Map(stored.map((one) => [String(one.name), one])),
      nameOfStored: ({ name }) => String(name),
      differences: (content, one) => differing(content, one).map(([name]) => name),
      // it calls with the rights of who creates it: those of the service itself
      create: async (content) => {
        await service.send('POST', '/schedules', content, schedulerUser);
      },
      change: async (content, one) => {
        const changes = Object.fromEntries(differing(content, one));
        await service.send('PATCH', `/schedules/${one.id}`, changes, schedulerUser);
      },
      remove: async (one) => {
        await service.send('DELETE', `/schedules/${one.id}`);
      },
    });
  },
};

function differing(content: ScheduleFile, stored: JsonObject) {
  return Object.entries({ description: null, payload: null, ...content }).filter(
    ([name, value]) => !isSame(value, stored[name]),
  );
}

async function ofCallers(service: TransferService): Promise<JsonObject[]> {
  const stored = await service.all('/schedules');
  return stored.filter(({ source }) => source !== 'code');
}
