/** What the HTTP role needs from the rest of the program. Each handler names the few things that it uses. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { HeadCache } from '@ledger/event-store/head-cache.ts';
import type { Mailer } from '@ledger/outbound/mailer.ts';
import type { PostOutbound } from '@ledger/outbound/post.ts';
import type { PersonalData } from '@ledger/personal-data/personal-data.ts';
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import type { ListQueries } from '@ledger/projections/runtime/list-projection.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import type { TransactionRegistry } from '../../clients/transaction-registry/registry.ts';
import type { Credentials } from '../../commands/credentials.ts';
import type { ExecutePayment } from '../../commands/payment.ts';
import type { RecordAnswer } from '../../commands/record-answer.ts';
import type { Config } from '../../config/config.ts';
import type { Project } from '../../events/project.ts';
import type { Account } from '../../events/user.ts';
import type { AnsweredRequest } from '../../monitoring/counters.ts';
import type { LookDependencies } from '../../monitoring/health.ts';
import type { Erase } from '../../personal-data/erase.ts';
import type { PaymentQueries } from '../../projections/payments/queries.ts';
import type { Documents } from '../../statements/document.ts';

export type Dependencies = PaymentQueries &
  LookDependencies &
  Omit<Stores<keyof EventStore>, 'personalData'> & {
    config: Config;
    credentials: Credentials;
    documents: Documents;
    countRequest?: ((answered: AnsweredRequest) => void) | undefined;
    /** On payments; the handlers of other streams make their own. */
    execute: ExecutePayment;
    /** The heads of the streams that `eventStore` writes and reads. */
    heads: Pick<HeadCache, 'revisionOf'>;
    personalData: PersonalDataReader & Pick<PersonalData, 'seal' | 'store'>;
    registry: TransactionRegistry;
    recordAnswer: RecordAnswer;
    /** Sends a merchant a test callback, to an address that the merchant chose. */
    postTest: PostOutbound;
    fetchOwn: typeof fetch;
    users: ListQueries<Account>;
    projects: ListQueries<Project>;
    version: string;
    mailer: Mailer;
    erase: Erase;
    /** Aborts when the process is asked to stop, which ends open streams of events. */
    closing: AbortSignal;
  };
