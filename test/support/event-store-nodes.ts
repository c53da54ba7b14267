/** What the nodes of a cluster have in common, for the double on real ports and for the simulator. */
import messages from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { status as grpcStatus, Metadata } from '@grpc/grpc-js';
import type { Storage } from '../../packages/embedded/eventstore/storage.ts';

/** The storage as a node sees it: without what has not reached it. */
export function seenBy(storageOf: () => Storage, lastSeen: () => number): Storage {
  const page: Storage['page'] = (request) => {
    const limit = lastSeen();
    const isAll = request.stream === undefined;
    const from = isAll && request.direction === 'backwards' ? Math.min(request.from, limit) : request.from;
    const found = storageOf().page({ ...request, from });
    const seen = found.filter(({ position }) => position <= limit);
    const last = found.at(-1);
    if (seen.length > 0 || !last || isAll || request.direction === 'forwards') return seen;
    return page({ ...request, from: last.revision - 1 });
  };
  return {
    ...storageOf(),
    page,
    head(stream) {
      const [last] = page({ stream, from: Number.MAX_SAFE_INTEGER, direction: 'backwards', limit: 1 });
      return last?.revision ?? -1;
    },
    lastPosition: () => Math.min(storageOf().lastPosition(), lastSeen()),
  };
}

/** The error of a node that is not the leader, and where it believes the leader to be; `''` or 0 if it does not know. */
export function notLeader(host: string, port: number) {
  const metadata = new Metadata();
  metadata.set('exception', 'not-leader');
  metadata.set('leader-endpoint-host', host);
  metadata.set('leader-endpoint-port', String(port));
  return { code: grpcStatus.NOT_FOUND, details: 'Leader info available', metadata };
}

export type Member = { host: string; port: number; isAlive?: boolean; state?: number };

/** A handler of Gossip.Read. */
export function answerMembers(members: readonly Member[] | (() => readonly Member[])) {
  return (_: unknown, answer: (error: null, info: unknown) => void) => {
    const info = new messages.ClusterInfo();
    const all = typeof members === 'function' ? members() : members;
    for (const [index, { host, port, isAlive = true, state = 0 }] of all.entries()) {
      const member = new messages.MemberInfo();
      const endpoint = new messages.EndPoint();
      endpoint.setAddress(host);
      endpoint.setPort(port);
      const id = new shared.UUID();
      id.setString(`00000000-0000-4000-8000-00000000000${index}`);
      member.setInstanceId(id);
      member.setHttpEndPoint(endpoint);
      member.setIsAlive(isAlive);
      member.setState(state);
      info.addMembers(member);
    }
    answer(null, info);
  };
}
