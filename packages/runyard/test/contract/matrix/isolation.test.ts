import { expect, it } from 'vitest';
import { forEachDatabase } from '../../support/databases.js';
import { startService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { casesOf, inPhases } from './cases.js';
import { operations } from './operations.js';
import { type People, settlePeople } from './people.js';
import { type Intruder, Prober } from './prober.js';
import { together } from './requests.js';
import { harmTo, rowsHolding } from './rows.js';
import { isUnknownId } from './things.js';
import { tokenSettings } from './tokens.js';
import { settled, thingsSeenBy, type Views } from './views.js';
import { componentId, Yard } from './world.js';

it('knows what every id of every route names', () => {
  const unknown = operations.flatMap((operation) =>
    operation.fields.filter(isUnknownId).map(({ name }) => `${operation.name}: ${name}`),
  );
  expect(
    unknown,
    'The matrix cannot fill these fields. When one names something that belongs to a user, add it to ownedFields of ' +
      'things.ts, and to what people have in world.ts; when it names something that all share, add it to sharedFields',
  ).toEqual([]);
});

/** Many requests, on a machine that may have other things to do. */

forEachDatabase((_dialect, freshPlace) => {
  it('answers about things of others as if they did not exist, and leaves them as they are', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const yard = new Yard();
    const service = await startService({ ...tokenSettings, ...yard.options, database: place.url });
    const people = await settlePeople(service, yard, ['completed', 'paused', 'running']);
    const { ada, admin } = people;
    const rows = await rowsHolding(database, ada.secrets);
    const views = await thingsSeenBy(service, admin, ada);

    const probers = intrudersAmong(people).map((intruder) => new Prober(service, intruder, [ada]));
    const { reading, changing } = inPhases(operations.flatMap((operation) => casesOf(operation, ada.places)));
    for (const prober of probers) await prober.lookAround();
    for (const prober of probers) await together(reading, (probe) => prober.compare(probe));
    for (const prober of probers) await together(changing, (probe) => prober.compare(probe));
    // by now others have written down ids that they tried; what ada wrote is hers
    for (const prober of probers) await prober.lookAround((secret) => secret === ada.places[0]!.word);

    const problems = [
      ...probers.flatMap((prober) => prober.problems),
      ...harmTo(ada.places[0]!, rows, await rowsHolding(database, ada.secrets)),
      ...differences(views, await thingsSeenBy(service, admin, ada)),
    ];
    expect(problems.join('\n')).toBe('');
    yard.release();
    for (const { kind, runId } of ada.places.filter(({ state }) => state === 'running')) {
      await until(`the run of the ${kind} has ended as if nothing had been`, async () => {
        const { body } = await service.get(`/${kind}s/${componentId}/runs/${runId}`, ada.headers);
        return body.status === 'completed';
      });
    }
  });
});

function intrudersAmong({ bob, ofBob, bot, nobody }: People): Intruder[] {
  return [
    { name: 'another user', headers: bob.headers, own: bob.places, fresh: (kind) => ofBob.fresh(kind) },
    { name: 'a service account', headers: bot.headers },
    { name: 'a token without a subject', headers: nobody },
  ];
}

function differences(before: Views, after: Views): string[] {
  return [...before].flatMap(([asked, { text }]) => {
    const now = after.get(asked)?.text ?? 'nothing';
    return settled(now) === settled(text) ? [] : [`${asked} has changed:\n    ${text}\n    ${now}`];
  });
}
