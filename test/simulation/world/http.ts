/** Requests of the people and systems outside: Node's own HTTP client on the simulated network. */
import { Agent, request } from 'node:http';
import type { SimulatedProcess } from '../engine/process.ts';

export type Answer = {
  host: string;
  status: number;
  location: string;
  link: string;
  /** The first that it sets, as it is sent back; `''` if none. */
  cookie: string;
  body: string;
};

/** Null when there was no answer in time. To be called in the process that asks. */
export function ask(
  process: SimulatedProcess,
  {
    host,
    path,
    method = 'GET',
    headers = {},
    body = '',
    timeoutMs = 60_000,
  }: {
    host: string;
    path: string;
    method?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
    timeoutMs?: number;
  },
): Promise<Answer | null> {
  const { promise, resolve } = Promise.withResolvers<Answer | null>();
  const sent = request({
    host,
    port: 80,
    path,
    method,
    agent: new Agent(),
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), host: 'pay.example' },
  });
  const cancel = process.after(timeoutMs, () => sent.destroy());
  const finish = (answer: Answer | null) => {
    cancel();
    resolve(answer);
  };
  sent.on('error', () => finish(null));
  sent.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk) => void chunks.push(chunk));
    response.on('error', () => finish(null));
    response.on('close', () => {
      if (!response.complete) return finish(null);
      const { statusCode: status = 0 } = response;
      const { location = '', link = '' } = response.headers;
      const [cookie = ''] = (response.headers['set-cookie'] ?? []).map((each) => each.split(';', 1).join());
      const body = Buffer.concat(chunks).toString('utf8');
      finish({ host, status, location, link: String(link), cookie, body });
    });
  });
  sent.end(body);
  return promise;
}

export const formOf = (fields: Readonly<Record<string, string>>): string =>
  new URLSearchParams(fields).toString();

export const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };
export const jsonHeaders = { 'content-type': 'application/json' };
