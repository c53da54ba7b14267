/** The hand-over: reads and checks the form with which the service sends a payer to the gateway. */
import {
  coerce,
  create,
  define,
  type Infer,
  pattern,
  refine,
  StructError,
  size,
  string,
  type,
} from 'superstruct';
import type { Fields } from './checksum.ts';

/** One line of text. Control characters become a space, because a form would mangle them anyway. */
const line = coerce(size(string(), 0, 500), string(), (text) => text.replace(/\p{Cc}+/gu, ' ').trim());
/** Returned to the service in every result, and part of a path here: only characters that never need encoding. */
const code = (maxLength: number) => pattern(string(), new RegExp(`^[A-Za-z0-9_-]{1,${maxLength}}$`));

const responseUrl = define<string>('http(s) address', (value) => {
  if (typeof value !== 'string' || value.length > 2_000 || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
});

const HandOverForm = type({
  MERCHANT_CODE: refine(size(string(), 1, 100), 'one line', (text) => !/\p{Cc}/u.test(text)),
  TRANS_ID: code(40),
  MERCHANT_ORDER_NO: code(40),
  AMOUNT: refine(pattern(string(), /^\d{1,9}\.\d{2}$/), 'more than 0.00', (text) => Number(text) > 0),
  PAYMENT_MODE: code(20),
  BANK_CODE: line,
  DESCRIPTION: line,
  BUYER_NAME: line,
  BUYER_EMAIL: line,
  RESPONSE_URL: responseUrl,
  TRANSAKSI_ID: line,
});

/** An order as the service hands it over. */
export type HandOver = Readonly<ReturnType<typeof handOverOf>>;

/**
 * Reads the form; optional fields may be absent. `transaksiId` is the land registry's name for the transaction, `''` for
 * other merchants. If fields are wrong, returns their names.
 */
export function readHandOver(
  fields: Fields,
): { handOver: HandOver; transaksiId: string } | { wrong: string[] } {
  const optional = { BANK_CODE: '', DESCRIPTION: '', BUYER_NAME: '', BUYER_EMAIL: '', TRANSAKSI_ID: '' };
  try {
    const form = create({ ...optional, ...fields }, HandOverForm);
    return { handOver: handOverOf(form), transaksiId: form.TRANSAKSI_ID };
  } catch (error) {
    if (!(error instanceof StructError)) throw error;
    return { wrong: [...new Set(error.failures().map((failure) => failure.path.join('.')))] };
  }
}

function handOverOf(form: Infer<typeof HandOverForm>) {
  return {
    orderNo: form.MERCHANT_ORDER_NO,
    merchantCode: form.MERCHANT_CODE,
    transId: form.TRANS_ID,
    amountSen: Number(form.AMOUNT.replace('.', '')),
    paymentMode: form.PAYMENT_MODE,
    bankCode: form.BANK_CODE,
    description: form.DESCRIPTION,
    buyerName: form.BUYER_NAME,
    buyerEmail: form.BUYER_EMAIL,
    responseUrl: form.RESPONSE_URL,
  };
}
