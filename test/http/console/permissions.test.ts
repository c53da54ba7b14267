// Every page and action of the console, requested by each role and without a session.
import test from 'ava';
import { roles } from '../../../src/events/user.ts';
import { may } from '../../../src/http/console/frame/permissions.ts';
import { startApp } from '../../support/app.ts';
import { signIn } from '../../support/console.ts';

const app = await startApp();
test.after.always(() => app.close());

const pathOf = (path: string) => path.replaceAll(/:\w+/g, '0');

test.serial('nobody gets in without signing in', async (t) => {
  for (const { method, path } of app.consoleRoutes) {
    const answer = await fetch(`${app.url}${pathOf(path)}`, { method, redirect: 'manual' });
    t.is(answer.status, 303, `${method} ${path}`);
    const notice = path.endsWith('/sign-out') ? '?notice=signed-out' : '?notice=expired';
    t.is(answer.headers.get('location'), `/console/sign-in${method === 'post' ? notice : ''}`);
  }
});

for (const role of roles)
  test.serial(
    `${role}: what is forbidden answers 403 and changes nothing, and the rest is open`,
    async (t) => {
      const member = await signIn(app, role);
      const before = await app.eventStore.head();
      const forbidden = app.consoleRoutes.filter(
        ({ permission }) => !may({ role, merchants: null }, permission),
      );
      for (const { method, path } of forbidden)
        t.is((await member[method](pathOf(path))).status, 403, `${method} ${path}`);
      t.deepEqual(await app.eventStore.head(), before);
      const menu = await (await member.get('/console/own-account')).text();
      for (const [path, permission] of [
        ['payments', 'read'],
        ['access-log', 'readAccessLog'],
        ['staff', 'manageStaff'],
      ] as const)
        t.is(
          menu.includes(`<a href="/console/${path}"`),
          may({ role, merchants: null }, permission),
          `${path} in the menu`,
        );
      const open = app.consoleRoutes.filter(
        ({ method, permission }) => method === 'get' && may({ role, merchants: null }, permission),
      );
      for (const { path } of open) {
        const { body, headers, status } = await member.get(pathOf(path));
        // The stream of progress would not end.
        await body?.cancel();
        t.true(status !== 403 && headers.get('location') !== '/console/sign-in', `${path} answers ${status}`);
      }
    },
  );

test.serial(
  'a viewer acts on no payment; a member neither reads the access log nor manages staff',
  async (t) => {
    const [member, viewer] = [await signIn(app, 'member'), await signIn(app, 'viewer')];
    for (const action of ['notes', 'send-again', 'requery'])
      t.is((await viewer.post(`/console/payments/0/${action}`)).status, 403, action);
    for (const page of ['access-log', 'staff'])
      t.is((await member.get(`/console/${page}`)).status, 403, page);
  },
);
