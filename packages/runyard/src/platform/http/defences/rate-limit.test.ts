import { expect, test } from 'vitest';
import { errors, RunyardError } from '../../../core/errors/errors.js';
import { anonymousCaller, type Caller } from '../../auth/caller.js';
import { RateLimiter } from './rate-limit.js';

const user = (userId: string | null): Caller => ({ ...anonymousCaller, userId, proven: true });

class Clock {
  ms = 0;
  readonly now = () => this.ms;
}

/** Which of so many requests are let through. */
function passed(count: number, take: () => void): number {
  let taken = 0;
  for (let at = 0; at < count; at++) {
    try {
      take();
      taken++;
    } catch (error) {
      if (!(error instanceof RunyardError)) throw error;
    }
  }
  return taken;
}

test('a burst at once, and then as many as the rate allows', () => {
  const clock = new Clock();
  const limiter = new RateLimiter(60, 3, clock.now);
  const ask = () => limiter.takeFor(user('ann'), '1.1.1.1');
  expect(passed(10, ask)).toBe(3);
  clock.ms += 2_000;
  expect(passed(10, ask)).toBe(2);
  clock.ms += 3_600_000;
  expect(passed(10, ask)).toBe(3);
});

test('by default all requests of a minute may come at once', () => {
  expect(passed(20, () => RateLimiter.of({ rateLimit: 7 })?.takeForAddress('1.1.1.1'))).toBe(20);
  const limiter = RateLimiter.of({ rateLimit: 7 })!;
  expect(passed(20, () => limiter.takeForAddress('1.1.1.1'))).toBe(7);
  expect(RateLimiter.of({})).toBeUndefined();
});

test('says when to try again', () => {
  const limiter = new RateLimiter(2, 1, new Clock().now);
  limiter.takeForAddress('1.1.1.1');
  const refused = () => limiter.takeForAddress('1.1.1.1');
  expect(refused).toThrow('Too many requests: the limit is 2 per minute and 1 at once. Try again in 30 s.');
  expect(refused).toThrow(
    expect.objectContaining({ status: 429, options: { headers: { 'retry-after': '30' } } }),
  );
});

test('people are distinguished by who they are, others by where they are', () => {
  const limiter = new RateLimiter(60, 1, new Clock().now);
  const ask = (caller: Caller, address: string) => passed(1, () => limiter.takeFor(caller, address)) === 1;
  expect(ask(user('ann'), '1.1.1.1')).toBe(true);
  expect(ask(user('ann'), '2.2.2.2')).toBe(false);
  expect(ask(user('bob'), '1.1.1.1')).toBe(true);
  expect(ask(anonymousCaller, '1.1.1.1')).toBe(true);
  expect(ask({ ...anonymousCaller, userId: 'claimed' }, '1.1.1.1')).toBe(false);
  expect(ask(user(null), '1.1.1.1')).toBe(false);
  // a person may be called like an address
  expect(ask(user('address 1.1.1.1'), '9.9.9.9')).toBe(true);
});

test('a network of IPv6 is one place', () => {
  const limiter = new RateLimiter(60, 1, new Clock().now);
  const ask = (address: string) => passed(1, () => limiter.takeForAddress(address)) === 1;
  expect(ask('2a00:1450:1:2::1')).toBe(true);
  expect(ask('2a00:1450:1:2:ffff:0:0:9')).toBe(false);
  expect(ask('2A00:1450:0001:0002::77%eth0')).toBe(false);
  expect(ask('2a00:1450:1:3::1')).toBe(true);
  expect(ask('::1')).toBe(true);
  expect(ask('::2')).toBe(false);
});

test('wrong tokens count for their address, and take nothing from callers with a valid one', () => {
  const limiter = new RateLimiter(60, 2, new Clock().now);
  const wrong = () => limiter.takeForRefused(errors.securityKeyWrong(), '1.1.1.1');
  expect(passed(5, wrong)).toBe(2);
  expect(passed(5, () => limiter.takeFor(user(null), '1.1.1.1'))).toBe(2);
  // what is no wrong token is no try
  expect(passed(5, () => limiter.takeForRefused(new Error('database gone'), '2.2.2.2'))).toBe(5);
});

test('remembers a bounded number of callers, the latest ones', () => {
  const clock = new Clock();
  const limiter = new RateLimiter(1, 1, clock.now, 100);
  for (let at = 0; at < 10_000; at++) limiter.takeForAddress(`address-${at}`);
  expect(passed(1, () => limiter.takeForAddress('address-9999'))).toBe(0);
  expect(passed(1, () => limiter.takeForAddress('address-0'))).toBe(1);
});

test('a caller who keeps asking is not forgotten', () => {
  const clock = new Clock();
  const limiter = new RateLimiter(60, 10, clock.now);
  let taken = 0;
  for (let at = 0; at < 600; at++) {
    taken += passed(1, () => limiter.takeForAddress('1.1.1.1'));
    clock.ms += 100;
  }
  expect(taken).toBeLessThanOrEqual(70);
});
