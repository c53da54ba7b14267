// Who may call: on one machine, anyone who can read the password in the data folder.
import { createHash, timingSafeEqual } from 'node:crypto';
import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import { USER } from '../endpoints.ts';

/** Refuses calls without the password with UNAUTHENTICATED, as EventStoreDB does. Which methods there are is no secret. */
export function passwordCheck(password: string): ServerInterceptor {
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  const expected = digestOf(`Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`);
  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, proceed) {
            const [given = ''] = metadata.get('authorization');
            if (path.includes('.ServerFeatures/') || timingSafeEqual(digestOf(String(given)), expected))
              proceed(metadata);
            else
              call.sendStatus({ code: status.UNAUTHENTICATED, details: 'The password is missing or wrong' });
          },
        }),
    });
}
