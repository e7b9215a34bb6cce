import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { ClientAddresses, isNetwork } from './client-address.js';

const proxies = ['10.0.0.0/8', '192.168.1.1', 'fd00::/8'];

function addressOf(remoteAddress: string, forwarded?: string, trusted: readonly string[] = proxies): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return new ClientAddresses(trusted).of({ socket: { remoteAddress }, headers } as IncomingMessage);
}

test.each([
  ['nobody is trusted', '10.0.0.1', '1.2.3.4', [], '10.0.0.1'],
  ['a stranger says so', '8.8.8.8', '1.2.3.4', proxies, '8.8.8.8'],
  ['a proxy says so', '10.0.0.1', '1.2.3.4', proxies, '1.2.3.4'],
  ['the client wrote a part of it', '10.0.0.1', '9.9.9.9, 1.2.3.4', proxies, '1.2.3.4'],
  ['it came through several', '10.0.0.1', '9.9.9.9, 1.2.3.4, 192.168.1.1,10.9.9.9', proxies, '1.2.3.4'],
  ['all of them are ours', '10.0.0.1', '10.0.0.3, 10.0.0.2', proxies, '10.0.0.3'],
  ['a socket shows IPv4 as IPv6', '::ffff:10.0.0.1', '1.2.3.4', proxies, '1.2.3.4'],
  ['it has a port', '10.0.0.1', '1.2.3.4:5678', proxies, '1.2.3.4'],
  ['it is IPv6 with a port', 'fd00::1', '[2a00::1]:443', proxies, '2a00::1'],
  ['it is no address', '10.0.0.1', '1.2.3.4, unknown', proxies, '10.0.0.1'],
  ['it is empty', '10.0.0.1', '', proxies, '10.0.0.1'],
  ['it ends in nothing', '10.0.0.1', '1.2.3.4,', proxies, '10.0.0.1'],
  ['it tries to break a line', '10.0.0.1', '1.2.3.4\r\nx', proxies, '10.0.0.1'],
  ['there is none', '10.0.0.1', undefined, proxies, '10.0.0.1'],
])('when %s', (_, remote, forwarded, trusted, expected) => {
  expect(addressOf(remote, forwarded, trusted)).toBe(expected);
});

test('networks are distinguished from other texts', () => {
  for (const text of ['10.0.0.0/8', '127.0.0.1', '::1', 'fd00::/8', '0.0.0.0/0'])
    expect([text, isNetwork(text)]).toEqual([text, true]);
  for (const text of [
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    'proxy',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '::1%eth0',
  ])
    expect([text, isNetwork(text)]).toEqual([text, false]);
});
