/** The land registry, a payer and a gateway that call the app over HTTP. */
import { landregAccessKey, type TestApp } from '../../support/app.ts';
import { resultFields, signed } from '../generic/helpers.ts';

let references = 0;

export const keyHeaders = { authorization: `Bearer ${landregAccessKey}` };
export const jsonHeaders = { ...keyHeaders, 'content-type': 'application/json' };

export function requestBody(over: Record<string, unknown> = {}): Record<string, unknown> {
  references += 1;
  return {
    kod_cawangan: '00',
    transaksi_id: `T-${references}`,
    jumlah_bayaran: 120.5,
    return_url: 'https://land.example/done?session=1',
    maklumat_bayaran: [
      { id_hakmilik: '080102GRN00012345', urusan: 'Cukai Tanah', jumlah_bayaran: 100 },
      { urusan: 'Carian Rasmi', jumlah_bayaran: '20.50' },
    ],
    extra: {
      name: 'Aminah binti Ismail',
      email: 'aminah@example.my',
      ic_no: '900101145678',
      account_no: 'A-1',
      address: '1 Jalan Contoh',
      postcode: '30000',
      city: 'Ipoh',
      state: 'Perak',
    },
    ...over,
  };
}

export function postRequest(
  app: TestApp,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${app.url}/landreg/request`, {
    method: 'POST',
    headers: { ...jsonHeaders, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Asks for a payment and answers its transaction id and the signed link to pay it. */
export async function createLandPayment(
  app: TestApp,
  over: Record<string, unknown> = {},
): Promise<{ transactionId: string; payUrl: string }> {
  const response = await postRequest(app, requestBody(over), { accept: 'application/json' });
  const { data } = (await response.json()) as { data: { transaction_id: string; payment_url: string } };
  return { transactionId: data.transaction_id, payUrl: data.payment_url };
}

export function landResult(transactionId: string, over: Record<string, string> = {}): Record<string, string> {
  return resultFields(transactionId, { MERCHANT_CODE: 'state-land', ...over });
}

/** What the gateway says of the first attempt, signed; answers where the payer is sent. */
export function reportLandResult(
  app: TestApp,
  transactionId: string,
  over: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${app.url}/landreg/response`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(signed(landResult(transactionId, over))),
  });
}
