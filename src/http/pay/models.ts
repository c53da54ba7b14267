// What each page shows: one type per template in views/. Builders elsewhere make these from payments; every
// value is plain text, already formatted and in the page's language; amounts read `RM 1,234.50`, with a no-break
// space. Templates only lay out and escape.
import type { ErrorKind } from '../server/errors.ts';
import type { Language } from '../server/language.ts';
import type { Texts } from './texts/en.ts';

/** Common to all pages. Every URL in every model is absolute: a merchant may relay the page from its own origin. */
export type Page = {
  readonly lang: Language;
  /** The same page in the other language; absent where no GET shows it again. */
  readonly otherLanguageUrl?: string | undefined;
};

export type PageItem = {
  readonly title: string;
  /** A second line, such as the land title or the item's own receipt number. */
  readonly detail?: string | undefined;
  readonly amount: string;
};

export type BankOption = { readonly code: string; readonly name: string };

export type PaymentMethod = {
  readonly mode: string;
  readonly name: string;
  /** As made by `texts.limits`; absent where the method has none. */
  readonly limits?: string | undefined;
  /** Only when one applies: the charge and what the payer then pays in all. */
  readonly charge?: { readonly amount: string; readonly total: string } | undefined;
  /** Why this payment cannot use the method. The method is then shown, but cannot be chosen. */
  readonly unavailable?: string | undefined;
  /** Present for methods that need a bank (fpx, fpx1). */
  readonly banks?: readonly BankOption[] | undefined;
};

/**
 * `payment`: choose how to pay. The form posts `token`, `method` (the mode) and, for each method with banks,
 * `bank_<mode>` (a bank code, or empty).
 */
export type PaymentPage = Page & {
  readonly action: string;
  readonly token: string;
  readonly amount: string;
  readonly agency: string;
  readonly service: string;
  readonly description: string;
  readonly reference: string;
  readonly payerName?: string | undefined;
  /** Listed when there are any: leave empty for a payment of one thing. */
  readonly items: readonly PageItem[];
  readonly methods: readonly PaymentMethod[];
  /** The form as it was sent, when it comes back with an error. */
  readonly chosenMode?: string | undefined;
  readonly chosenBank?: string | undefined;
  readonly error?: keyof Texts['formErrors'] | undefined;
  /** How the attempt before this one ended. */
  readonly lastAttempt?: 'failed' | 'cancelled' | undefined;
  readonly cancelUrl?: string | undefined;
};

/** `hand-over`: a form that sends itself, or is sent by its button, to the gateway. */
export type HandOverPage = Page & {
  readonly action: string;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly amount: string;
  readonly agency: string;
  readonly method: string;
  readonly bank?: string | undefined;
};

export type PaymentStatus = keyof Texts['statuses'];

/** `receipt`: the official receipt of a payment that succeeded, in any other state a statement of it. */
export type ReceiptPage = Page & {
  readonly status: PaymentStatus;
  readonly agency: string;
  readonly receiptNo?: string | undefined;
  /** When the status was reached, in Malaysian time. */
  readonly dateTime: string;
  readonly payerName?: string | undefined;
  /** Masked. */
  readonly icNo?: string | undefined;
  readonly service: string;
  readonly description: string;
  readonly reference: string;
  readonly transactionId: string;
  /** Listed when there are any: leave empty for a payment of one thing. */
  readonly items: readonly PageItem[];
  readonly amount: string;
  /** Absent when no charge applies. */
  readonly charge?: string | undefined;
  readonly total: string;
  readonly method?: string | undefined;
  readonly bank?: string | undefined;
  readonly fpxNo?: string | undefined;
  readonly orderNo?: string | undefined;
  readonly history: readonly { readonly time: string; readonly text: string }[];
  readonly backUrl: string;
  readonly pdfUrl?: string | undefined;
  /** The payment page, after a failed or cancelled attempt. */
  readonly tryAgainUrl?: string | undefined;
  /** This page again, while the outcome is open. */
  readonly refreshUrl?: string | undefined;
};

/** `verify`: confirms a receipt to anyone who has it, so it says nothing about who paid. */
export type VerifyPage = Page & {
  readonly status: PaymentStatus;
  readonly agency: string;
  readonly receiptNo: string;
  readonly dateTime: string;
  readonly total: string;
};

/** `error`: what went wrong, in plain words. */
export type ErrorPage = Page & {
  readonly httpStatus: number;
  readonly problem: ErrorKind;
  /** One more sentence about this request, such as which field is wrong. */
  readonly detail?: string | undefined;
  readonly requestId: string;
  /** Where the problem's own button leads, such as to a fresh payment page. */
  readonly actionUrl?: string | undefined;
};
