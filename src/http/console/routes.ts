/**
 * The staff console: every page and action, with the permission that it needs. frame/ holds what all pages share; each
 * other folder is an area, with a file for each page or action and its templates in views/console/<area>.
 */
import type Router from '@koa/router';
import { send } from '@ledger/web/answers.ts';
import type { Middleware } from 'koa';
import { formBody } from '../server/body.ts';
import { type Context, type RequestState, seeOther } from '../server/context.ts';
import { showAccessLog } from './audit/access-log.ts';
import { downloadExport, showExportForm } from './audit/export.ts';
import { showSeals } from './audit/seals.ts';
import { exportDeliveries, showDeliveries } from './deliveries/list.ts';
import { confirmSendList, sendListAgain } from './deliveries/send-list.ts';
import { sendAgainFromList, sendAgainFromPayment } from './deliveries/send-one.ts';
import { approval } from './exceptions/approval.ts';
import { discrepancy } from './exceptions/discrepancy.ts';
import {
  type ExceptionSource,
  type ResolutionName,
  resolveOne,
  showOne,
} from './exceptions/exception-page.ts';
import { exportExceptions, showExceptions } from './exceptions/list.ts';
import { retryParkedStream, showParkedStream } from './exceptions/parked-stream.ts';
import { paymentException } from './exceptions/payment-exception.ts';
import { sharedNumber } from './exceptions/shared-number.ts';
import { unknownOutcome } from './exceptions/unknown-outcome.ts';
import {
  findUnmatchedToErase,
  recordAtPayment,
  showUnmatchedEvidence,
  unmatchedResult,
} from './exceptions/unmatched-result.ts';
import { signInPath } from './frame/addresses.ts';
import { createFromOwnSite, createOwnForm, createPermit, fromOwnPage } from './frame/guards.ts';
import { createLive } from './frame/live.ts';
import type { Page, PageDependencies } from './frame/page.ts';
import type { Permission } from './frame/permissions.ts';
import type { StaffContext } from './frame/session.ts';
import { showHome } from './home/home.ts';
import { downloadAccount, showAccount } from './journal/account.ts';
import { downloadCollectionCsv, downloadCollectionPdf, showCollection } from './journal/collection.ts';
import {
  enterSettlement,
  reverseSettlement,
  showSettlement,
  showSettlements,
} from './journal/settlements.ts';
import { showTrialBalance } from './journal/trial-balance.ts';
import { confirmErase, eraseNow, findPaymentToErase } from './payments/erase.ts';
import { showEvent } from './payments/event.ts';
import { answerHistory } from './payments/history.ts';
import { addNote, openReceipt, showPayer } from './payments/payer.ts';
import { showPayment } from './payments/payment.ts';
import { recordRefund, showRefund } from './payments/refund.ts';
import { requery } from './payments/requery.ts';
import { exportPayments, find, paymentsPath, searchByPayer, showPayments } from './payments/search.ts';
import { requestRebuild, showProjections } from './projections/projections.ts';
import { createImportGuard, importExport, readUpload } from './reconciliation/import.ts';
import { showDiscrepancies } from './reconciliation/list.ts';
import { registerPasskey, removePasskey, showOwnAccount } from './sign-in/own-account.ts';
import { createRequestLink } from './sign-in/request-link.ts';
import { showLink, showSignIn, signIn, signOut } from './sign-in/sign-in.ts';
import { changeRole, deactivate, grant, reactivate, removePasskeysOf, showAccounts } from './staff/staff.ts';

export type ConsoleRoute = {
  method: 'get' | 'post';
  path: '/console' | `/console/${string}`;
  permission: Permission;
  handle: Page;
  /** Reads the body of a POST; without it, a form of at most 64 KiB. */
  body?: Middleware;
};

type Path = ConsoleRoute['path'];

function get(path: Path, permission: Permission, handle: Page): ConsoleRoute {
  return { method: 'get', path, permission, handle };
}

function post(path: Path, permission: Permission, handle: Page, body?: Middleware): ConsoleRoute {
  return { method: 'post', path, permission, handle, ...(body && { body }) };
}

function exceptionRoutes<Choice extends ResolutionName>(
  place: string,
  source: ExceptionSource<Choice>,
): ConsoleRoute[] {
  const path = `/console/exceptions/${place}` as const;
  return [get(path, 'read', showOne(source)), post(path, 'resolve', resolveOne(source))];
}

/** Everything that only people who are signed in may use. */
export function consoleRoutes(): readonly ConsoleRoute[] {
  const oneImport = createImportGuard();
  return [
    get('/console', 'read', showHome),
    get('/console/payments', 'read', showPayments),
    // A search by payer that is opened again; its address does not hold the search.
    get('/console/payments/by-payer', 'read', async (ctx) => seeOther(ctx, paymentsPath)),
    get('/console/payments/find', 'read', async (ctx) => seeOther(ctx, paymentsPath)),
    post('/console/payments/find', 'viewPersonalData', find),
    post('/console/payments/by-payer', 'viewPersonalData', searchByPayer),
    get('/console/payments/export.csv', 'read', exportPayments),
    get('/console/payments/:id', 'read', showPayment),
    get('/console/payments/:id/payer', 'viewPersonalData', showPayer),
    get('/console/payments/:id/receipt', 'viewPersonalData', openReceipt('receipt')),
    get('/console/payments/:id/download', 'viewPersonalData', openReceipt('download')),
    post('/console/payments/:id/notes', 'addNote', addNote),
    get('/console/payments/:id/events/:revision', 'viewPersonalData', showEvent),
    get('/console/payments/:id/history.json', 'viewPersonalData', answerHistory),
    get('/console/payments/:id/erase', 'erase', confirmErase(findPaymentToErase)),
    post('/console/payments/:id/erase', 'erase', eraseNow(findPaymentToErase)),
    get('/console/payments/:id/refund', 'resolve', showRefund),
    post('/console/payments/:id/refund', 'resolve', recordRefund),
    post('/console/payments/:id/send-again', 'sendAgain', sendAgainFromPayment),
    post('/console/payments/:id/requery', 'requery', requery),

    get('/console/exceptions', 'read', showExceptions),
    get('/console/exceptions/export.csv', 'read', exportExceptions),
    ...exceptionRoutes('payment/:transactionId/:no', paymentException),
    ...exceptionRoutes('attempt/:transactionId/:no', unknownOutcome),
    ...exceptionRoutes('approval/:transactionId/:no', approval),
    ...exceptionRoutes('unmatched/:id', unmatchedResult),
    post('/console/exceptions/unmatched/:id/record', 'resolve', recordAtPayment),
    get('/console/exceptions/unmatched/:id/evidence', 'viewPersonalData', showUnmatchedEvidence),
    get('/console/exceptions/unmatched/:id/erase', 'erase', confirmErase(findUnmatchedToErase)),
    post('/console/exceptions/unmatched/:id/erase', 'erase', eraseNow(findUnmatchedToErase)),
    ...exceptionRoutes('shared/:id', sharedNumber),
    ...exceptionRoutes('difference/:id', discrepancy),
    get('/console/exceptions/parked/:stream', 'read', showParkedStream),
    post('/console/exceptions/parked/:stream/retry', 'rebuild', retryParkedStream),

    get('/console/reconciliation', 'read', showDiscrepancies),
    post('/console/reconciliation', 'reconcile', oneImport(importExport), readUpload),

    get('/console/deliveries', 'read', showDeliveries),
    get('/console/deliveries/export.csv', 'read', exportDeliveries),
    get('/console/deliveries/send-again', 'sendAgain', confirmSendList),
    post('/console/deliveries/send-again', 'sendAgain', sendListAgain),
    post('/console/deliveries/send-one-again', 'sendAgain', sendAgainFromList),

    get('/console/journal', 'read', showTrialBalance),
    get('/console/journal/account', 'read', showAccount),
    get('/console/journal/account.csv', 'read', downloadAccount),
    get('/console/settlements', 'read', showSettlements),
    post('/console/settlements', 'reconcile', oneImport(enterSettlement), readUpload),
    get('/console/settlements/:id', 'read', showSettlement),
    post('/console/settlements/:id/reverse', 'reconcile', reverseSettlement),
    get('/console/statements', 'read', showCollection),
    get('/console/statements/collection.csv', 'read', downloadCollectionCsv),
    get('/console/statements/collection.pdf', 'read', downloadCollectionPdf),

    get('/console/projections', 'read', showProjections),
    get('/console/live', 'read', createLive()),
    post('/console/projections/:name/rebuild', 'rebuild', requestRebuild),

    get('/console/access-log', 'readAccessLog', showAccessLog),
    get('/console/seals', 'read', showSeals),
    get('/console/export', 'export', showExportForm),
    post('/console/export', 'export', downloadExport),

    get('/console/staff', 'manageStaff', showAccounts),
    post('/console/staff/:id/role', 'manageStaff', changeRole),
    post('/console/staff/:id/grant', 'manageStaff', grant),
    post('/console/staff/:id/deactivate', 'manageStaff', deactivate),
    post('/console/staff/:id/reactivate', 'manageStaff', reactivate),

    post('/console/staff/:id/remove-passkeys', 'manageStaff', removePasskeysOf),

    get('/console/own-account', 'ownAccount', showOwnAccount),
    post('/console/own-account/passkeys', 'ownAccount', registerPasskey),
    post('/console/own-account/remove-passkey', 'ownAccount', removePasskey),
    post('/console/sign-out', 'ownAccount', signOut),
  ];
}

export function addConsoleRoutes(router: Router<RequestState>, dependencies: PageDependencies): void {
  const { assets, config } = dependencies;
  const fromOwnSite = createFromOwnSite(config.baseUrl);
  const permit = createPermit(dependencies);
  const ownForm = createOwnForm(dependencies);

  for (const { body = formBody, handle, method, path, permission } of consoleRoutes()) {
    const answer = (ctx: StaffContext) => handle(ctx, dependencies);
    if (method === 'get' && permission === 'viewPersonalData')
      router.get(path, permit(permission), fromOwnPage, answer);
    else if (method === 'get') router.get(path, permit(permission), answer);
    else router.post(path, fromOwnSite, permit(permission), body, ownForm, answer);
  }

  const requestLink = createRequestLink(dependencies);
  router.get(signInPath, (ctx: Context) => showSignIn(ctx, dependencies));
  router.post(signInPath, fromOwnSite, formBody, requestLink);
  router.get(`${signInPath}/:token`, (ctx: Context) => showLink(ctx, dependencies));
  router.post(`${signInPath}/:token`, fromOwnSite, formBody, (ctx: Context) => signIn(ctx, dependencies));

  for (const [path, answer] of assets.answers) router.get(path, (ctx: Context) => send(ctx, answer));
  router.get('/console/', (ctx: Context) => seeOther(ctx, '/console'));
  // The former address of the access log.
  router.get('/console/looks', (ctx: Context) => {
    ctx.redirect(`/console/access-log${ctx.search}`);
    ctx.status = 301;
  });
}
