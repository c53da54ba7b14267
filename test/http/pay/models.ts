// One plain example of what each template is given; tests vary them.
import { format } from '@ledger/kernel/format.ts';
import { texts } from '../../../src/http/pay/texts.ts';

const t = texts.en;

const banks = Array.from({ length: 20 }, (_, index) => ({
  code: `BANK${index}`,
  name: `Example Bank ${index}`,
}));

/** Of an agency. */
const nothingElse = { logo: '', phone: '', email: '', website: '' };

export const paymentPage = {
  lang: 'en',
  otherLanguageUrl: 'https://pay.example/generic/pay/01ABC?lang=ms',
  action: 'https://pay.example/generic/pay/01ABC',
  token: 'eyJ0b2tlbiI6MX0.c2lnbmF0dXJl',
  amount: 'RM\u00a0120.50',
  agency: 'Example City Council',
  ...nothingElse,
  service: 'Assessment tax',
  description: 'Assessment tax, second half of 2026',
  reference: 'INV-2026-000123',
  payerName: 'Aminah binti Ismail',
  items: [],
  otherCharges: [],
  methods: [
    { mode: 'fpx', feeSen: 0, name: t.modes.fpx, banks },
    {
      mode: 'fpx1',
      feeSen: 0,
      name: t.modes.fpx1,
      unavailable: format(t.belowLimit, { min: 'RM\u00a02.00' }),
      banks,
    },
    {
      mode: 'cc',
      feeSen: 120,
      name: t.modes.cc,
      charge: { amount: 'RM\u00a01.20', total: 'RM\u00a0121.70' },
    },
    { mode: 'dc', feeSen: 0, name: t.modes.dc },
    { mode: 'dnqr', feeSen: 0, name: t.modes.dnqr },
    { mode: 'wallet', feeSen: 0, name: t.modes.wallet },
  ],
  openAttempts: [],
  receiptUrl: 'https://pay.example/generic/receipt/01ABC?lang=en',
};

export const handOverPage = {
  lang: 'en',
  action: 'https://gateway.example/',
  fields: { TRANS_ID: '01ABC', AMOUNT: '120.50' },
  amount: 'RM\u00a0120.50',
  agency: 'Example City Council',
  method: t.modes.fpx,
  bank: 'Example Bank 1',
};

export const receiptPage = {
  lang: 'en',
  otherLanguageUrl: 'https://pay.example/generic/receipt/01ABC?lang=ms',
  status: 'success',
  heading: 'Official receipt',
  explanation: 'The payment has been received.',
  isOfficial: true,
  agency: 'Example City Council',
  ...nothingElse,
  otherCharges: [],
  facts: [
    ['Receipt number', '7-20261120-8K2M4PQX'],
    ['Date and time', '20 November 2026, 14:03:22'],
    ['Payer', 'Aminah binti Ismail'],
  ],
  description: 'Assessment tax, second half of 2026',
  items: [],
  amount: 'RM\u00a0120.50',
  fee: 'RM\u00a01.20',
  total: 'RM\u00a0121.70',
  history: [
    { time: '20 November 2026, 14:01:10', text: t.history.requested },
    { time: '20 November 2026, 14:02:05', text: format(t.history.methodChosen, { method: t.modes.cc }) },
    { time: '20 November 2026, 14:03:22', text: t.history.success },
  ],
  backUrl: 'https://council.example/bills?trans_id=INV-2026-000123&transaction_id=01ABC&status=1',
  pdfUrl: 'https://pay.example/generic/download/01ABC',
};

export const verifyProofPage = {
  lang: 'en',
  otherLanguageUrl: 'https://pay.example/verify/1-1/proof?c=0&lang=ms',
  receiptUrl: 'https://pay.example/verify/1-1?c=0&lang=en',
  downloadUrl: 'https://pay.example/verify/1-1/proof.jsonl?c=0&lang=en',
  agency: 'Example City Council',
  receiptNo: '1-20261120-87N3WE45',
  sealedAt: '20 November 2026 at 09:10:00',
  proof: {
    number: 1204,
    size: 2530,
    origin: 'pay.agency.example/ledger',
    witnesses: ['witness.audit.example/1'],
  },
};

export const verifyPage = {
  proofUrl: 'https://pay.example/verify/1-1/proof?c=0&lang=en',
  lang: 'en',
  otherLanguageUrl: 'https://pay.example/verify/7-1?c=0123456789ABCDEF&lang=ms',
  status: 'success',
  agency: 'Example City Council',
  receiptNo: '7-20261120-HE7CEVBBN545JZX2',
  dateTime: '20 November 2026 at 14:03:22',
  total: 'RM\u00a0121.70',
};

export const errorPage = {
  lang: 'en',
  httpStatus: 410,
  problem: 'expired',
  requestId: '0c5c8a1e-2f0b-4b5e-9d43-6b1b3f4f4c11',
  actionUrl: 'https://pay.example/generic/pay/01ABC',
};

export const homePage = {
  lang: 'en',
  otherLanguageUrl: 'http://localhost:5173/?lang=ms',
  tryOut: {
    command: `curl http://localhost:5173/generic/request \\\n  -H 'Authorization: Bearer demo-key' \\\n  -d '{"merchant_code":"demo-app"}'`,
    gatewayUrl: 'http://localhost:5174/',
    links: [{ url: 'http://localhost:5173/openapi.json', text: 'OpenAPI' }],
  },
};

export const debugPage = {
  lang: 'en',
  action: 'https://pay.example/generic/debug',
  latest: [
    {
      url: 'https://pay.example/generic/debug?TRANS_ID=01ABC',
      merchantCode: 'council',
      reference: 'INV-2026-000123',
      status: 'failed',
      amount: 'RM\u00a0120.50',
    },
  ],
  simulateUrl: 'https://pay.example/generic/simulate',
  transactionId: '01ABC',
  unknown: false,
  payment: {
    status: 'requested',
    amount: 'RM\u00a0120.50',
    agency: 'Example City Council',
    reference: 'INV-2026-000123',
    receiptUrl: 'https://pay.example/generic/receipt/01ABC',
  },
  inputs: { STATUS: '1', AMOUNT: '120.50' },
  choices: { STATUS: [{ value: '1', text: '1 Successful' }] },
  responseUrl: 'https://pay.example/generic/response',
  signed: { STATUS: '1' },
};

export const simulatePage = {
  lang: 'en',
  action: 'https://pay.example/generic/simulate',
  debugUrl: 'https://pay.example/generic/debug',
  required: { amount: '120.50' },
  optional: { extra: '{}' },
  curl: 'curl -i https://pay.example/generic/request',
  answer: { status: 200, ok: true, body: '{}', paymentUrl: 'https://pay.example/generic/pay/01ABC' },
};
