/** The gateway: takes payers to their bank, and reports how it ended, more or less well. */
import { signFields } from '../../../src/clients/gateway/checksum.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { AttemptPlan, MessagePlan, ReportPlan } from '../plan.ts';
import { gatewaySecret } from '../program/configuration.ts';
import type { Report } from '../violations.ts';
import type { Bank, Order } from './bank.ts';
import { ask, formHeaders, formOf, jsonHeaders } from './http.ts';
import type { Links } from './links.ts';

export type Gateway = ReturnType<typeof createGateway>;
type Fields = Record<string, string>;

/** Staff and a late result meet within this time. */
const meetWithinMs = 60;

const statusOf = { charged: '1', declined: '0', cancelled: '2', open: '3' } as const;

export function createGateway({
  process,
  bank,
  links,
  pickHttp,
  report,
  history,
}: {
  process: SimulatedProcess;
  bank: Bank;
  links: Links;
  pickHttp: () => string;
  report: Report;
  history: History;
}) {
  let unanswered = 0;
  let sharesId = false;
  let isLate = false;
  /** The orders whose results it has not reported. */
  const heldBack = new Set<string>();

  /** Sends a result until it is taken or refused; a server gives up after some hours. */
  async function send(
    fields: Fields,
    chargeId: string,
    message: Pick<MessagePlan, 'form' | 'by'>,
  ): Promise<void> {
    const signed: Fields = { ...fields, CHECKSUM: signFields(fields, gatewaySecret) };
    const isForm = message.form === 'form';
    const values = message.form === 'numbers' ? { ...signed, STATUS: Number(signed.STATUS) } : signed;
    const body = isForm ? formOf(signed) : JSON.stringify(values);
    const tries = message.by === 'browser' ? 3 : 12;
    for (let number = 0; number < tries; number += 1) {
      const answer = await ask(process, {
        host: pickHttp(),
        path: `/${fields.MERCHANT_CODE === 'land' ? 'landreg' : 'generic'}/response`,
        method: 'POST',
        headers: isForm ? formHeaders : jsonHeaders,
        body,
      });
      history.trace(`gateway result ${fields.PAYMENT_TRANS_ID} ${answer?.status}`);
      if (answer && answer.status < 400) {
        if (fields.MERCHANT_ORDER_NO && fields.PAYMENT_TRANS_ID) bank.named.add(fields.PAYMENT_TRANS_ID);
        links.keep(answer.location);
        if (fields.STATUS !== statusOf.charged) return;
        bank.recordedAtMs.set(`${answer.host} ${fields.TRANS_ID}`, process.nowMs());
        bank.told.add(`${fields.TRANS_ID} ${chargeId}`);
        return;
      }
      if (answer?.status === 404) {
        bank.setApart.add(fields.PAYMENT_TRANS_ID ?? '');
        if (bank.knownPayments.has(fields.TRANS_ID ?? ''))
          report(
            'false-not-found',
            fields.TRANS_ID ?? '',
            `The result ${fields.PAYMENT_TRANS_ID} was answered 404`,
          );
        return;
      }
      if (answer && answer.status < 500) {
        report(
          'signed-result-refused',
          fields.TRANS_ID ?? '',
          `A signed result was answered ${answer.status}`,
        );
        return;
      }
      if (answer && answer.status !== 503)
        report(
          'signed-result-refused',
          fields.TRANS_ID ?? '',
          `A signed result was answered ${answer.status}`,
        );
      unanswered += 1;
      await process.runtime.sleep(5_000 * 2 ** number);
    }
  }

  function fieldsOf(order: Order, amountSen: number, omits: MessagePlan['omits']): Fields {
    const has = (name: MessagePlan['omits'][number]) => !omits.includes(name);
    return {
      STATUS: statusOf[order.status],
      ...(has('mode') && { PAYMENT_MODE: order.mode }),
      MERCHANT_CODE: order.merchant,
      TRANS_ID: order.transactionId,
      ...(has('id') && { PAYMENT_TRANS_ID: order.chargeId }),
      PAYMENT_DATETIME: malaysianTime(order.endedAtMs),
      AMOUNT: ringgit(amountSen),
      BUYER_BANK: 'Bank Contoh',
      BUYER_NAME: 'A PAYER',
      ...(has('order') && { MERCHANT_ORDER_NO: order.orderNo }),
    };
  }

  function shareIdWith(order: Order): void {
    const other = bank.charges.find(({ transactionId }) => transactionId !== order.transactionId);
    if (!sharesId || !other) return;
    sharesId = false;
    order.chargeId = other.id;
    history.tell(`gateway: reports ${order.orderNo} as ${other.id}, which it has used before`);
  }

  /** Sends the messages about a transaction as it stands now. */
  function tell(
    order: Order,
    amountSen: number,
    messages: readonly MessagePlan[],
    onReturn: () => void = () => {},
  ): void {
    for (const message of messages) {
      if (message.fate === 'lost') {
        history.tell(`gateway: loses the ${message.by}'s result ${order.chargeId} of ${order.orderNo}`);
        continue;
      }
      const fields = fieldsOf(order, amountSen, message.omits);
      const times = message.fate === 'twice' ? 2 : 1;
      for (let number = 0; number < times; number += 1)
        process.after(message.delayMs * (number + 1), () => {
          const told = Object.entries(fields).filter(([name]) => /STATUS|PAYMENT|ORDER|AMOUNT/.test(name));
          history.tell(
            `gateway: sends ${told.map(([name, value]) => `${name}=${value}`).join(' ')} as ${message.form}`,
          );
          void send(fields, order.chargeId, message).then(message.by === 'browser' ? onReturn : () => {});
        });
    }
  }

  function reportBesides(order: Order, { status, isOther, messages }: ReportPlan): void {
    if (!isOther && order.status !== 'open') return;
    // Perhaps nobody was told of the first charge, and nobody asks about an order once another one has paid it.
    if (status === 'charged' && order.status === 'charged') return;
    if (!isOther) order.isPending = true;
    const transaction = {
      ...order,
      status: status === 'pending' ? 'open' : status,
      chargeId: isOther ? bank.nextId() : order.chargeId,
      isPending: status === 'pending',
      endedAtMs: process.nowMs(),
    } as const;
    if (isOther) bank.otherTransactions.push(transaction);
    if (status === 'charged') {
      bank.charge(transaction, order.amountSen);
      history.tell(
        `bank: charges ${ringgit(order.amountSen)} as ${transaction.chargeId} for ${order.orderNo}`,
      );
    }
    tell(transaction, order.amountSen, messages);
  }

  return {
    unanswered: () => unanswered,

    /** Takes a payer in with the signed form, and reports the end of the attempt as planned. */
    async handOver(form: Fields, plan: AttemptPlan, onReturn: () => void): Promise<void> {
      const orderNo = form.MERCHANT_ORDER_NO ?? '';
      const known = bank.orders.get(orderNo);
      const order: Order = known ?? {
        orderNo,
        transactionId: form.TRANS_ID ?? '',
        merchant: form.MERCHANT_CODE ?? '',
        reference: form.TRANSAKSI_ID ?? '',
        mode: form.PAYMENT_MODE ?? '',
        amountSen: Math.round(Number(form.AMOUNT) * 100),
        status: 'open',
        chargeId: bank.nextId(),
        startedAtMs: process.nowMs(),
        endedAtMs: process.nowMs(),
        isPending: false,
        registry: plan.registry,
      };
      bank.orders.set(orderNo, order);
      for (const report of plan.reports ?? [])
        process.after(report.afterMs, () => reportBesides(order, report));
      await process.runtime.sleep(plan.bankMs);
      // A payer with two tabs on one order can finish it once.
      if (plan.outcome === 'left' || order.status !== 'open') return;
      order.status = plan.outcome;
      order.endedAtMs = process.nowMs();
      const amountSen = order.amountSen + plan.wrongBySen;
      const isPaid = bank.charges.some((charge) => charge.orderNo === orderNo);
      const isHeldBack = !isPaid && isLate && process.random.chance(0.7);
      if (isHeldBack) {
        heldBack.add(orderNo);
        history.tell(`gateway: keeps the result ${order.chargeId} of ${orderNo} back`);
      }
      const messages = isPaid ? plan.messages.map(asSent) : isHeldBack ? [] : plan.messages;
      if (plan.outcome === 'charged') {
        shareIdWith(order);
        const charge = bank.charge(order, amountSen);
        history.tell(`bank: charges ${ringgit(amountSen)} as ${order.chargeId} for ${order.orderNo}`);
        if (plan.reversedAfterMs !== null)
          process.after(plan.reversedAfterMs, () => {
            charge.reversedAtMs = process.nowMs();
            order.status = 'declined';
            bank.misreported.add(order.transactionId);
            history.tell(`bank: takes ${order.chargeId} back`);
            void send(fieldsOf(order, amountSen, []), order.chargeId, { form: 'form', by: 'server' });
          });
      }
      tell(order, amountSen, messages, onReturn);
    },

    /** Results that belong to no payment, two of them by turns. */
    async alternateUnmatched(times: number): Promise<void> {
      for (let number = 0; number < times; number += 1)
        for (const name of ['A', 'B']) {
          const fields = {
            STATUS: '1',
            MERCHANT_CODE: 'council',
            TRANS_ID: 'UNKNOWN',
            PAYMENT_TRANS_ID: `U-${name}`,
            AMOUNT: '10.00',
            PAYMENT_DATETIME: '2026-11-20 09:00:00',
          };
          await send(fields, fields.PAYMENT_TRANS_ID, { form: 'form', by: 'browser' });
        }
    },

    /** Results of payments that another system has requested, each with a name. */
    async reportStrays(count: number): Promise<void> {
      for (let number = 0; number < count; number += 1) {
        const id = bank.nextId();
        const fields = {
          STATUS: '1',
          MERCHANT_CODE: 'council',
          TRANS_ID: `STRAY-${id}`,
          PAYMENT_TRANS_ID: id,
          AMOUNT: '10.00',
          PAYMENT_DATETIME: malaysianTime(process.nowMs()),
          BUYER_NAME: 'A PAYER',
        };
        await send(fields, id, { form: 'form', by: 'server' });
      }
    },

    /** While it is late, it keeps most results back until somebody treats the payment, and repeats some of the others. */
    setLate(next: boolean): void {
      isLate = next;
    },

    /** Somebody treats a payment. */
    mayReport(transactionId: string): void {
      if (!isLate) return;
      for (const order of bank.orders.values()) {
        if (order.transactionId !== transactionId || order.status === 'open') continue;
        const { chargeId, orderNo } = order;
        if (!heldBack.delete(orderNo) && process.random.chance(0.8)) continue;
        const charge = bank.charges.find((each) => each.orderNo === orderNo && each.id === chargeId);
        const fields = fieldsOf(order, charge?.amountSen ?? order.amountSen, []);
        process.after(process.random.integer(0, meetWithinMs), () => {
          history.tell(`gateway: reports ${chargeId} of ${orderNo} at last, or once more`);
          void send(fields, chargeId, { form: 'form', by: 'server' });
        });
      }
    },

    /** The gateway uses the id of one charge for the next charge of another payment. */
    shareId(): void {
      sharesId = true;
    },
  };
}

/** Nobody asks about an order that is paid: what else is charged for it has to be told, and in full. */
const asSent = (message: MessagePlan): MessagePlan => ({ ...message, fate: 'sent', omits: [] });

export function ringgit(amountSen: number): string {
  const digits = String(amountSen).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export const malaysianTime = (atMs: number): string =>
  new Date(atMs + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
