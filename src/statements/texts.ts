// The texts of a daily collection statement, by language. Texts shared with receipts are in receipts/texts.
import type { Language } from '../receipts/texts.ts';

const en = {
  title: 'Daily collection statement',
  collected: 'Collected for the agency',
  receipts: 'Receipts',
  fees: 'Fees',
  details: 'Details',
  agencyCode: 'Agency code',
  day: 'Day (value date)',
  asOf: 'As of',
  printedAt: 'Printed at',
  byMethod: 'By payment method',
  unknownMethod: 'Not known',
  no: 'No.',
  time: 'Time',
  recordedLate: (time: string) => `Recorded after the day, on ${time}`,
  none: 'Nothing was collected on this day.',
  note: 'A payment counts on the day on which the bank took it. The agency is owed the amount; the fee is what the payer paid in addition.',
};

export type StatementTexts = typeof en;

const ms: StatementTexts = {
  title: 'Penyata kutipan harian',
  collected: 'Kutipan bagi agensi',
  receipts: 'Resit',
  fees: 'Caj',
  details: 'Butiran',
  agencyCode: 'Kod agensi',
  day: 'Hari (tarikh nilai)',
  asOf: 'Setakat',
  printedAt: 'Dicetak pada',
  byMethod: 'Mengikut kaedah pembayaran',
  unknownMethod: 'Tidak diketahui',
  no: 'Bil.',
  time: 'Masa',
  recordedLate: (time) => `Direkodkan selepas hari itu, pada ${time}`,
  none: 'Tiada kutipan pada hari ini.',
  note: 'Pembayaran dikira pada hari bank menerimanya. Amaun ialah milik agensi; caj ialah bayaran tambahan oleh pembayar.',
};

export const statementTexts: Readonly<Record<Language, StatementTexts>> = { en, ms };
