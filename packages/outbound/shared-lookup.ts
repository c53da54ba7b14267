/** The system's look-up of host names, for hosts that we configure ourselves. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * A look-up for node:net that asks once about a name, for all connections that wait for its address. Each question
 * occupies one of the two threads that a process has for them until a name server has answered, which takes 10 seconds
 * if none does: a few to a registry whose name servers are down would hold up new connections to all other hosts.
 */
export function createSharedLookup(lookup: LookupFunction = systemLookup): LookupFunction {
  const underWay = new Map<string, Promise<LookupAddress[]>>();
  const find = (hostname: string): Promise<LookupAddress[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
    lookup(hostname, { all: true }, (error, found) => {
      underWay.delete(hostname);
      if (error) reject(error);
      else resolve(found as LookupAddress[]);
    });
    underWay.set(hostname, promise);
    return promise;
  };
  return (hostname, { all }, callback) => {
    (underWay.get(hostname) ?? find(hostname)).then(
      (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)),
      (error) => callback(error, ''),
    );
  };
}
