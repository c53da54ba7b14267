/**
 * Requests to hosts that other people chose may only reach public addresses. The check is part of the look-up that the
 * connection itself makes, so a name server cannot give the connection another address than the one checked.
 */
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import outbound from './outbound.json' with { type: 'json' };
import { createSharedLookup } from './shared-lookup.ts';

/** The host is, or resolves to, an address that is not public. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
  readonly code = 'ERR_ADDRESS_REFUSED';
}

// IPv4: IANA's registries of special-purpose addresses, documentation ranges included, and multicast. Most clouds'
// metadata addresses are in them; Azure's is a public one.
// IPv6: only 2000::/3 is allocated for public use; the others are its exceptions. IPv4 inside IPv6 is refused whatever
// its address: mapped (::ffff:0:0/96), translated (64:ff9b::/96) or tunnelled (2001::/32, 2002::/16).
const { notPublicV4, publicV6, notPublicV6 } = outbound.networks;

const refused = blockList([...notPublicV4, ...notPublicV6]);
const allocated = blockList(publicV6);

/** Accepts an IP address in any notation; false for anything else. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !refused.check(address, 'ipv4');
  return version === 6 && allocated.check(address, 'ipv6') && !refused.check(address, 'ipv6');
}

/** Checks an IP address in the URL itself, which needs no look-up. Throws AddressRefused. */
export function checkUrl(
  { protocol, hostname }: URL,
  allowed: ReadonlySet<string>,
  httpsOnly: boolean,
): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isAllowed = allowed.has(host);
  if (protocol !== 'https:' && !(protocol === 'http:' && (isAllowed || !httpsOnly)))
    throw new AddressRefused('The address is not https');
  if (isIP(host) !== 0 && !isAllowed && !isPublicAddress(host))
    throw new AddressRefused('The address is not public');
}

/** Every address of a host, IPv4 first. Rejects when the name is unknown or no name server answered. */
export type Resolve = (hostname: string) => Promise<string[]>;

/**
 * A look-up for node:net that fails with AddressRefused when any of the host's addresses is not public. `allowed` hosts
 * may be anywhere, and the system looks them up, /etc/hosts included.
 */
export function createGuardedLookup(allowed: ReadonlySet<string>, resolve: Resolve = resolvePublic) {
  const trusted = createSharedLookup();
  const publicAddresses = async (hostname: string) => {
    const addresses = await resolve(hostname);
    if (!addresses.every(isPublicAddress)) throw new AddressRefused('The host has a non-public address');
    const [first, ...others] = addresses.map((address) => ({ address, family: isIP(address) }));
    if (!first) throw new AddressRefused('The host has no address');
    return { first, others };
  };
  const lookup: LookupFunction = (hostname, options, callback) => {
    if (allowed.has(hostname)) trusted(hostname, options, callback);
    else
      publicAddresses(hostname).then(
        ({ first, others }) =>
          options.all ? callback(null, [first, ...others]) : callback(null, first.address, first.family),
        (error) => callback(error, ''),
      );
  };
  return lookup;
}

/**
 * Asks the name servers directly: the system's look-up occupies one of the process's few threads until it answers, so
 * four names whose servers are down would hold up all others.
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
