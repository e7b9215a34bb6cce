import { BlockList, isIP, isIPv6 } from 'node:net';

/** Addresses that lead to this machine, into a private network, or nowhere: RFC 6890 and its successors. */
const specialIPv4 = [
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
] as const;
const specialIPv6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

/** Created at the first use: a start needs none of them. */
let networks: ReturnType<typeof makeNetworks> | undefined;

function makeNetworks() {
  const [special, global] = [new BlockList(), new BlockList()];
  for (const [network, prefix] of specialIPv4) special.addSubnet(network, prefix, 'ipv4');
  for (const [network, prefix] of specialIPv6) special.addSubnet(network, prefix, 'ipv6');
  // Of IPv6 only what is given out as global unicast leads anywhere public, without the parts of it that hold others.
  global.addSubnet('2000::', 3, 'ipv6');
  return { special, global };
}

/** Whether an address is publicly reachable: not this machine, not a network around it. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) === 0) return false;
  networks ??= makeNetworks();
  const { special, global } = networks;
  if (!isIPv6(plain)) return !special.check(plain, 'ipv4');
  // An IPv4 address in the clothes of IPv6 lies outside of 2000::/3 and is refused with all else out there.
  return global.check(plain, 'ipv6') && !special.check(plain, 'ipv6');
}
