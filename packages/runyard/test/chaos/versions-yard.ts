import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Runyard, step, workflow } from 'runyard';

/** A workflow in two versions that do not fit each other. The name of the service says which one it is. */
const { CHAOS_FOLDER: folder = '.', CHAOS_DATABASE: database, CHAOS_SETTINGS: settings = '{}' } = process.env;
const { name } = JSON.parse(settings) as { name: string };

const first = step({ name: `first of ${name}`, run: async () => `done by ${name}` });
const last = step({
  name: 'last',
  run: async ({ previousStepContent }) => {
    while (!existsSync(join(folder, 'release-gate'))) await new Promise((resolve) => setTimeout(resolve, 10));
    return `${previousStepContent}, and the rest`;
  },
});

export const app = new Runyard({
  port: 0,
  dataDir: folder,
  ...(database !== undefined && { database }),
  autoMigrate: true,
  logFormat: 'json',
  workflows: [workflow({ id: 'flow', steps: [first, last] })],
  ...(JSON.parse(settings) as object),
});
