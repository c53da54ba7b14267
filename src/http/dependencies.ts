/** What the HTTP role needs from the rest of the program. */
import type { TransactionRegistry } from '../clients/registry/registry.ts';
import type { Execute } from '../commands/execute.ts';
import type { PaymentCommand } from '../commands/payment.ts';
import type { Config } from '../config/config.ts';
import type { Payment, PaymentEvent } from '../events/payment.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Log } from '../kernel/log.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { LatestPayment } from '../projections/payments/queries.ts';
import type { ContentDependencies } from './api/dependencies.ts';
import type { OwnDependencies } from './console/dependencies.ts';

export type Dependencies = {
  config: HttpConfig;
  execute: Execute<Payment, PaymentCommand, PaymentEvent>;
  eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast' | 'firstAfter' | 'head'>;
  content: ContentDependencies;
  console: OwnDependencies;
  /** The read model's row, which may lag; null when there is none (yet). Rejects when Postgres is down. */
  findPayment(transactionId: string): Promise<{ state: Payment } | null>;
  /** Ids of the payments in the read model that have this receipt number. Rejects when Postgres is down. */
  findByReceiptNo(receiptNo: string): Promise<readonly string[]>;
  registry: TransactionRegistry;
  /** The latest generic payments in the read model. Rejects when Postgres is down. */
  latestPayments(): Promise<readonly LatestPayment[]>;
  log: Log;
  clock?: () => Date;
  runtime: Runtime;
};

export type HttpConfig = Pick<
  Config,
  | 'production'
  | 'environment'
  | 'baseUrl'
  | 'merchants'
  | 'methods'
  | 'transactionIdKey'
  | 'maxAmountSen'
  | 'gateway'
  | 'apiKeys'
  | 'landregAccessKey'
> & { sandbox: Pick<Config['sandbox'], 'enabled'> };
