// Receipts as PDFs: how many one core renders per second, and how large they are.
import { buffer } from 'node:stream/consumers';
import type { Sen } from '../src/common/money.ts';
import { receiptPdf } from '../src/receipts/pdf.ts';
import type { Receipt } from '../src/receipts/receipt.ts';
import type { Row } from './row.ts';

const receipt: Receipt = {
  isOfficial: true,
  isClosed: false,
  status: 'succeeded',
  asAt: '',
  agency: 'Example City Council',
  receiptNo: '7-20261120-BJ6HYDFE',
  at: '2026-11-20T01:04:30.000Z',
  access: { kind: 'open' },
  payerName: 'Aminah binti Ismail',
  icNo: '********5678',
  service: 'Assessment tax',
  description: 'Second half of 2026',
  reference: 'INV-2026-000123',
  transactionId: '5K3M9QW2Z7TCV8XN4RBJ6HYDFE',
  items: [],
  amount: 'RM 120.50',
  fee: '',
  total: 'RM 120.50',
  receivedSen: null,
  otherCharges: [],
  gatewayNo: 'P1',
  totalSen: 12_050 as Sen,
  feeSen: 0 as Sen,
  notes: [],
  mode: 'fpx',
  bank: 'Maybank2U',
  fpxNo: '2611200904300123',
  orderNo: '5K3M9QW2Z7TCV8XN4RBJ6HYDFE-1',
  history: [],
};

const items = Array.from({ length: 20 }, (_, index) => ({
  description:
    `Quit rent of lot ${index + 1}, with what was due before and the fines for paying it late. `.repeat(3),
  titleId: `080102GRN000${12_345 + index}`,
  receiptNo: `${receipt.receiptNo}-${index + 1}`,
  detail: `080102GRN000${12_345 + index} · ${receipt.receiptNo}-${index + 1}`,
  amount: 'RM 6.03',
}));
const names = '陈大文 陳美麗 முருகன் பெருமாள் محمد بن عبد الله Aminah';

const runs = 40;

export async function benchPdf(): Promise<Row[]> {
  const plain = await measure(receipt);
  const long = await measure({ ...receipt, items });
  const mixed = await measure({ ...receipt, payerName: names });
  return [
    { name: 'receipt of one page', value: plain.perSecond, unit: 'PDFs/s' },
    { name: 'receipt of one page, size', value: plain.bytes / 1000, unit: 'KB', target: '<= 100' },
    {
      name: 'receipt with names in four scripts',
      value: mixed.perSecond,
      unit: 'PDFs/s',
      ratio: mixed.perSecond / plain.perSecond,
    },
    {
      name: `receipt of 20 items, ${long.pages} pages`,
      value: long.perSecond * long.pages,
      unit: 'pages/s',
      ratio: (long.perSecond * long.pages) / plain.perSecond,
    },
  ];
}

async function measure(of: Receipt): Promise<{ perSecond: number; pages: number; bytes: number }> {
  const verifyUrl = `https://pay.example/verify/${of.receiptNo}?c=3KQ8Z1M0T7XW2V9N`;
  const make = () => buffer(receiptPdf(of, { lang: 'en', verifyUrl }));
  // The first run reads the fonts; the others let the code be compiled.
  for (let run = 0; run < runs / 4; run += 1) await make();
  const pdf = await make();
  const start = performance.now();
  for (let run = 0; run < runs; run += 1) await make();
  const perSecond = (runs / (performance.now() - start)) * 1000;
  return {
    perSecond,
    pages: pdf.toString('latin1').match(/\/Type \/Page\n/g)?.length ?? 0,
    bytes: pdf.length,
  };
}
