import { expect, it } from 'vitest';
import { hashOfToken, newAccountToken } from '../../../src/capabilities/service-accounts/token.js';
import type { Database } from '../../../src/platform/storage/database.js';
import {
  AccountsProcess,
  adminScope,
  anAccount,
  anonymous,
  holding,
  keyHolder,
} from '../../support/components/service-accounts.js';
import { forEachDatabase } from '../../support/databases.js';
import { until } from '../../support/until.js';

const refused = '401 Invalid or expired service account token';
const minute = 60_000;
const day = 86_400_000;

/** The rows as they lie in the database. */
function rowsOf(database: Database) {
  return database.query.selectFrom('service_accounts').selectAll().execute();
}

forEachDatabase((_dialect, freshPlace) => {
  async function aProcess(cacheSeconds?: number): Promise<{ process: AccountsProcess; database: Database }> {
    const database = await (await freshPlace()).open();
    return { process: new AccountsProcess(database, cacheSeconds), database };
  }

  it('makes an account whose token is shown once and stored nowhere', async () => {
    const { process, database } = await aProcess();
    const before = Date.now();
    const { account, token } = await process.accounts.create(keyHolder, anAccount({ expiresInDays: 30 }));
    expect(account).toMatchObject({
      name: 'ci-bot',
      userId: null,
      createdBy: null,
      tokenPrefix: token.slice(0, 16),
    });
    expect(account.expiresAt).toBe(account.createdAt + 30 * day);
    expect(account.createdAt).toBeGreaterThanOrEqual(before);
    const [row] = await rowsOf(database);
    expect(row!.token_hash).toBe(hashOfToken(token));
    expect(JSON.stringify(row)).not.toContain(token.slice(16));
    expect(await process.tokens.verify(token, 'here')).toEqual({
      accountId: account.id,
      principal: 'sa:ci-bot',
      madeBy: account.userId,
      scopes: ['agents:run', 'teams:run', 'workflows:run', 'sessions:read', 'config:read'],
      expiresAt: account.expiresAt,
    });
  });

  it('refuses unknown, revoked and expired tokens in the same words', async () => {
    const { process } = await aProcess();
    const { accounts } = process;
    const revoked = await accounts.create(keyHolder, anAccount({ name: 'revoked' }));
    const expiring = await accounts.create(keyHolder, anAccount({ name: 'expiring', expiresInDays: 1 }));
    const lasting = await accounts.create(keyHolder, anAccount({ name: 'lasting', expiresInDays: null }));
    for (const { token } of [revoked, expiring, lasting])
      expect(await process.outcome(token)).toMatch(/^sa:/);
    await accounts.revoke(revoked.account.id);
    expect(await process.outcome(revoked.token)).toBe(refused);
    process.advance(day + minute);
    expect(await process.outcome(expiring.token)).toBe(refused);
    expect(await process.outcome(newAccountToken().token)).toBe(refused);
    expect(await process.outcome('runyard_pat_short')).toBe(refused);
    expect(await process.outcome(`${lasting.token} `)).toBe(refused);
    process.advance(3650 * day);
    expect(await process.outcome(lasting.token)).toBe('sa:lasting');
  });

  it('notices that an account has expired although it was found a moment ago', async () => {
    const { process } = await aProcess(3600);
    const { token } = await process.accounts.create(keyHolder, anAccount({ expiresInDays: 1 }));
    process.advance(day - minute);
    expect(await process.outcome(token)).toBe('sa:ci-bot');
    process.advance(2 * minute);
    expect(await process.outcome(token)).toBe(refused);
  });

  it('gives a name to one of several simultaneous requests for it', async () => {
    const place = await freshPlace();
    const processes = await Promise.all([1, 2].map(async () => new AccountsProcess(await place.open())));
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => processes[index % 2]!.accounts.create(keyHolder, anAccount())),
    );
    const made = asked.filter((result) => result.status === 'fulfilled');
    const lost = asked.filter((result) => result.status === 'rejected');
    expect(made).toHaveLength(1);
    expect(new Set(lost.map(({ reason }) => `${reason.status} ${reason.message}`))).toEqual(
      new Set(["409 An active service account named 'ci-bot' already exists. Revoke it first to rotate."]),
    );
    expect(await processes[1]!.outcome(made[0]!.value.token)).toBe('sa:ci-bot');
  });

  it('keeps the name of an expired account until it is revoked, and the row after that', async () => {
    const { process, database } = await aProcess();
    const { accounts } = process;
    const first = await accounts.create(keyHolder, anAccount());
    await database.query.updateTable('service_accounts').set({ expires_at: 1 }).execute();
    await expect(accounts.create(keyHolder, anAccount())).rejects.toMatchObject({ status: 409 });
    await accounts.revoke(first.account.id);
    const second = await accounts.create(keyHolder, anAccount());
    expect(await process.outcome(second.token)).toBe('sa:ci-bot');
    expect(await process.outcome(first.token)).toBe(refused);
    expect(await rowsOf(database)).toHaveLength(2);
  });

  it('revokes once: a second time changes nothing', async () => {
    const { process, database } = await aProcess();
    const { account } = await process.accounts.create(keyHolder, anAccount());
    await process.accounts.revoke(account.id);
    const [row] = await rowsOf(database);
    expect(row!.revoked_at).toEqual(expect.any(Number));
    await process.accounts.revoke(account.id);
    expect(await rowsOf(database)).toEqual([row]);
    await expect(process.accounts.revoke('nope')).rejects.toMatchObject({
      status: 404,
      message: "Service account 'nope' not found",
    });
  });

  it('refuses a revoked account at once here, and elsewhere when it is looked up again', async () => {
    const place = await freshPlace();
    const [here, elsewhere] = await Promise.all(
      [1, 2].map(async () => new AccountsProcess(await place.open())),
    );
    const { account, token } = await here!.accounts.create(keyHolder, anAccount());
    for (const process of [here!, elsewhere!]) expect(await process.outcome(token)).toBe('sa:ci-bot');
    await here!.accounts.revoke(account.id);
    expect(await here!.outcome(token)).toBe(refused);
    elsewhere!.advance(29_000);
    expect(await elsewhere!.outcome(token)).toBe('sa:ci-bot');
    elsewhere!.advance(1_000);
    expect(await elsewhere!.outcome(token)).toBe(refused);
  });

  it('stops trusting what was looked up while something was revoked', async () => {
    const place = await freshPlace();
    const [here, elsewhere] = await Promise.all(
      [1, 2].map(async () => new AccountsProcess(await place.open(), 3600)),
    );
    const { account, token } = await here!.accounts.create(keyHolder, anAccount());
    const looking = here!.outcome(token);
    here!.tokens.forget(account.id);
    expect(await looking).toBe('sa:ci-bot');
    await elsewhere!.accounts.revoke(account.id);
    expect(await here!.outcome(token)).toBe(refused);
  });

  it('looks up each time when nothing is to be trusted', async () => {
    const place = await freshPlace();
    const [here, elsewhere] = await Promise.all(
      [1, 2].map(async () => new AccountsProcess(await place.open(), 0)),
    );
    const { account, token } = await here!.accounts.create(keyHolder, anAccount());
    expect(await elsewhere!.outcome(token)).toBe('sa:ci-bot');
    await here!.accounts.revoke(account.id);
    expect(await elsewhere!.outcome(token)).toBe(refused);
  });

  it('limits wrong tokens by their address, and never a valid one', async () => {
    const { process } = await aProcess(0);
    const { token } = await process.accounts.create(keyHolder, anAccount());
    const wrong = () => process.outcome(newAccountToken().token);
    const first = await Promise.all(Array.from({ length: 20 }, wrong));
    expect(new Set(first)).toEqual(new Set([refused]));
    const limited = '429 Too many failed authentication attempts';
    expect(await wrong()).toBe(limited);
    expect(await process.outcome('runyard_pat_short')).toBe(limited);
    // in the middle of a flood, too
    const flood = Array.from({ length: 2000 }, wrong);
    expect(await process.outcome(token)).toBe('sa:ci-bot');
    expect(new Set(await Promise.all(flood))).toEqual(new Set([limited]));
    expect(await process.outcome(newAccountToken().token, '198.51.100.1')).toBe(refused);
    const error = await process.tokens
      .verify(newAccountToken().token, '203.0.113.7')
      .catch((caught) => caught);
    expect(Number(error.options.headers['retry-after'])).toSatisfy((wait: number) => wait >= 1 && wait <= 60);
    expect(process.logged.filter(({ level }) => level === 'warn')).toHaveLength(1);
    process.advance(60_000);
    expect(await wrong()).toBe(refused);
  });

  it('distinguishes a database that does not answer from a wrong token, and does not count it', async () => {
    const { process, database } = await aProcess(30);
    const made = await process.accounts.create(keyHolder, anAccount());
    expect(await process.outcome(made.token)).toBe('sa:ci-bot');
    await until('its use is noted', async () => (await rowsOf(database))[0]!.last_used_at !== null);
    await database.close();
    const unavailable = '503 Authentication is temporarily unavailable';
    for (let count = 0; count < 25; count++)
      expect(await process.outcome(newAccountToken().token)).toBe(unavailable);
    // what was found a moment ago is still trusted
    expect(await process.outcome(made.token)).toBe('sa:ci-bot');
    process.advance(30_000);
    expect(await process.outcome(made.token)).toBe(unavailable);
    expect(await process.outcome('runyard_pat_short')).toBe(refused);
  });

  it('notes the use of an account, at most once a minute, whichever process it is used in', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const [first, second] = [new AccountsProcess(database, 0), new AccountsProcess(database, 0)];
    const { token, account } = await first.accounts.create(keyHolder, anAccount());
    const usedAt = async () => (await rowsOf(database)).find(({ id }) => id === account.id)!.last_used_at;
    expect(await usedAt()).toBeNull();
    await first.outcome(token);
    const noted = await until('its use is noted', async () => (await usedAt()) ?? undefined);
    first.advance(59_000);
    second.advance(59_000);
    for (const process of [first, second, first]) await process.outcome(token);
    const other = await first.accounts.create(keyHolder, anAccount({ name: 'other' }));
    await first.outcome(other.token);
    // begun after all that must not be there
    await until('the other is noted', async () =>
      (await rowsOf(database)).some(
        ({ id, last_used_at }) => id === other.account.id && last_used_at !== null,
      ),
    );
    expect(await usedAt()).toBe(noted);
    second.advance(1_001);
    await second.outcome(token);
    await until('the second use is noted', async () => (await usedAt()) !== noted);
    expect((await usedAt())!).toBeGreaterThanOrEqual(noted + 60_000);
  });

  it('grants no more than the maker of the account holds', async () => {
    const { process, database } = await aProcess();
    const create = (
      minter: Parameters<typeof process.accounts.create>[0],
      scopes: string[] | null,
      allow = true,
    ) =>
      process.accounts
        .create(
          minter,
          anAccount({
            name: `a-${Math.random().toString(36).slice(2)}`,
            scopes,
            allowPrivilegedScopes: allow,
          }),
        )
        .then(
          ({ account }) => account.scopes,
          (error) => `${error.status} ${error.message}`,
        );
    const notHeld = (...scopes: string[]) =>
      `403 Cannot grant scope(s) you do not hold: ${scopes.join(', ')}`;

    const scoped = holding('agents:run', 'teams:crew:run', 'service_accounts:write');
    expect(await create(scoped, ['agents:writer:run', 'agents:*:run', 'teams:crew:run'])).toHaveLength(3);
    expect(await create(scoped, ['agents:run', 'agents:read', 'teams:run'])).toBe(
      notHeld('agents:read', 'teams:run'),
    );
    expect(await create(scoped, null)).toBe(
      notHeld('teams:run', 'workflows:run', 'sessions:read', 'config:read'),
    );
    expect(await create(scoped, [adminScope])).toBe(notHeld(adminScope));
    expect(await create(holding('agent_os:*:admin', 'agent_os:x:admin'), [adminScope])).toBe(
      notHeld(adminScope),
    );
    expect(await create(holding(), [])).toEqual([]);
    expect(await create(holding(adminScope), [adminScope, 'sessions:delete'])).toHaveLength(2);
    expect(await create(keyHolder, [adminScope])).toEqual([adminScope]);
    expect(await create(anonymous, ['agents:run'])).toBe(
      '401 JWT authentication is required to mint a service account.',
    );
    expect((await rowsOf(database)).map(({ created_by }) => created_by).sort()).toEqual([
      'ada',
      'ada',
      'ada',
      null,
    ]);
  });

  it('lists in pages without losing or repeating any, in the order that was asked for', async () => {
    const { process, database } = await aProcess();
    const { accounts } = process;
    const names = ['b', 'a', 'e_e', 'd-d', 'c', 'a1'];
    for (const name of names)
      await accounts.create(keyHolder, anAccount({ name, expiresInDays: name > 'c' ? null : 1 }));
    // all at one time, so that only the tie-breaker distinguishes them
    await database.query.updateTable('service_accounts').set({ created_at: 5 }).execute();
    const pages = async (sortBy: string, sortOrder: string) => {
      const found: string[] = [];
      for (const page of [1, 2, 3, 4]) {
        const list = await accounts.list({ limit: 2, page, includeRevoked: true, sortBy, sortOrder });
        expect(list.total).toBe(names.length);
        found.push(...list.items.map(({ name }) => name));
      }
      return found;
    };
    const sorted = [...names].sort();
    expect(await pages('name', 'asc')).toEqual(sorted);
    expect(await pages('name', 'anything')).toEqual([...sorted].reverse());
    for (const sortBy of ['created_at', 'nonsense', 'last_used_at', 'expires_at', 'token_hash']) {
      for (const sortOrder of ['asc', 'desc'])
        expect((await pages(sortBy, sortOrder)).sort()).toEqual(sorted);
    }
    // accounts that never expire come after those that do, both ways
    for (const sortOrder of ['asc', 'desc']) {
      const found = await pages('expires_at', sortOrder);
      expect(found.slice(4).sort()).toEqual(['d-d', 'e_e']);
    }
  });

  it('leaves out revoked accounts unless they are asked for', async () => {
    const { process } = await aProcess();
    const { accounts } = process;
    const { account } = await accounts.create(keyHolder, anAccount({ name: 'gone' }));
    await accounts.create(keyHolder, anAccount({ name: 'here' }));
    await accounts.revoke(account.id);
    const list = async (includeRevoked: boolean) => {
      const request = { limit: 20, page: 1, sortBy: 'name', sortOrder: 'asc', includeRevoked };
      const { items, total } = await accounts.list(request);
      expect(total).toBe(items.length);
      return items.map(({ name, revokedAt }) => [name, revokedAt !== null]);
    };
    expect(await list(true)).toEqual([
      ['gone', true],
      ['here', false],
    ]);
    expect(await list(false)).toEqual([['here', false]]);
  });
});
