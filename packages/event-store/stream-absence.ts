/**
 * Only a majority of the nodes can say that something does not exist. A leader that was frozen does not know yet that
 * it has been replaced, and answers from its old state; but what is committed is on a majority, so that at least one of
 * the nodes that answer here has it.
 */
import type { EventStoreDBClient } from '@eventstore/db-client';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import messages from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { describe } from './errors.ts';
import { EventStoreUnavailable } from './event-store.ts';
import { hooksOf } from './new-client.ts';
import type { Reads } from './read.ts';

/**
 * How long a majority waits for the others: one of them may have what followers cannot read yet, because the leader tells
 * them a moment after it has acknowledged an append. A node that stands still does not answer before its deadline.
 */
const othersMs = 500;

/** The leader's reads, except that a majority has to agree when there is no such stream. */
export function confirmAbsence(dependencies: {
  leader: Reads;
  members(): Promise<string[]>;
  /** The reads of one node, whatever it believes of itself. */
  readsOf(address: string): Reads;
  runtime: Pick<Runtime, 'sleep'>;
}): Reads {
  const { leader, members, readsOf, runtime } = dependencies;
  async function ask<Found>(
    read: (reads: Reads) => Promise<Found>,
    isFound: (found: Found) => boolean,
  ): Promise<Found> {
    const first = await read(leader);
    if (isFound(first)) return first;
    const addresses = await members().catch((error: unknown) => {
      throw new EventStoreUnavailable(`Cannot ask which nodes there are: ${describe(error)}`, {
        cause: error,
      });
    });
    let absences = 0;
    let silent = addresses.length;
    const conclusive = addresses.map(async (address) => {
      const answer = await read(readsOf(address)).finally(() => {
        silent -= 1;
      });
      if (isFound(answer)) return answer;
      absences += 1;
      if (absences * 2 <= addresses.length) throw new Error(`${address} alone says that there is none`);
      if (silent > 0) await runtime.sleep(othersMs);
      return first;
    });
    return await Promise.any(conclusive).catch((cause: unknown) => {
      const message = 'Too few nodes answer to tell that there is no such stream';
      throw new EventStoreUnavailable(message, { cause });
    });
  }

  return {
    ...leader,
    async load(streamName, from = 0, limit) {
      if (from > 0) return await leader.load(streamName, from, limit);
      return await ask(
        ({ load }) => load(streamName, from, limit),
        (events) => events.length > 0,
      );
    },
    loadLast: (streamName) =>
      ask(
        ({ loadLast }) => loadLast(streamName),
        (event) => event !== null,
      ),
  };
}

const { PREREADONLYREPLICA, READONLYLEADERLESS, READONLYREPLICA } = messages.MemberInfo.VNodeState;
/** An append is acknowledged without those that only follow, so they are no part of the majority. */
const readOnly: readonly number[] = [PREREADONLYREPLICA, READONLYLEADERLESS, READONLYREPLICA];

/** The addresses of all nodes that elect a leader, as the one that the client is connected to knows them. */
export function readMembers(client: EventStoreDBClient): Promise<string[]> {
  const { execute, callArguments } = hooksOf(client);
  const read = (gossip: GossipClient) =>
    new Promise<string[]>((resolve, reject) => {
      gossip.read(new shared.Empty(), ...callArguments({}), (error, info) => {
        if (error) return reject(error);
        const electing = info.getMembersList().filter((member) => !readOnly.includes(member.getState()));
        const endpoints = electing.map((member) => member.getHttpEndPoint());
        resolve(endpoints.flatMap((each) => (each ? [`${each.getAddress()}:${each.getPort()}`] : [])));
      });
    });
  return execute(GossipClient, 'members', read);
}
