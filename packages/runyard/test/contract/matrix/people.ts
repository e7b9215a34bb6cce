import type { TestService } from '../../support/service.js';
import { operations } from './operations.js';
import { bearer } from './tokens.js';
import { type Person, Settler, type State, type Yard } from './world.js';

/** All that the routes require. */
const everyScope = [...new Set(operations.flatMap(({ scopes }) => scopes))];

export interface People {
  /** Has everything, in every state. */
  readonly ada: Person;
  readonly bob: Person;
  /** Makes something of bob's. */
  readonly ofBob: Settler;
  /** A service account. */
  readonly bot: Person;
  /** A token without a subject. */
  readonly nobody: Record<string, string>;
  readonly admin: Record<string, string>;
}

/** Users of a service, each with the right to everything, and with things of their own. */
export async function settlePeople(
  service: TestService,
  yard: Yard,
  states: readonly State[],
): Promise<People> {
  const admin = await bearer({ scopes: ['agent_os:admin'], subject: 'root@users.example' });
  const settler = async (subject: string, word: string) =>
    new Settler(service, yard, subject, await bearer({ scopes: everyScope, subject }), word);
  const ofAda = await settler('ada@users.example', 'zebrafinch');
  const ofBob = await settler('bob@users.example', 'kingfisher');
  const ofBot = new Settler(service, yard, 'sa:bot', await account(service, admin), 'woodpecker');
  const [ada, bob, bot] = await Promise.all([
    ofAda.settle(states),
    ofBob.settle(['completed', 'paused']),
    ofBot.settle(['completed', 'paused']),
  ]);
  return { ada, bob, ofBob, bot, nobody: await bearer({ scopes: everyScope }), admin };
}

/** One that may do everything but decide on calls: those that may, do so for all users. */
async function account(service: TestService, admin: Record<string, string>): Promise<Record<string, string>> {
  const scopes = everyScope.filter((scope) => scope !== 'approvals:write').map((scope) => ({ scope }));
  const { body } = await service.call('POST', '/service-accounts', {
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bot', scopes, allow_privileged_scopes: true }),
  });
  return { authorization: `Bearer ${body.token}` };
}
