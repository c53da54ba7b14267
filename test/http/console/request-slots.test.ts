// How many requests may hold something at once.
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import test from 'ava';
import { createSlots } from '../../../src/http/console/frame/request-slots.ts';
import type { StaffContext } from '../../../src/http/console/frame/session.ts';

const contextOf = (id: string) => {
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  return { res, state: { staff: { id } } } as unknown as StaffContext;
};

test('a slot is given back when the browser leaves, and taken by none that has left already', async (t) => {
  const take = createSlots({ most: 2, mostOfOnePerson: 1, refusal: 'busy' });
  const [gone, first, second, third] = ['a', 'a', 'a', 'b'].map(contextOf) as [
    StaffContext,
    ...StaffContext[],
  ];
  gone.res.destroy();
  await once(gone.res, 'close');
  take(gone);
  take(first as StaffContext);
  t.throws(() => take(second as StaffContext), { message: 'busy' });
  take(third as StaffContext);
  t.throws(() => take(contextOf('c')), { message: 'busy' });
  first?.res.destroy();
  await once((first as StaffContext).res, 'close');
  t.notThrows(() => take(second as StaffContext));
});
