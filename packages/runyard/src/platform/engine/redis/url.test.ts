import { describe, expect, test } from 'vitest';
import { loadSettings } from '../../settings/config.js';
import { redisAddress } from './url.js';

describe('the URL of a Redis', () => {
  test.each([
    ['redis://cache', { host: 'cache', port: 6379, db: 0, tls: false, location: 'redis://cache:6379/0' }],
    ['redis://:p%40ss@10.0.0.1:7000/3', { host: '10.0.0.1', port: 7000, password: 'p@ss', db: 3 }],
    ['rediss://app:secret@cache/', { username: 'app', password: 'secret', tls: true, db: 0 }],
    ['redis://[::1]:6380', { host: '::1', port: 6380, location: 'redis://[::1]:6380/0' }],
  ])('%s is understood', (url, parts) => {
    expect(redisAddress(url)).toMatchObject(parts);
  });

  test.each([
    'cache:6379',
    '/var/run/redis.sock',
    'unix:///var/run/redis.sock',
    'http://cache:6379',
    'redis://',
    'redis://cache/name',
    'redis://cache/0/1',
    'redis://cache?family=6',
    'redis://cache#0',
    'redis://:%E0%A4%A@cache',
  ])('%s is refused', (url) => {
    expect(redisAddress(url)).toBeUndefined();
  });

  test('is never repeated by an error or where it was read', () => {
    const refused = () => loadSettings({ env: { RUNYARD_REDIS_URL: 'redis://:hidden@cache/name' } });
    expect(refused).toThrow(/RUNYARD_REDIS_URL.*not shown.*rediss:\/\/user:password@host:6379\/0/);
    expect(refused).not.toThrow(/hidden/);
    expect(redisAddress('rediss://app:hidden@cache')?.location).toBe('rediss://cache:6379/0');
  });
});
