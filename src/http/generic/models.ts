/** What the two test pages show. */
import type { Page, PaymentStatus } from '../pay/models.ts';
import type { testPageTexts } from './test-page-texts.ts';

type Field = { readonly name: string; readonly value: string };

/** `debug`: a gateway result, signed and ready to be posted. */
export type DebugPage = Page & {
  readonly action: string;
  /** Undefined when they cannot be listed. */
  readonly latest?:
    | readonly {
        readonly url: string;
        readonly merchantCode: string;
        readonly reference: string;
        readonly status: PaymentStatus;
        readonly amount: string;
      }[]
    | undefined;
  readonly simulateUrl: string;
  readonly transactionId: string;
  readonly unknown: boolean;
  /** The one chosen; the result below is of it. */
  readonly payment?:
    | {
        readonly status: PaymentStatus;
        readonly amount: string;
        readonly agency: string;
        readonly reference: string;
        readonly receiptUrl: string;
      }
    | undefined;
  readonly inputs: readonly (Field & {
    readonly choices?: readonly { readonly value: string; readonly text: string }[] | undefined;
  })[];
  readonly responseUrl: string;
  readonly signed: readonly Field[];
};

/** `simulate`: a call of /generic/request to fill in, and what it was answered. The form posts `send` as well. */
export type SimulatePage = Page & {
  readonly action: string;
  readonly debugUrl: string;
  readonly required: readonly Field[];
  readonly optional: readonly Field[];
  readonly error?: keyof (typeof testPageTexts)['en']['simulate']['errors'];
  readonly curl?: string;
  readonly answer?:
    | {
        readonly status: number;
        readonly ok: boolean;
        readonly body: string;
        readonly paymentUrl?: string | undefined;
      }
    | undefined;
};
