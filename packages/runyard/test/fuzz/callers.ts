import { type JWTPayload, SignJWT } from 'jose';
import type { Random } from '../chaos/storm/random.js';
import type { Operation } from './description.js';
import type { FuzzRequest } from './exchange/request.js';
import type { WireAnswer } from './exchange/send.js';
import { beforeOperations } from './oracle.js';
import { Pool } from './values/pool.js';
import type { Victim } from './victim.js';
import { registered } from './yard/application.js';

/** A caller that sends requests. */
export interface FuzzCaller {
  readonly name: string;
  readonly token: string | null;
  /** What they know about. */
  readonly pool: Pool;
  /** Receives every request before it is sent. */
  noteSent?(text: string): void;
  /** What a text shows that is not for them. */
  leakIn?(text: string): string | undefined;
  /** What is wrong with an answer because it is they who got it. */
  faultOf(operation: Operation, request: FuzzRequest, answer: WireAnswer): string | undefined;
}

/** Who calls. */
export interface Audience {
  /** Those who can begin with something. */
  readonly active: readonly FuzzCaller[];
  pick(random: Random): FuzzCaller;
}

export const secret = 'a secret that is only good for fuzzing, 0123456789';
const adminScope = 'agent_os:admin';

const resources = [
  'agents',
  'teams',
  'workflows',
  'sessions',
  'memories',
  'learnings',
  'knowledge',
  'evals',
  'traces',
  'metrics',
  'approvals',
  'schedules',
  'components',
  'config',
  'models',
  'registry',
  'service_accounts',
];
const actions = ['read', 'write', 'run', 'delete'];
const everything = resources.flatMap((resource) => actions.map((action) => `${resource}:${action}`));

/** All callers know what is registered. */
function newPool(withheld?: ReadonlySet<string>): Pool {
  const pool = new Pool(withheld);
  for (const known of registered) pool.add(known);
  return pool;
}

/** The callers of a service without authorization: tokens mean nothing to it. */
export function openAudience(): Audience {
  const pool = newPool();
  const callers = [null, null, null, 'nonsense'].map((token) => ({
    ...{ name: 'anybody', token, pool },
    // only a token for others needs a maker who answers for it
    faultOf: ({ id }: Operation, _request: FuzzRequest, { status }: WireAnswer) =>
      status === 401 && id !== 'create_service_account'
        ? 'it demands a token, and authorization is off'
        : undefined,
  }));
  return { active: callers.slice(0, 1), pick: (random) => random.pick(callers) };
}

export function signed(claims: JWTPayload, key = secret): Promise<string> {
  const token = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' });
  return token.setExpirationTime(claims.exp ?? '2h').sign(new TextEncoder().encode(key));
}

/** The callers of a service with authorization: good, bad, and such as may do some things only. */
export async function guardedAudience(random: Random, victim: Victim): Promise<Audience> {
  const limited = await Promise.all(
    Array.from({ length: 6 }, (_all, number) => someRights(`limited-${number}`, scopesFrom(random), victim)),
  );
  const active = [await someRights('ada', everything, victim), await admin(victim)];
  const callers = [...(await strangers()), ...limited, await someRights(undefined, everything, victim)];
  return { active, pick: (choice) => choice.pick(choice.chance(0.6) ? active : callers) };
}

function scopesFrom(random: Random): string[] {
  const some = everything.filter(() => random.chance(0.3));
  return [
    ...some,
    random.pick(['agents:plain:run', 'agents:*:read', 'teams:desk:run', 'nonsense', 'a:b:c:d', '*']),
  ];
}

async function strangers(): Promise<FuzzCaller[]> {
  const claims = { sub: 'ada', scopes: [adminScope] };
  const unsigned = `${encodedJson({ alg: 'none' })}.${encodedJson(claims)}.`;
  const tokens = [
    null,
    '',
    'nonsense',
    unsigned,
    `${'x'.repeat(600)}.${'y'.repeat(1500)}.z`,
    'runyard_pat_0000000000000000000000000000000000000000000',
    await signed(claims, 'another secret that nobody has configured here'),
    await signed({ ...claims, exp: 1_000_000_000 }),
    await signed({ ...claims, nbf: 9_000_000_000 }),
  ];
  const pool = newPool();
  return tokens.map((token) => ({ name: 'a stranger', token, pool, faultOf: refused(401, 429) }));
}

/** A path that cannot be read belongs to no operation. */
const badUrl = '"error_code":"bad_url"';

/** A caller without a token, or without the scope, learns that and nothing else. */
function refused(...statuses: number[]): FuzzCaller['faultOf'] {
  return ({ isPublic, id }, { method }, { status, text }) => {
    if (isPublic && method === 'GET') return undefined;
    if (statuses.includes(status) || beforeOperations.includes(status) || text.includes(badUrl))
      return undefined;
    return `${id} answered ${status} to a caller who may not call it: ${text.slice(0, 200)}`;
  };
}

/** A user with some scopes, who knows the ids of what belongs to the victim, and never gets to see it. */
async function someRights(
  sub: string | undefined,
  scopes: readonly string[],
  victim: Victim,
): Promise<FuzzCaller> {
  const pool = newPool();
  for (const known of victim.known) pool.add(known);
  const sent = new Set<string>();
  const leakIn = (text: string): string | undefined => {
    if (text.includes(victim.marker))
      return `it shows what belongs to another user: ${around(text, victim.marker)}`;
    const id = [...victim.ids].find((one) => !sent.has(one) && text.includes(one));
    return id === undefined ? undefined : `it gives away an id of another user: ${around(text, id)}`;
  };
  return {
    name: sub ?? 'a caller without a name',
    token: await signed({ ...(sub !== undefined && { sub }), scopes: [...scopes] }),
    pool,
    leakIn,
    noteSent(text) {
      for (const id of victim.ids) if (text.includes(id)) sent.add(id);
    },
    faultOf(operation, request, answer) {
      const { status, text } = answer;
      const leak = leakIn(text);
      if (leak !== undefined || !isRouted(operation, request)) return leak;
      if (!mayCall(scopes, operation, request)) return refused(403)(operation, request, answer);
      return status === 401 ? `it does not know a good token: ${text.slice(0, 200)}` : undefined;
    },
  };
}

/** May do everything. What belongs to the victim is kept from them, so that it must still be there in the end. */
async function admin(victim: Victim): Promise<FuzzCaller> {
  return {
    name: 'the admin',
    token: await signed({ sub: 'root', scopes: [adminScope] }),
    pool: newPool(new Set([...victim.ids, victim.userId])),
    faultOf: (_operation, _request, { status, text }) =>
      status === 401 ? `it does not know the admin: ${text.slice(0, 200)}` : undefined,
  };
}

/** Whether the request reaches the operation that it was made for. */
function isRouted(operation: Operation, { method, path }: FuzzRequest): boolean {
  return method === operation.method && Object.values(path).every((value) => /^[^%./\\?#]+$/.test(value));
}

/** The rule of the contract in few words, written apart from the service. */
function mayCall(scopes: readonly string[], { scopes: wanted }: Operation, { path }: FuzzRequest): boolean {
  if (wanted === null) return true;
  return wanted.some((required) => {
    const [resource, action] = required.split(':');
    const instance = path.agent_id ?? path.team_id ?? path.workflow_id;
    return scopes.some((scope) => {
      const parts = scope.split(':');
      if (parts[0] !== resource || parts.at(-1) !== action || parts.length > 3) return false;
      return parts.length === 2 || parts[1] === '*' || instance === undefined || parts[1] === instance;
    });
  });
}

function encodedJson(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return text.slice(Math.max(0, at - 150), at + 100);
}
