/**
 * Which addresses a request to somebody else's host may reach: public ones. Checked in the look-up of the very
 * connection that is being made, so that no second answer of a name server can come in between.
 */
import { lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** The host is, or resolves to, an address that is not public. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
  readonly code = 'ERR_ADDRESS_REFUSED';
}

// IANA's registries of special-purpose addresses, and multicast; documentation ranges included.
const notPublicV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
// Of IPv6 only 2000::/3 is given out for public use; these are its exceptions. IPv4 that is wrapped into IPv6, mapped
// (::ffff:0:0/96), by a translator (64:ff9b::/96) or a tunnel (2001::/32, 2002::/16), is refused whatever it wraps.
const publicV6 = '2000::/3';
const notPublicV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const refused = blockList([...notPublicV4, ...notPublicV6]);
const givenOut = blockList([publicV6]);

/** Whether an IP address, in any notation, is one that strangers on the internet could have. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4');
    case 6:
      return givenOut.check(address, 'ipv6') && !refused.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Every address of a host, IPv4 first. Rejects when the name is unknown or no name server answered. */
export type Resolve = (hostname: string) => Promise<string[]>;

/**
 * A look-up for node:net that throws AddressRefused when any of the host's addresses is not public. Hosts that are
 * `allowed` are looked up as the system does it, with /etc/hosts, and may be anywhere.
 */
export function createGuardedLookup(allowed: ReadonlySet<string>, resolve: Resolve = resolvePublic) {
  const lookup: LookupFunction = (hostname, options, callback) => {
    if (allowed.has(hostname)) {
      systemLookup(hostname, options, callback);
      return;
    }
    const found = resolve(hostname).then((addresses) => {
      if (addresses.length === 0) throw new AddressRefused('The host has no address');
      if (!addresses.every(isPublicAddress)) throw new AddressRefused('The host has an address not public');
      return addresses.map((address) => ({ address, family: isIP(address) }));
    });
    found.then(
      (all) => {
        const [first] = all;
        if (options.all) callback(null, all);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error) => callback(error, ''),
    );
  };
  return lookup;
}

/**
 * Asks the name servers itself: the system's look-up occupies one of the few threads of the process until it
 * answers, so that four dead names would hold up every other one.
 */
async function resolvePublic(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [v4, v6].flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
  return found;
}

function blockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), isIP(network) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
