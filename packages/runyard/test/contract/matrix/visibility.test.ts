import { expect, it } from 'vitest';
import { type DatabasePlace, forEachDatabase } from '../../support/databases.js';
import { startService, type TestService } from '../../support/service.js';
import { type Case, casesOf, inPhases, isOutermost } from './cases.js';
import { refusedToOwners } from './exceptions.js';
import { operations } from './operations.js';
import { settlePeople } from './people.js';
import { requestOf, sent } from './requests.js';
import { tokenSettings } from './tokens.js';
import { listsSeenBy, thingsSeenBy } from './views.js';
import { type Person, Yard } from './world.js';

/** Many requests, on a machine that may have other things to do. */

forEachDatabase((_dialect, freshPlace) => {
  it('shows people their own things, and everything to callers who may see it', async () => {
    const { yard, service, url } = await opened(await freshPlace());
    const { ada, bob, bot, nobody, admin } = await settlePeople(service, yard, ['completed', 'paused']);
    for (const person of [ada, bot])
      expect(await missing(service, person.headers, [person]), person.userId).toEqual([]);
    expect(await missing(service, admin, [ada, bot])).toEqual([]);

    const together = await startService({
      ...{ ...tokenSettings, ...yard.options, database: url },
      userIsolation: false,
    });
    for (const headers of [bob.headers, nobody]) expect(await missing(together, headers, [ada])).toEqual([]);
    // accounts are kept apart wherever they are
    expect(await missing(together, bot.headers, [bot])).toEqual([]);
    const seen = [...(await listsSeenBy(together, bot.headers)).values()].map(({ text }) => text).join();
    expect(seen).not.toContain(ada.places[0]!.word);
  });

  it('lets owners do what others cannot', async () => {
    const { yard, service } = await opened(await freshPlace());
    const { ada } = await settlePeople(service, yard, ['completed', 'paused']);
    const { changing } = inPhases(operations.flatMap((operation) => casesOf(operation, ada.places)));
    const refused: string[] = [];

    const inOrder = changing
      .filter((probe) => !probe.needsOwn && isOutermost(probe) && !refusedToOwners.has(probe.operation.name))
      .sort((one, other) => turnOf(one) - turnOf(other));
    for (const { operation, named, place } of inOrder) {
      const request = requestOf(operation, { named, target: place, own: place, kind: place.kind });
      const { status, text } = await sent(service, request, ada.headers);
      // what cannot be done twice, or is no longer possible, was found all the same
      if (status >= 300 && status !== 409)
        refused.push(`${operation.name} ${request.text}: ${status} ${text}`);
    }
    expect(refused).toEqual([]);
  });
});

/** What is deleted goes last, and what is deleted together after that. */
function turnOf({ operation }: Case): number {
  if (operation.method !== 'DELETE') return 0;
  return /users|s$|\{dataset_id\}$/.test(operation.template) ? 2 : 1;
}

async function opened(place: DatabasePlace) {
  await place.open();
  const yard = new Yard();
  const service = await startService({ ...tokenSettings, ...yard.options, database: place.url });
  return { yard, service, url: place.url };
}

/** What of these people a caller does not find, neither in a list nor by its id. */
async function missing(
  service: TestService,
  headers: Record<string, string>,
  people: readonly Person[],
): Promise<string[]> {
  const lists = await listsSeenBy(service, headers);
  const problems: string[] = [];
  for (const person of people) {
    const things = await thingsSeenBy(service, headers, person);
    const refused = [...things].filter(([, { status }]) => status >= 300);
    problems.push(...refused.map(([asked, { status, text }]) => `${asked}: ${status} ${text}`));
    const seen = [...lists.values(), ...things.values()].map(({ text }) => text).join('\n');
    const keys = new Set(person.places.map(({ idempotencyKey }) => idempotencyKey));
    const unseen = person.secrets.filter((secret) => !keys.has(secret) && !seen.includes(secret));
    problems.push(...unseen.map((secret) => `${person.userId} has ${secret}, which is nowhere`));
  }
  return problems;
}
