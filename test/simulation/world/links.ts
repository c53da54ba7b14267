/** The signed links that payers, agencies and receipts have: they are kept, and opened again later. */
import type { History } from '../engine/history.ts';
import { type SimulatedProcess, within } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Report } from '../violations.ts';
import { ask } from './http.ts';

export type Links = ReturnType<typeof createLinks>;

/** Of the land registry's pages, and of receipts on paper. */
const form =
  /http:\/\/pay\.example(\/landreg\/(?:pay|receipt|download)\/\w+\?(?:lang=\w+&)?sig=\d+\.[\w-]{43}|\/verify\/[\w.%-]+\?c=\w+)/g;
/** A link to a page of payment ends after a day; those to receipts are good for years. */
const payForMs = 23 * 60 * 60_000;
const fewest = 3;
const most = 30;
const tries = 5;

export function createLinks({
  process,
  pickHttp,
  random,
  report,
  history,
  mayBeRefused,
}: {
  /** Of the people who open them. */
  process: SimulatedProcess;
  pickHttp: () => string;
  random: Random;
  report: Report;
  history: History;
  /** Whether the log may lack a payment, or a clock be so wrong that a link has expired by it. */
  mayBeRefused: boolean;
}) {
  const issuedMs = new Map<string, number>();
  let revokedMs = Number.NEGATIVE_INFINITY;

  /** Its status: whether it opens; 0 if there is no answer that says it. */
  async function statusOf(path: string): Promise<number> {
    for (let number = 0; number < tries; number += 1) {
      const answer = await ask(process, { host: pickHttp(), path });
      if (answer && answer.status < 500) return answer.status;
      await process.runtime.sleep(5_000 * (number + 1));
    }
    return 0;
  }

  async function open(path: string): Promise<void> {
    const [shown = ''] = path.split('?');
    const issued = issuedMs.get(path) ?? 0;
    const askedMs = process.nowMs();
    if (shown.startsWith('/landreg/pay/') && askedMs - issued > payForMs) return;
    const status = await statusOf(path);
    history.tell(`link: ${path} of ${askedMs - issued} ms ago is answered ${status}`);
    const isRefused = status === 401 || status === 404;
    const isRevoked = issued <= revokedMs;
    if (isRefused && !isRevoked && !mayBeRefused) report('link-refused', shown, `It was answered ${status}`);
    if (status !== 0 && !isRefused && askedMs > revokedMs && isRevoked)
      report('revoked-opens', shown, `It was answered ${status}, and its key counts no more`);
  }

  async function openSome(count: number): Promise<void> {
    const paths = [...issuedMs.keys()];
    const chosen = paths.length <= count ? paths : Array.from({ length: count }, () => random.pick(paths));
    await Promise.all([...new Set(chosen)].map(open));
  }

  return {
    /** Keeps the links in an answer or a document. */
    keep(text: string): void {
      for (const [, path = ''] of text.replaceAll('&amp;', '&').matchAll(form))
        if (!issuedMs.has(path)) issuedMs.set(path, process.nowMs());
    },
    /** The form of a page that is still open was refused. */
    refused(page: string): void {
      if (!mayBeRefused && revokedMs === Number.NEGATIVE_INFINITY)
        report('link-refused', page, 'What was signed a moment ago was answered 401');
    },
    /** None of those that were made by now counts any more. */
    revoke(): void {
      revokedMs = process.nowMs();
      history.tell(`links: ${issuedMs.size} are revoked`);
    },
    openSome: () => within(process, () => openSome(fewest)),
    openMany: () => within(process, () => openSome(most)),
  };
}
