// A service with a job of three steps, which prints what it does. Its first process stays in the second step.
import { writeSync } from 'node:fs';

const built = (path) => import(new URL(`../../dist/${path}`, import.meta.url));
const { capabilities } = await built('capabilities/capabilities.js');
const { ComponentsService } = await built('capabilities/components/service.js');
const { migrationsOf } = await built('capabilities/capability.js');
const { Readiness } = await built('capabilities/system/readiness.js');
const { defineJob } = await built('core/runs/jobs/job.js');
const { inputRecord, outputRecord } = await built('core/runs/journal/codec.js');
const { number, object } = await built('core/runs/journal/shapes.js');
const { openCapabilities } = await built('open-capabilities.js');
const { loadSettings } = await built('platform/settings/config.js');
const { openDatabase } = await built('platform/storage/open.js');
const { migrate } = await built('platform/storage/migrations/migrate.js');

const say = (text) => writeSync(1, `${text}\n`);
const count = object({ count: number });
const job = defineJob({
  kind: 'counting',
  input: inputRecord('counting', 1, count),
  result: outputRecord('counted', 1, count),
  async execute({ step, stored, attempt }, input) {
    let sum = 0;
    for (let at = 1; at <= input.count; at += 1) {
      const record = outputRecord('added', 1, count);
      const added = await step(`add:${at}`, { name: 'add', record }, async ({ idempotencyKey }) => {
        say(`step ${at} in ${attempt} as ${idempotencyKey}`);
        if (at === 2 && attempt === 1) await new Promise(() => {});
        return { count: at };
      });
      sum += added.count;
      await stored();
    }
    return { count: sum };
  },
});
const counting = { name: 'counting', open: () => ({ inDatabase: () => ({ jobs: [job] }) }) };

const [url, isFirst] = process.argv.slice(2);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const all = [...capabilities, counting];
const database = await openDatabase({ id: 'test', url, migrations: migrationsOf(all), log });
await migrate(database);
const { settings } = loadSettings({ code: { leaseMs: 1000 } });
const { spaces, start, stop } = await openCapabilities(all, {
  ...{ settings, databases: [database], prices: {}, startedAt: new Date(), log },
  components: new ComponentsService({}),
  readiness: new Readiness(log),
});
await start();
const { jobs } = await spaces.get(undefined);
if (isFirst) await jobs.start(job, { count: 3 }, { jobId: 'the-job' });
// the process lives for as long as it has work
const waiting = setInterval(() => {}, 1000);
const { status, result } = await jobs.ended(job, 'the-job');
say(`${status} ${result?.count}`);
clearInterval(waiting);
await stop(0);
await database.close();
