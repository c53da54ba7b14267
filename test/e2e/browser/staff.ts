// Staff in a real browser, with and without scripts: from the first admin at the command line to signing out.
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { until } from '../../embedded/helpers.ts';
import { gatewayResult, paymentRequest, postResult, requestPayment } from '../ledger.ts';
import { openBrowser, seriousFaults, skippedWithoutBrowser } from './chromium.ts';
import { baseUrl, gatewayUrl, ledger } from './service.ts';
import { openLink, signIn } from './sign-in.ts';

const reference = 'CONSOLE-1';

async function payOnce(): Promise<void> {
  const callback = { callback_url: `${gatewayUrl}/merchant/callback` };
  const answer = await requestPayment(baseUrl, paymentRequest(reference, callback));
  const { data } = (await answer.json()) as { data: { transaction_id: string } };
  await postResult(baseUrl, gatewayResult(data.transaction_id));
}

async function isWell(t: ExecutionContext, page: Page, what: string): Promise<void> {
  t.deepEqual(await seriousFaults(page), [], what);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  t.is(overflow, 0, `${what} scrolls sideways`);
}

/** Finds the payment and opens its page, by keyboard where scripts run. */
async function findPayment(page: Page, scripts: boolean): Promise<void> {
  await page.goto(`${baseUrl}/console/payments`);
  const search = page.getByRole('searchbox', { name: 'Find payments' });
  if (scripts) {
    await page.keyboard.press('/');
    await page.locator('.find input:focus').waitFor();
  }
  await search.fill(reference);
  await search.press('Enter');
  await page.getByRole('link', { name: reference }).click();
  await page.getByRole('heading', { level: 1, name: reference }).waitFor();
}

test.serial('an admin with scripts and a member without them do their work', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  t.timeout(300_000);
  t.regex(await ledger('users', 'add', '--role', 'admin', '--email', 'admin@agency.example'), /is added/);
  await ledger('users', 'add', '--role', 'member', '--email', 'member@agency.example');
  await payOnce();

  for (const { role, scripts, width } of [
    { role: 'admin', scripts: true, width: 1280 },
    { role: 'member', scripts: false, width: 360 },
  ] as const) {
    const { page, complaints } = await openBrowser(t, {
      javaScriptEnabled: scripts,
      viewport: { width, height: 900 },
    });
    const look = async (what: string) => {
      if (scripts) await isWell(t, page, what);
    };
    await signIn(page, `${role}@agency.example`);
    await until(async () => {
      await page.goto(`${baseUrl}/console/payments`);
      return (await page.getByRole('link', { name: reference }).count()) > 0;
    });
    await look('payments');
    if (scripts) {
      await requestPayment(baseUrl, paymentRequest('LIVE-1'));
      await page.getByRole('link', { name: 'LIVE-1' }).focus();
      // A list that is slow to read is read again after twenty times as long.
      const readAtMs: number[] = [];
      const slowly = /\/console\/payments$/;
      await page.route(slowly, async (route) => {
        readAtMs.push(Date.now());
        await new Promise((resolve) => setTimeout(resolve, 300));
        await route.continue();
      });
      for (const next of ['LIVE-2', 'LIVE-3']) {
        await requestPayment(baseUrl, paymentRequest(next));
        await page.getByRole('link', { name: next }).waitFor();
      }
      t.is(await page.evaluate('document.activeElement.textContent'), 'LIVE-1', 'where the keyboard was');
      const pausesMs = readAtMs.slice(1).map((atMs, index) => atMs - (readAtMs[index] ?? 0));
      t.true(pausesMs.length > 0 && Math.min(...pausesMs) >= 6_000, pausesMs.join());
      await page.unroute(slowly);
      await page.getByRole('link', { name: 'LIVE-1' }).click();
      await page.getByText('Add a note').focus();
      await postResult(baseUrl, gatewayResult(new URL(page.url()).pathname.slice(-26)));
      await page.getByText('Successful').first().waitFor();
      t.is(await page.evaluate('document.activeElement.textContent'), 'Add a note', 'where the keyboard was');
    }
    await findPayment(page, scripts);
    await look('a payment');
    t.true(await page.getByText(/The chain of \d+ events is whole/).isVisible());
    t.false((await page.locator('main').innerText()).includes('Nurul'));

    const delivery = page.getByRole('row', { name: 'callback-1' });
    await delivery.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The delivery is due again').waitFor();
    await page.getByRole('button', { name: 'Ask the registry' }).click();
    await page.getByRole('status').getByText('The registry has no record of this payment').waitFor();

    await page.getByRole('link', { name: /^Payer/ }).click();
    await page.getByText('Nurul binti Abdullah').first().waitFor();
    await look('the payer');
    await page.goBack();
    await page.getByRole('link', { name: 'Evidence of event 1' }).click();
    await page.getByText('BUYER_NAME').waitFor();
    await look('evidence');

    await page.goto(`${baseUrl}/console/payments`);
    await page.getByRole('searchbox', { name: 'Find payments' }).fill('abdullah nurul');
    await page.keyboard.press('Enter');
    await page.waitForURL(/find/);
    await page.getByRole('link', { name: reference }).waitFor();

    if (role === 'admin') {
      await page.goto(`${baseUrl}/console/access-log`);
      await page.getByRole('cell', { name: 'Search by payer' }).first().waitFor();
      await look('access log');
    }
    t.deepEqual(complaints, []);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await page.goto(`${baseUrl}/console/payments`);
    t.is(new URL(page.url()).pathname, '/console/sign-in');
  }
});

test.serial('an admin changes a role and deactivates a user, with immediate effect', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  for (const [name, role] of [
    ['chief', 'admin'],
    ['clerk', 'member'],
  ] as const)
    await ledger('users', 'add', '--role', role, '--email', `${name}@agency.example`);
  const [admin, member] = [await openBrowser(t, {}), await openBrowser(t, {})];
  await signIn(admin.page, 'chief@agency.example', '/console/payments?status=failed');
  await signIn(member.page, 'clerk@agency.example');
  await admin.page.goto(`${baseUrl}/console/projections`);
  t.deepEqual(
    await admin.page.locator('thead button').allInnerTexts(),
    ['Projection', 'Status', 'Behind', 'Position', 'Version'],
    'columns of actions do not sort',
  );
  await admin.page.goto(`${baseUrl}/console/staff`);
  const clerk = admin.page.getByRole('row', { name: 'clerk' });
  await admin.page.getByLabel('Role of clerk').selectOption('viewer');
  await clerk.getByRole('button', { name: 'Change' }).click();
  await admin.page.getByText('The role is changed').waitFor();
  t.is(await admin.page.getByLabel('Role of clerk').inputValue(), 'viewer');
  await member.page.reload();
  await member.page.getByRole('link', { name: 'Access log' }).waitFor();
  await admin.page.getByLabel('Merchants of clerk').fill('10, pdtj-app');
  await clerk.getByRole('button', { name: 'Save' }).click();
  await admin.page.getByText('sees the payments of the merchants named here').waitFor();
  t.is(await admin.page.getByLabel('Merchants of clerk').inputValue(), 'pdtj-app, ptgnm-app');
  await member.page.reload();
  await member.page.getByText('pdtj-app +1').waitFor();
  t.is(await member.page.getByRole('link', { name: 'Access log' }).count(), 0);
  await clerk.getByRole('button', { name: 'Deactivate' }).click();
  await isWell(t, admin.page, 'the question whether somebody is to be deactivated');
  await admin.page.getByRole('button', { name: 'Confirm' }).click();
  await clerk.getByText('deactivated', { exact: true }).waitFor();
  await member.page.reload();
  await member.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  t.deepEqual([...admin.complaints, ...member.complaints], []);
});

test.serial('a member registers a passkey, signs in with it by keyboard, and loses it', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  t.timeout(120_000);
  for (const [name, role] of [
    ['keeper', 'member'],
    ['warden', 'admin'],
  ] as const)
    await ledger('users', 'add', '--role', role, '--email', `${name}@agency.example`);
  const { page, context, complaints } = await openBrowser(t, {});
  const devices = await context.newCDPSession(page);
  await devices.send('WebAuthn.enable');
  const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await signIn(page, 'keeper@agency.example');
  await page.getByRole('link', { name: 'keeper' }).click();
  await page.getByLabel('Name of the passkey').fill('Laptop');
  await page.keyboard.press('Enter');
  await page.getByText('The passkey is registered').waitFor();
  await isWell(t, page, 'own account with a passkey');
  await page.getByRole('button', { name: 'Sign out' }).click();

  await openLink(page, 'keeper@agency.example');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  await isWell(t, page, 'the question for a passkey');
  await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  // A person takes longer than a virtual authenticator.
  await page.evaluate(`{
    const { credentials } = navigator;
    const get = credentials.get.bind(credentials);
    credentials.get = async (options) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return await get(options);
    };
  }`);
  await page.keyboard.press('Enter');
  await page.getByText('No passkey was given').waitFor();
  await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await page.keyboard.press('Enter');
  await page.waitForURL(`${baseUrl}/console`);

  const admin = await openBrowser(t, {});
  await signIn(admin.page, 'warden@agency.example', '/console/staff');
  const keeper = admin.page.getByRole('row', { name: 'keeper' });
  await keeper.getByRole('button', { name: 'Remove passkeys' }).click();
  await admin.page.getByRole('button', { name: 'Confirm' }).click();
  await admin.page.getByText('The user has no passkey any more').waitFor();
  await isWell(t, admin.page, 'staff and passkeys');
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(page, 'keeper@agency.example');

  const plain = await openBrowser(t, { javaScriptEnabled: false });
  await signIn(plain.page, 'warden@agency.example', '/console/own-account');
  await plain.page.getByText('scripts are switched off').waitFor();
  t.is(await plain.page.getByRole('button', { name: 'Register a passkey' }).count(), 0);
  t.deepEqual([...complaints, ...admin.complaints], []);
});
