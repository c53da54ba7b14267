/** Examples of results and answers for the description of both payment channels. */
import { exampleId } from '../server/openapi/operation.ts';

export const resultExample = {
  STATUS: '1',
  PAYMENT_MODE: 'fpx',
  MERCHANT_CODE: 'demo-app',
  TRANS_ID: exampleId,
  RECEIPT_NO: 'R-20261120-1',
  PAYMENT_TRANS_ID: '2611200904300001',
  PAYMENT_DATETIME: '2026-11-20 09:04:30',
  AMOUNT: '120.50',
  BUYER_BANK: 'Maybank2U',
  BUYER_NAME: 'AMINAH BINTI ISMAIL',
  MERCHANT_ORDER_NO: `${exampleId}-1`,
  CHECKSUM: '<CHECKSUM>',
};

export const requeryExample = {
  success: true,
  data: {
    transaction_id: exampleId,
    trans_id: 'INV-2026-0001',
    status: '1',
    payment_status: 'Successful',
    receipt_no: 'R-20261120-1',
    payment_datetime: '2026-11-20 09:04:30',
    buyer_name: 'AMINAH BINTI ISMAIL',
    amount: '120.50',
    payment_mode: 'FPX Online Banking (Individual)',
    fpx_charge: '0.00',
    buyer_bank: 'Maybank2U',
    fpx_transaction_no: '2611200904300001',
    gateway_transaction_no: '2611200904300001',
    seller_order_no: `${exampleId}-1`,
    merchant_code: 'demo-app',
    description: 'Second half of 2026',
    service: 'Assessment tax',
    amount_received: '',
    status_detail: '',
  },
  message: 'The registry says successful: status updated to Successful',
};

/** The message of a refusal, by status. */
export const refusalExamples: Readonly<Record<number, string>> = {
  400: 'amount must be more than 0.00',
  401: 'Unauthorized',
  404: 'Transaction not found',
  409: 'This reference was used for another payment',
  413: 'The request body is too large',
  415: 'The Content-Type must be application/json',
  500: 'Internal error',
  502: 'The transaction registry cannot be reached; try again later',
  503: 'The service is not available at the moment; try again in a few seconds',
  504: 'The transaction registry did not answer in time; try again later',
};
