/** What the fields of requests and callbacks mean, in the words of the interface documents. */
import type { NewUser } from '../../commands/user.ts';
import type { JsonSchema } from '../../kernel/with-json-schema.ts';
import type { PaymentFields } from '../../receipts/payment-fields.ts';
import type { RequestBody as GenericBody } from '../generic/request-body.ts';
import type { RequestBody as LandregBody } from '../landreg/request-body.ts';

const newUser: Record<keyof NewUser, string> = {
  name: 'No space at either end',
  email: 'Taken once: a second user with it is refused',
  role: 'What the user may do',
};

const genericPayment: Record<keyof GenericBody, string> = {
  trans_id: 'The merchant’s own reference: one payment each',
  amount: 'What is to be paid, in RM',
  service: 'Name of the service, shown to the payer',
  description: 'What the payment is for',
  callback_url: 'Told of every change of status',
  redirect_url: 'Where the payer goes afterwards; trans_id, transaction_id and status are added to its query',
  name: 'Name of the payer',
  email: 'Where the receipt goes; without one, none is sent',
  ic_no: 'Identity card or user name of the payer',
  address_1: 'Address of the payer',
  address_2: 'Second line of the address',
  city: 'City of the payer',
  postcode: 'Postcode of the payer',
  state: 'State of the payer',
  phone_no: 'Phone number of the payer',
  extra: 'Whatever else is to be kept with the payment',
};

const landregPayment: Record<keyof LandregBody, string> = {
  kod_cawangan: 'Branch code, which says which agency is paid: 00, 01, 02 or 03',
  transaksi_id: 'The land registry’s own reference: one payment each',
  jumlah_bayaran: 'What is to be paid, in RM: the sum of the items',
  return_url: 'Where the payer goes afterwards; trans_id, transaction_id and status are added to its query',
  maklumat_bayaran: 'What is paid: urusan says what for, id_hakmilik for which land title',
  extra: 'Details of the payer, and whatever else is to be kept with the payment',
};

const paymentFields: Record<keyof PaymentFields, string> = {
  transaction_id: 'Transaction id of the service',
  trans_id: 'The merchant’s own reference',
  status: '0 failed, 1 success, 2 cancelled, 3 pending',
  payment_status: 'The status in words',
  receipt_no: 'Empty unless it succeeded',
  payment_datetime: 'YYYY-MM-DD HH:mm:ss, in Malaysia',
  buyer_name: 'Name of the payer',
  amount: 'What the payer pays in all, in RM',
  payment_mode: 'The payment method in words',
  fpx_charge: 'The charge within the amount, in RM',
  buyer_bank: 'The payer’s bank',
  fpx_transaction_no: 'The gateway’s own number',
  seller_order_no: 'Number of the attempt to pay',
  merchant_code: 'Whom it was paid to',
  description: 'What the payment is for',
  service: 'Name of the service',
};

const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CreateUserPayload: newUser,
  GenericPaymentRequest: genericPayment,
  LandregPaymentRequest: landregPayment,
  PaymentFields: paymentFields,
};

/** The schema of this name with descriptions of its fields, in front of what the schema itself says of its limits. */
export function withFieldTexts(name: string, schema: JsonSchema): JsonSchema {
  const fieldTexts = texts[name];
  if (!fieldTexts) return schema;
  const properties = Object.entries(schema.properties as Record<string, JsonSchema>).map(
    ([field, member]) => {
      const { description: limits } = member;
      const sentences = [fieldTexts[field], limits].filter((it) => it !== undefined);
      return [field, { ...member, description: sentences.join('. ') }];
    },
  );
  return { ...schema, properties: Object.fromEntries(properties) };
}
