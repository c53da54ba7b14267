// A peer on Emmett with PostgreSQL: events, a decider for each command, and a read model written in the same transaction.
import { createHash } from 'node:crypto';
import { CommandHandler, IllegalStateError } from '@event-driven-io/emmett';
import { getPostgreSQLEventStore, pongoSingleStreamProjection } from '@event-driven-io/emmett-postgresql';
import { serve } from './common.mjs';

const initialState = () => ({ status: 'none' });
const evolve = (state, { type, data }) =>
  type === 'PaymentRequested' ? { ...data, status: 'requested' } : { ...state, ...data, status: 'succeeded' };

const store = getPostgreSQLEventStore(process.argv[2], {
  projections: [
    {
      type: 'inline',
      projection: pongoSingleStreamProjection({
        collectionName: 'emmett_payments',
        canHandle: ['PaymentRequested', 'PaymentSucceeded'],
        initialState,
        evolve,
      }),
    },
  ],
});
await store.schema.migrate();
// Under load its append reports conflicts of new streams, which it leaves to the caller to try again.
const handle = CommandHandler({ initialState, evolve, retry: { onVersionConflict: 10 } });

serve({
  async request(body) {
    const id = createHash('sha256')
      .update(`${body.merchant_code} ${body.trans_id}`)
      .digest('hex')
      .slice(0, 26);
    const data = {
      id,
      reference: body.trans_id,
      amount: body.amount,
      callbackUrl: body.callback_url,
      request: body,
    };
    await handle(store, `payment-${id}`, (state) =>
      state.status === 'none' ? { type: 'PaymentRequested', data } : [],
    );
    return id;
  },
  async succeed(id, result) {
    const { newState } = await handle(store, `payment-${id}`, (state) => {
      if (state.status === 'none') throw new IllegalStateError('unknown payment');
      return state.status === 'requested' ? { type: 'PaymentSucceeded', data: { result } } : [];
    });
    return newState;
  },
});
