/**
 * Mends two faults of grpc-js, which makes the connections of the official client. It waits without limit for a server's
 * first answers over a connection, and channels with the same settings share what they wait for: after that server is gone,
 * nothing connects any more. And after a failed attempt it connects once more, although the channel has been closed meanwhile.
 */
import { once } from 'node:events';
import { connect as connectTo, type Socket } from 'node:net';
import { Subchannel } from '@grpc/grpc-js/build/src/subchannel.js';
import type { SubchannelAddress } from '@grpc/grpc-js/build/src/subchannel-address.js';
import { Http2SubchannelConnector } from '@grpc/grpc-js/build/src/transport.js';

const silentForMs = 5_000;

type Connector = {
  isConnecting?: boolean;
  tcpConnect(address: SubchannelAddress, options: object): Promise<Socket>;
  connect(...given: unknown[]): Promise<unknown>;
};
const connector = Http2SubchannelConnector.prototype as unknown as Connector;
const { connect, tcpConnect } = connector;
connector.tcpConnect = async function (address, options) {
  // What a proxy connects, if a variable of the environment names one, is not limited.
  if ('grpc.http_connect_target' in options) return await tcpConnect.call(this, address, options);
  const socket = connectTo({ ...address, timeout: silentForMs });
  socket.once('timeout', () => {
    if (this.isConnecting) socket.destroy(new Error(`No answer within ${silentForMs} ms`));
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};
connector.connect = function (...given) {
  this.isConnecting = true;
  return connect.apply(this, given).finally(() => {
    this.isConnecting = false;
  });
};

type Waiting = { refcount: number; continueConnecting: boolean; handleBackoffTimer(): void };
const waiting = Subchannel.prototype as unknown as Waiting;
const { handleBackoffTimer } = waiting;
waiting.handleBackoffTimer = function () {
  this.continueConnecting &&= this.refcount > 0;
  handleBackoffTimer.call(this);
};
