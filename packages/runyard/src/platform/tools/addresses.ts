import { BlockList, isIP } from 'node:net';

/** Networks that are not the public internet: private, link-local, loopback, reserved, multicast, documentation. */
const closedNetworks: readonly (readonly [address: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Parts of the public range of version 6 that lead elsewhere: tunnels to version 4 and reserved ones. */
const closedNetworks6: readonly (readonly [address: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const closed = new BlockList();
for (const [address, prefix] of closedNetworks) closed.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of closedNetworks6) closed.addSubnet(address, prefix, 'ipv6');

const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an address is a part of the public internet. What is not known to be is not. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !closed.check(address, 'ipv4');
  return version === 6 && globalUnicast.check(address, 'ipv6') && !closed.check(address, 'ipv6');
}
