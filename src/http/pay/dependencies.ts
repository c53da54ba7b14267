/** What both payment channels need from the rest of the program. */
import type { TransactionRegistry } from '../../clients/transaction-registry/registry.ts';
import type { ExecuteOf } from '../../commands/execute.ts';
import type { paymentDecider } from '../../commands/payment.ts';
import type { RecordAnswer } from '../../commands/record-requery.ts';
import type { Quarantine } from '../../commands/unmatched.ts';
import type { Config } from '../../config/config.ts';
import type { PersonalDataReader } from '../../events/personal-data.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Log } from '../../kernel/log.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { PaymentRow } from '../../projections/payments/queries.ts';
import type { KnownHeads } from '../server/known-heads.ts';

export type PayDependencies = {
  config: Pick<
    Config,
    | 'production'
    | 'environment'
    | 'baseUrl'
    | 'merchants'
    | 'methods'
    | 'transactionIdKey'
    | 'linkKeys'
    | 'maxAmountSen'
    | 'gateway'
  >;
  execute: ExecuteOf<typeof paymentDecider>;
  eventStore: Pick<EventStore, 'load'>;
  /** Of the streams that `execute` and `eventStore` write and read. */
  heads: Pick<KnownHeads, 'revisionOf'>;
  /** The read model's row, which may lag; null when there is none (yet). Rejects when Postgres is down. */
  findPayment(transactionId: string): Promise<PaymentRow | null>;
  personalData: Pick<PersonalDataReader, 'open'>;
  registry: TransactionRegistry;
  recordAnswer: RecordAnswer;
  quarantine: Quarantine;
  log: Log;
  runtime: Runtime;
};
