/**
 * The staff console: every page and action, with its permission and what it does for an account with a scope. frame/ is
 * what all pages share; every other folder is an area, with its templates in views/console/<area>.
 */
import type Router from '@koa/router';
import { send } from '@ledger/web/answers.ts';
import { UnreadableEvent } from '../../events/codec.ts';
import { formBody, type ReadBody } from '../server/body.ts';
import { type Context, HttpProblem, type RequestState, seeOther } from '../server/context.ts';
import { showAccessLog } from './audit/access-log.ts';
import { paymentExport } from './audit/export.ts';
import { deliveryList, showDeliveries } from './deliveries/list.ts';
import { sendList } from './deliveries/send-list.ts';
import { sendAgain } from './deliveries/send-one.ts';
import { approval } from './exceptions/approval.ts';
import { discrepancy } from './exceptions/discrepancy.ts';
import { exceptionList, showExceptions } from './exceptions/list.ts';
import { retryParkedStream, showParkedStream } from './exceptions/parked-stream.ts';
import { paymentException } from './exceptions/payment-exception.ts';
import { resolveList } from './exceptions/resolve-list.ts';
import { sharedNumber } from './exceptions/shared-number.ts';
import { unknownOutcome } from './exceptions/unknown-outcome.ts';
import {
  eraseUnmatchedResult,
  recordAtPayment,
  showUnmatchedEvidence,
  unmatchedResult,
} from './exceptions/unmatched-result.ts';
import { signInPath } from './frame/addresses.ts';
import { type FormPage, openForm, submitForm } from './frame/form-page.ts';
import {
  createFromOwnSite,
  createOwnForm,
  createPermit,
  type ForScope,
  fromOwnPage,
} from './frame/guards.ts';
import { downloadList } from './frame/list.ts';
import { createLive } from './frame/live.ts';
import type { Page, PageDependencies } from './frame/page.ts';
import type { Permission } from './frame/permissions.ts';
import type { StaffContext } from './frame/session.ts';
import { createImportGuard, readUpload } from './frame/uploads.ts';
import { showHome } from './home/home.ts';
import { downloadAccount, showAccount } from './journal/account.ts';
import { downloadCollectionCsv, downloadCollectionPdf, showCollection } from './journal/collection.ts';
import { reverseSettlement, settlements, showSettlement } from './journal/settlements.ts';
import { showTrialBalance } from './journal/trial-balance.ts';
import { erasePayment } from './payments/erase.ts';
import { showEvent } from './payments/event.ts';
import { answerHistory } from './payments/history.ts';
import { addNote, openReceipt, showPayer } from './payments/payer.ts';
import { showPayment } from './payments/payment.ts';
import { refund } from './payments/refund.ts';
import { requery } from './payments/requery.ts';
import { find, paymentList, paymentsPath, searchByPayer, showPayments } from './payments/search.ts';
import { requestRebuild, showProjections } from './projections/projections.ts';
import { reconciliation } from './reconciliation/reconciliation.ts';
import { registerPasskey, removePasskey, showOwnAccount } from './sign-in/own-account.ts';
import { requestLink } from './sign-in/request-link.ts';
import { showLink, showSignIn, signIn, signOut } from './sign-in/sign-in.ts';
import { accounts, changeRole, deactivate, reactivate, removePasskeysOf } from './staff/staff.ts';

type Path = '/console' | `/console/${string}`;
export type ConsoleRoute = ReturnType<ReturnType<typeof route>>;

/** `body` reads the body of a POST. */
const route =
  (method: 'get' | 'post') =>
  (path: Path, permission: Permission, forScope: ForScope, handle: Page, body: ReadBody = formBody) => ({
    method,
    path,
    permission,
    forScope,
    handle,
    body,
  });
const get = route('get');
const post = route('post');

const form = (
  path: Path,
  [mayOpen, maySubmit]: readonly [Permission, Permission],
  forScope: ForScope,
  page: FormPage,
): ConsoleRoute[] => [
  get(path, mayOpen, forScope, openForm(page)),
  post(path, maySubmit, forScope, submitForm(page)),
];

/** Everything that only people who are signed in may use. Over 70 lines: a list of routes. */
export function consoleRoutes(): readonly ConsoleRoute[] {
  const oneImport = createImportGuard();
  return [
    get('/console', 'read', 'filtered', showHome),
    get('/console/payments', 'read', 'filtered', showPayments),
    // A search by payer that is opened again; its address does not hold the search.
    get('/console/payments/by-payer', 'read', 'filtered', async (ctx) => seeOther(ctx, paymentsPath)),
    get('/console/payments/find', 'read', 'filtered', async (ctx) => seeOther(ctx, paymentsPath)),
    post('/console/payments/find', 'viewPersonalData', 'filtered', find),
    post('/console/payments/by-payer', 'viewPersonalData', 'filtered', searchByPayer),
    get('/console/payments/export.csv', 'read', 'filtered', downloadList(paymentList)),
    get('/console/payments/:id', 'read', 'ofPayment', showPayment),
    get('/console/payments/:id/payer', 'viewPersonalData', 'ofPayment', showPayer),
    get('/console/payments/:id/receipt', 'viewPersonalData', 'ofPayment', openReceipt('receipt')),
    get('/console/payments/:id/download', 'viewPersonalData', 'ofPayment', openReceipt('download')),
    post('/console/payments/:id/notes', 'addNote', 'ofPayment', addNote),
    get('/console/payments/:id/events/:revision', 'viewPersonalData', 'ofPayment', showEvent),
    get('/console/payments/:id/history.json', 'viewPersonalData', 'ofPayment', answerHistory),
    ...form('/console/payments/:id/erase', ['erase', 'erase'], 'ofPayment', erasePayment),
    ...form('/console/payments/:id/refund', ['resolve', 'resolve'], 'ofPayment', refund),
    post('/console/payments/:id/send-again', 'sendAgain', 'ofPayment', sendAgain),
    post('/console/payments/:id/requery', 'requery', 'ofPayment', requery),

    get('/console/exceptions', 'read', 'filtered', showExceptions),
    get('/console/exceptions/export.csv', 'read', 'filtered', downloadList(exceptionList)),
    ...form('/console/exceptions/resolve', ['resolve', 'resolve'], 'all', resolveList),
    ...form('/console/exceptions/payment/:id/:no', ['read', 'resolve'], 'ofPayment', paymentException),
    ...form('/console/exceptions/attempt/:id/:no', ['read', 'resolve'], 'ofPayment', unknownOutcome),
    ...form('/console/exceptions/approval/:id/:no', ['read', 'resolve'], 'ofPayment', approval),
    ...form('/console/exceptions/unmatched/:id', ['read', 'resolve'], 'all', unmatchedResult),
    post('/console/exceptions/unmatched/:id/record', 'resolve', 'all', recordAtPayment),
    get('/console/exceptions/unmatched/:id/evidence', 'viewPersonalData', 'all', showUnmatchedEvidence),
    ...form('/console/exceptions/unmatched/:id/erase', ['erase', 'erase'], 'all', eraseUnmatchedResult),
    ...form('/console/exceptions/shared/:id', ['read', 'resolve'], 'all', sharedNumber),
    ...form('/console/exceptions/difference/:id', ['read', 'resolve'], 'all', discrepancy),
    get('/console/exceptions/parked/:stream', 'read', 'all', showParkedStream),
    post('/console/exceptions/parked/:stream/retry', 'rebuild', 'all', retryParkedStream),

    get('/console/reconciliation', 'readAll', 'all', openForm(reconciliation)),
    post('/console/reconciliation', 'reconcile', 'all', oneImport(submitForm(reconciliation)), readUpload),

    get('/console/deliveries', 'read', 'filtered', showDeliveries),
    get('/console/deliveries/export.csv', 'read', 'filtered', downloadList(deliveryList)),
    ...form('/console/deliveries/send-again', ['sendAgain', 'sendAgain'], 'filtered', sendList),

    get('/console/journal', 'readAll', 'all', showTrialBalance),
    get('/console/journal/account', 'read', 'filtered', showAccount),
    get('/console/journal/account.csv', 'read', 'filtered', downloadAccount),
    get('/console/settlements', 'readAll', 'all', openForm(settlements)),
    post('/console/settlements', 'reconcile', 'all', oneImport(submitForm(settlements)), readUpload),
    get('/console/settlements/:id', 'read', 'all', showSettlement),
    post('/console/settlements/:id/reverse', 'reconcile', 'all', reverseSettlement),
    get('/console/statements', 'read', 'filtered', showCollection),
    get('/console/statements/collection.csv', 'read', 'filtered', downloadCollectionCsv),
    get('/console/statements/collection.pdf', 'read', 'filtered', downloadCollectionPdf),

    get('/console/projections', 'readAll', 'all', showProjections),
    get('/console/live', 'read', 'filtered', createLive()),
    post('/console/projections/:name/rebuild', 'rebuild', 'all', requestRebuild),

    get('/console/access-log', 'readAccessLog', 'all', showAccessLog),
    ...form('/console/export', ['export', 'export'], 'filtered', paymentExport),

    get('/console/staff', 'manageStaff', 'all', openForm(accounts)),
    post('/console/staff/:id/role', 'manageStaff', 'all', changeRole),
    post('/console/staff/:id/grant', 'manageStaff', 'all', submitForm(accounts)),
    post('/console/staff/:id/deactivate', 'manageStaff', 'all', deactivate),
    post('/console/staff/:id/reactivate', 'manageStaff', 'all', reactivate),
    post('/console/staff/:id/remove-passkeys', 'manageStaff', 'all', removePasskeysOf),

    get('/console/own-account', 'ownAccount', 'own', showOwnAccount),
    post('/console/own-account/passkeys', 'ownAccount', 'own', registerPasskey),
    post('/console/own-account/remove-passkey', 'ownAccount', 'own', removePasskey),
    post('/console/sign-out', 'ownAccount', 'own', signOut),
  ];
}

export function addConsoleRoutes(router: Router<RequestState>, dependencies: PageDependencies): void {
  const { assets, config } = dependencies;
  const fromOwnSite = createFromOwnSite(config.baseUrl);
  const permit = createPermit(dependencies);
  const ownForm = createOwnForm(dependencies);

  for (const route of consoleRoutes()) {
    const { body, forScope, handle, method, path, permission } = route;
    const answer = (ctx: StaffContext) =>
      handle(ctx, dependencies).catch((error) => {
        const isUnreadable = forScope === 'ofPayment' && error instanceof UnreadableEvent;
        throw isUnreadable ? new HttpProblem(409, 'This payment cannot be read') : error;
      });
    if (method === 'get' && permission === 'viewPersonalData')
      router.get(path, permit(route), fromOwnPage, answer);
    else if (method === 'get') router.get(path, permit(route), answer);
    else router.post(path, fromOwnSite, permit(route), body, ownForm, answer);
  }

  router.get(signInPath, (ctx: Context) => showSignIn(ctx, dependencies));
  router.post(signInPath, fromOwnSite, formBody, (ctx: Context) => requestLink(ctx, dependencies));
  router.get(`${signInPath}/:token`, (ctx: Context) => showLink(ctx, dependencies));
  router.post(`${signInPath}/:token`, fromOwnSite, formBody, (ctx: Context) => signIn(ctx, dependencies));

  for (const [path, answer] of assets.answers) router.get(path, (ctx: Context) => send(ctx, answer));
  router.get('/console/', (ctx: Context) => seeOther(ctx, '/console'));
}
