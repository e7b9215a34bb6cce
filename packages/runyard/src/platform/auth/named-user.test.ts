import { expect, test } from 'vitest';
import { administrator, nobody, person } from '../../../test/support/clients/callers.js';
import { anonymousCaller } from './caller.js';
import { isReservedUser, isServiceAccount, namedBy, userFor } from './named-user.js';

test.each([
  ['anonymous', anonymousCaller, 'bob', 'bob'],
  ['anonymous', anonymousCaller, undefined, null],
  ['a person', person('ada'), 'bob', 'ada'],
  ['a person without isolation', { ...person('ada'), scope: { kind: 'all' } as const }, 'bob', 'ada'],
  ['an admin', administrator('root'), 'bob', 'bob'],
  ['an admin', administrator('root'), undefined, 'root'],
  ['an admin without a name', administrator(null), undefined, null],
  ['nobody', nobody, 'bob', null],
])('%s acts for the right user', (_who, caller, named, user) => {
  expect(userFor(caller, named)).toBe(user);
});

test('reserved names are refused to all but their holder', () => {
  const bot = person('sa:bot');
  for (const name of ['sa:bot', '__scheduler__', '__oauth__:x']) {
    expect(isReservedUser(name)).toBe(true);
    for (const caller of [anonymousCaller, person('ada'), administrator(), nobody, person('sa:other')])
      expect(() => userFor(caller, name)).toThrow(`'${name}' is reserved`);
  }
  expect(userFor(bot, 'sa:bot')).toBe('sa:bot');
  expect(isServiceAccount(bot)).toBe(true);
  expect(['sarah', '__scheduler__x', 'SA:bot'].some(isReservedUser)).toBe(false);
});

test('a name counts only where the caller could be several', () => {
  expect(namedBy(administrator(), 'bob')).toBe('bob');
  expect(namedBy(person('ada'), 'bob')).toBeUndefined();
  expect(namedBy(nobody, 'bob')).toBeUndefined();
});
