/** How a payment is found by what people read out: its numbers whole, and any part of the merchant's reference. */
import { indexable } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import type { RequestedPayment } from '../../events/payment.ts';
import { numberOf } from './search-tokens.ts';

/** Shorter parts of a reference are found in almost every one. */
const shortestPart = 3;

/** The keys of a payment: each number as `=…`, the reference as `~…`, and each three characters of the reference. */
export function searchKeysOf(
  transactionId: string,
  { attempts, receipt, request, results }: RequestedPayment,
) {
  const numbers = [
    transactionId,
    receipt?.receiptNo ?? '',
    ...attempts.map(({ sellerOrderNo }) => sellerOrderNo),
    ...results.flatMap(({ gatewayTransactionId, sellerOrderNo }) => [gatewayTransactionId, sellerOrderNo]),
  ].map(keyOf);
  const reference = keyOf(request.reference);
  const keys = [...numbers.map((number) => `=${number}`), `~${reference}`, ...threesOf(reference)];
  return [...new Set(keys)].filter((key) => key.length > 1);
}

/** Keeps the payments that have this number, or this part of the reference, however it is grouped and in any case. */
export function whereFound(query: Knex.QueryBuilder, typed: string): void {
  const text = keyOf(typed);
  query.where((either) => {
    // A reference without letters and digits has no key.
    either.where('reference', indexable(typed));
    // On a receipt, the number of an item is the receipt's and two digits.
    const ofItem = keyOf(typed.trim().replace(/-\d\d$/, ''));
    if (text !== '') either.orWhereRaw('keys && ?::text[]', [[`=${text}`, `~${text}`, `=${ofItem}`]]);
    if ([...text].length >= shortestPart)
      either.orWhereRaw(
        `keys @> ?::text[] and exists (select from unnest(keys) as key where key like '~%' || ? || '%')`,
        [threesOf(text), text],
      );
  });
}

/** Has only letters and digits, so that it means nothing special to `like`. */
const keyOf = (text: string) => indexable(numberOf(text));

function threesOf(text: string): string[] {
  const letters = [...text];
  return letters.slice(2).map((last, index) => `${letters[index]}${letters[index + 1]}${last}`);
}
