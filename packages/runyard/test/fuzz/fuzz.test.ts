import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Random } from '../chaos/storm/random.js';
import { forEachDatabase } from '../support/databases.js';
import { patience } from '../support/patience.js';
import { startService, type TestService } from '../support/service.js';
import { type Audience, guardedAudience, openAudience, secret } from './callers.js';
import { type CampaignReport, campaign } from './campaign.js';
import { operationsOf } from './description.js';
import { RawSender } from './exchange/send.js';
import { takeFirstSteps } from './first-steps.js';
import { Health } from './health.js';
import { fuzzSockets } from './sockets.js';
import { settle } from './victim.js';
import { yard } from './yard/application.js';

/**
 * RUNYARD_FUZZ_SEED repeats the values of an earlier run, RUNYARD_FUZZ_SECONDS says how long all of it takes. With all
 * other tests the requests are the same each time, however fast the machine is: a failure then points to the change that
 * caused it. `npm run fuzz` looks further.
 */
const seed = Number(process.env.RUNYARD_FUZZ_SEED ?? 1);
const allSeconds = process.env.RUNYARD_FUZZ_SECONDS;
const seconds = allSeconds === undefined ? undefined : Number(allSeconds) / 4;
const only = (process.env.RUNYARD_FUZZ_OPERATIONS ?? '').split(',').filter((id) => id !== '');
const testMs = (seconds ?? 0) * 1000 + patience(300_000);

async function attack(service: TestService, audience: Audience, seeds: Health): Promise<CampaignReport> {
  const { url, api } = service;
  console.log(`RUNYARD_FUZZ_SEED=${seed} RUNYARD_FUZZ_SECONDS=${allSeconds ?? ''}`);
  const sender = new RawSender(url);
  for (const caller of audience.active) await takeFirstSteps(caller, sender);
  const { description } = api;
  const [report, socketFaults] = await Promise.all([
    campaign({ url, api, sender, audience, seed, seconds, lanes: 4, only }),
    only.length > 0 ? [] : fuzzSockets({ url, description, audience, seed, seconds }),
  ]);
  sender.close();
  const unmet = operationsOf(api.description).filter(({ id }) => !report.succeeded.has(id));
  console.log(`${report.requests} requests`, Object.fromEntries([...report.statuses].sort()));
  if (unmet.length > 0) console.log(`never successful: ${unmet.map(({ id }) => id).join(', ')}`);
  expect([...report.failures, ...socketFaults].join('\n\n'), `seed ${seed}`).toBe('');
  await seeds.expectGood();
  return report;
}

/** A suite that never gets beyond the first check would find nothing. */
function expectReach(service: TestService, report: CampaignReport): void {
  if (only.length > 0) return;
  const operations = operationsOf(service.api.description);
  for (const { id } of operations) expect(report.called.get(id), id).toBeGreaterThan(0);
  expect(report.succeeded.size).toBeGreaterThan(operations.length * 0.6);
}

// a request may name the model of a provider: no key for one may be set here
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (/_API_KEY$/.test(name)) vi.stubEnv(name, undefined);
});

forEachDatabase((_dialect, freshPlace) => {
  describe('whatever is asked of it, a service', () => {
    test(
      'answers as it has published, and stays well',
      async () => {
        const service = await startService({
          ...yard,
          database: (await freshPlace()).url,
          autoMigrate: true,
        });
        const health = await Health.of(service, {});
        expectReach(service, await attack(service, openAudience(), health));
      },
      testMs,
    );

    test(
      'lets no caller do or see what they may not',
      async () => {
        const guarded = { ...yard, authorization: true, jwtKeys: [secret] };
        const service = await startService({
          ...guarded,
          database: (await freshPlace()).url,
          autoMigrate: true,
        });
        const victim = await settle(service);
        const health = await Health.of(service, victim.headers);
        const audience = await guardedAudience(new Random(seed), victim);
        expectReach(service, await attack(service, audience, health));
        await victim.expectAllThere();
      },
      testMs,
    );
  });
});
