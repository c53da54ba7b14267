/** What personal data events hold, each sealed: see @ledger/personal-data/sealed.ts. */
import { personalDataErased } from '@ledger/personal-data/sealed.ts';
import { type Infer, object, record, string, unknown } from 'superstruct';
import { readerOf } from './codec.ts';

/** The payer as the merchant named them; every field may be `''`. */
export const Payer = object({
  name: string(),
  email: string(),
  icNo: string(),
  address1: string(),
  address2: string(),
  city: string(),
  postcode: string(),
  state: string(),
  phoneNo: string(),
});
export type Payer = Infer<typeof Payer>;

/** `extra` is whatever else the merchant gave. */
export const RequestDetails = object({ payer: Payer, extra: record(string(), unknown()) });
export type RequestDetails = Infer<typeof RequestDetails>;

/** `''` where the bank gave no name. */
export const Buyer = object({ buyerName: string() });
export type Buyer = Infer<typeof Buyer>;

/** What staff wrote about a payment. */
export const StaffNote = object({ note: string() });
export type StaffNote = Infer<typeof StaffNote>;

/** What the gateway or the registry sent, as evidence. */
export const ReceivedFields = record(string(), string());
export type ReceivedFields = Infer<typeof ReceivedFields>;

/** `PersonalDataErased`, in whichever stream. */
export const readErasure = readerOf({ PersonalDataErased: personalDataErased });
