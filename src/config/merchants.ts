/** The merchants: who may request payments, with which keys. Read from a file and validated at startup. */
import { dirname, resolve } from 'node:path';
import { readImage } from '@ledger/kernel/image-file.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { readText } from '@ledger/kernel/readable-file.ts';
import { written } from '@ledger/kernel/structs.ts';
import { ConfigError, readYamlFile } from '@ledger/kernel/yaml-file.ts';
import {
  array,
  boolean,
  enums,
  type Infer,
  integer,
  is,
  min,
  nonempty,
  object,
  optional,
  pattern,
  record,
  size,
  string,
} from 'superstruct';
import type { Sen } from '../common/money.ts';
import { type PaymentMode, paymentModes } from '../common/payment-modes.ts';
import { agencyPage, agencyPageOf } from './agency-page.ts';
import { ringgit } from './ringgit.ts';

const merchantCode = pattern(size(string(), 1, 50), /^[A-Za-z0-9][A-Za-z0-9._-]*$/);

/** A key that callers present, or its digest. */
export const keyForm = /^(sha256:[0-9a-f]{64}|(?!sha256:)\S{6,200})$/;

const apiKey = written(keyForm, 'sha256:<64 hex digits>, or a key of 6 to 200 characters without blanks');

/** In the form of Standard Webhooks, or any text. */
const webhookSecret = written(
  /^(whsec_(?=.{32,88}$)[A-Za-z0-9+/]+={0,2}|(?!whsec_)\S{24,200})$/,
  'whsec_ and 24 to 64 bytes in base64, or 24 to 200 characters without blanks',
);

const host = written(/^(\[[\da-f:]+\]|[^\s/:?#@\\*]+)$/i, 'the name of a host, without port, path or *');
const canonicalHost = (name: string) => URL.parse(`https://${name}`)?.hostname ?? name;

const MerchantsFile = object({
  merchants: record(
    merchantCode,
    object({
      name: nonempty(string()),
      id: min(integer(), 1),
      api_keys: optional(nonempty(array(apiKey))),
      branch_code: optional(pattern(string(), /^\d{2}$/)),
      webhook_secret: optional(nonempty(array(webhookSecret))),
      webhook_secret_file: optional(nonempty(string())),
      callback_format: optional(enums(['json', 'form'])),
      callback_events: optional(nonempty(array(enums(['reversed', 'refunded'])))),
      partial_payments: optional(boolean()),
      redirect_hosts: optional(nonempty(array(host))),
      charges: optional(record(enums(paymentModes), ringgit)),
      ...agencyPage,
    }),
  ),
});

/** A page with a logo stays below 40 KB. */
const maxLogoBytes = 10_240;

/** Publicly known keys, which production refuses. */
const publicKeys = ['demo-key', 'whsec_bm90IGEgc2VjcmV0OiBkZW1vLWFwcCBvZiBsZWRnZXI='];

const isForDevelopment = 'holds a development key; production refuses it';

/** Reads the file; adds it and those it names to `files`. Throws ConfigError naming every key at fault and no value. */
export function loadMerchants(
  path: string,
  production: boolean,
  files: string[] = [],
): Map<string, Merchant> {
  files.push(path);
  const { merchants } = readYamlFile(path, MerchantsFile);
  const entries = Object.entries(merchants);
  const faults = [...sharedValues(entries, 'id'), ...sharedValues(entries, 'branch_code')];
  const read = new Map<string, Merchant>();
  const fileBeside = (name: string) => {
    const file = resolve(dirname(path), name);
    files.push(file);
    return file;
  };
  for (const [code, merchant] of entries) {
    const { id, logo, webhook_secret: listed, webhook_secret_file: file } = merchant;
    const image = logo === undefined ? { url: '' } : readImage(fileBeside(logo), maxLogoBytes);
    const inFile = file === undefined ? [] : readSecrets(fileBeside(file));
    const secrets = listed ?? inFile ?? [];
    const keys = merchant.api_keys ?? [];
    const isPublic = (values: readonly string[]) => values.some((value) => publicKeys.includes(value));
    const check = (isRight: boolean, fault: string) => {
      if (!isRight) faults.push(`merchants.${code}${fault}`);
    };
    // People may name a merchant by either.
    check(String(id) === code || !Object.hasOwn(merchants, id), '.id is also the code of another');
    if ('fault' in image) check(false, `.logo ${image.fault}`);
    check(inFile !== null, '.webhook_secret_file must name a file with one secret in each line');
    check(!listed || file === undefined, ' has both webhook_secret and webhook_secret_file');
    check(keys.length > 0 || merchant.branch_code !== undefined, ' needs api_keys or a branch_code');
    check(!production || !isPublic(keys), `.api_keys ${isForDevelopment}`);
    check(!production || !isPublic(secrets), `.webhook_secret ${isForDevelopment}`);
    read.set(code, merchantOf(code, merchant, { secrets, logoUrl: 'url' in image ? image.url : '' }));
  }
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${path}: ${fault}`));
  return read;
}

/** Whether a file at fault has agencies of the land registry: what they need is then reported with its faults. */
export const namesBranch = (path: string): boolean =>
  /^[^#\n]*\bbranch_code\b/m.test(orElse(() => readText(path), ''));

/** The secrets in a file, one in each line; null if it cannot be read or has a line that is no secret. */
function readSecrets(file: string): readonly string[] | null {
  const lines = orElse(() => readText(file), '')
    .trim()
    .split(/\s*\n\s*/);
  return lines.every((line) => is(line, webhookSecret)) ? lines : null;
}

type InFile = Infer<typeof MerchantsFile>['merchants'][string];

function merchantOf(
  code: string,
  merchant: InFile,
  { secrets, logoUrl }: { secrets: readonly string[]; logoUrl: string },
) {
  return {
    code,
    name: merchant.name,
    id: merchant.id,
    /** `sha256:<64 hex digits>` or the plain key; none if only the land registry requests this merchant's payments. */
    apiKeys: (merchant.api_keys ?? []) as readonly string[],
    /** kod_cawangan, by which the land registry names this agency; `''` where it does not. */
    branchCode: merchant.branch_code ?? '',
    /** Its callbacks are signed with each of these; empty: not signed. */
    webhookSecrets: secrets,
    callbackFormat: merchant.callback_format ?? 'json',
    /** The adjustments that its callbacks report; without them, the status alone. */
    toldOf: [
      ...(merchant.callback_events ?? []),
      ...(merchant.partial_payments ? (['partlyPaid'] as const) : []),
    ] as readonly ('reversed' | 'refunded' | 'partlyPaid')[],
    /** Whether staff may credit less than was asked for as a part of it. */
    takesParts: merchant.partial_payments ?? false,
    /** Hosts that redirect_url may name, in the form that they have in a URL that was read; null allows any. */
    redirectHosts: (merchant.redirect_hosts?.map(canonicalHost) ?? null) as readonly string[] | null,
    /** What this merchant's payers are charged, where it differs from the method's own charge. */
    charges: (merchant.charges ?? {}) as Partial<Record<PaymentMode, Sen>>,
    page: agencyPageOf(merchant, logoUrl),
  };
}

export type Merchant = ReturnType<typeof merchantOf>;

type Merchants = ReadonlyMap<string, Pick<Merchant, 'code' | 'id'>>;

/** The code of a merchant that people name by its code or its id; what they named if there is none. */
export const merchantCodeOf = (merchants: Merchants, named: string): string =>
  (merchants.get(named) ?? [...merchants.values()].find(({ id }) => String(id) === named))?.code ?? named;

/** The merchants whose payments somebody may see, as people type them: codes and agency ids, or `*` for all. */
export function readScope(text: string, merchants: Merchants) {
  const typed = text.replace(/^[\s,]+|[\s,]+$/g, '');
  const codes = new Set(typed.split(/[\s,]+/).map((named) => merchantCodeOf(merchants, named)));
  return { merchants: typed === '*' ? null : [...codes].toSorted(), configured: [...merchants.keys()] };
}

/** No id or branch code may belong to two merchants. */
function sharedValues(entries: readonly [code: string, InFile][], field: 'id' | 'branch_code'): string[] {
  const owners = new Map<number | string | undefined, string>();
  return entries.flatMap(([merchantCode, { [field]: value }]) => {
    const owner = owners.get(value);
    if (value === undefined || owner === undefined) {
      owners.set(value, merchantCode);
      return [];
    }
    return [`merchants.${merchantCode}.${field} is also that of ${owner}`];
  });
}
