/**
 * Mends two faults of grpc-js, which makes the connections of the official client. It waits for ever for a server's first
 * answer over a connection, and channels with the same settings share what they wait for: after that server is gone, nothing
 * connects any more. And after a failed attempt it connects once more, although the channel has been closed meanwhile.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Subchannel } from '@grpc/grpc-js/build/src/subchannel.js';
import type { SubchannelAddress } from '@grpc/grpc-js/build/src/subchannel-address.js';
import { Http2SubchannelConnector } from '@grpc/grpc-js/build/src/transport.js';

const answerWithinMs = 5_000;

type Connector = { tcpConnect(address: SubchannelAddress, options: object): Promise<Socket> };
const connector = Http2SubchannelConnector.prototype as unknown as Connector;
const { tcpConnect } = connector;
connector.tcpConnect = async function (address, options) {
  // A proxy that a variable of the environment names has answered before the server does.
  if ('grpc.http_connect_target' in options) return await tcpConnect.call(this, address, options);
  const socket = connect({ ...address, timeout: answerWithinMs });
  socket.once('timeout', () => {
    if (socket.bytesRead === 0) socket.destroy(new Error(`No answer within ${answerWithinMs} ms`));
  });
  await once(
    socket.on('error', () => {}),
    'connect',
  );
  return socket;
};

type Waiting = { refcount: number; continueConnecting: boolean; handleBackoffTimer(): void };
const waiting = Subchannel.prototype as unknown as Waiting;
const { handleBackoffTimer } = waiting;
waiting.handleBackoffTimer = function () {
  this.continueConnecting &&= this.refcount > 0;
  handleBackoffTimer.call(this);
};
