import { expect, it } from 'vitest';
import { forEachDatabase } from '../../support/databases.js';
import { startService, type TestService } from '../../support/service.js';
import { type Case, casesOf, inPhases } from './cases.js';
import { operations } from './operations.js';
import { type Intruder, Prober } from './prober.js';
import { ownedIn } from './requests.js';
import { harmTo, rowsHolding } from './rows.js';
import { isUnknownId } from './things.js';
import { bearer, tokenSettings } from './tokens.js';
import { type Person, Settler, Yard } from './world.js';

const everyScope = [...new Set(operations.flatMap(({ scopes }) => scopes))];

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

forEachDatabase((_dialect, freshPlace) => {
  it('answers about what others have as if it was not there, and leaves it as it is', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const yard = new Yard();
    const service = await startService({ ...tokenSettings, ...yard.options, database: place.url });
    const { ada, intruders, admin: _admin } = await people(service, yard);
    const before = await rowsHolding(database, ada.secrets);
    const problems: string[] = [];
    for (const intruder of intruders) {
      const prober = new Prober(service, intruder, [ada]);
      const { reading, changing } = inPhases(casesFor(ada));
      await prober.lookAround();
      await together(reading, (probe) => prober.compare(probe));
      await together(changing, (probe) => prober.compare(probe));
      await prober.lookAround();
      problems.push(...prober.problems);
    }
    problems.push(...harmTo(ada.places[0]!, before, await rowsHolding(database, ada.secrets)));
    expect(problems.join('\n')).toBe('');
    yard.release();
  });
});

interface People {
  readonly ada: Person;
  readonly intruders: readonly Intruder[];
  readonly admin: Record<string, string>;
}

async function people(service: TestService, yard: Yard): Promise<People> {
  const admin = await bearer({ scopes: ['agent_os:admin'], subject: 'root@users.example' });
  const settler = async (subject: string, word: string, headers?: Record<string, string>) =>
    new Settler(service, yard, subject, headers ?? (await bearer({ scopes: everyScope, subject })), word);
  const ofAccount = await accountOf(service, admin);
  const [adas, bobs, bots] = await Promise.all([
    settler('ada@users.example', 'zebrafinch'),
    settler('bob@users.example', 'kingfisher'),
    settler('sa:bot', 'woodpecker', ofAccount),
  ]);
  const [ada, bob, bot] = await Promise.all([
    adas.settle(['completed', 'paused', 'running']),
    bobs.settle(['completed']),
    bots.settle(['completed']),
  ]);
  const intruders: Intruder[] = [
    { name: 'another user', headers: bob.headers, own: bob.places, fresh: (kind) => bobs.fresh(kind) },
    { name: 'a service account', headers: bot.headers },
    { name: 'a token without a subject', headers: await bearer({ scopes: everyScope }) },
  ];
  return { ada, intruders, admin };
}

/** An account that may do everything but decide on calls: those that may, do so for everybody. */
async function accountOf(
  service: TestService,
  admin: Record<string, string>,
): Promise<Record<string, string>> {
  const scopes = everyScope.filter((scope) => scope !== 'approvals:write').map((scope) => ({ scope }));
  const { body } = await service.call('POST', '/service-accounts', {
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bot', scopes, allow_privileged_scopes: true }),
  });
  return { authorization: `Bearer ${body.token}` };
}

function casesFor({ places }: Person): Case[] {
  return operations
    .filter((operation) => ownedIn(operation).length > 0)
    .flatMap((operation) => casesOf(operation, places));
}

const atOnce = 16;

async function together<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items].reverse();
  const next = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}
