/**
 * The receipt email, with the same facts as the attached PDF, or the one about a wrong amount: subject, text and HTML. It loads nothing from any host, and
 * names and descriptions are never more than text in it.
 */
import { printable } from '@ledger/pdf/printable.ts';
import type { Receipt } from './receipt.ts';
import { factsOf, itemLinesOf, type Language, otherChargeTexts, statusName, texts } from './texts.ts';

/** `receiptUrl` gives the receipt's page in a language. */
export function receiptMessage(receipt: Receipt, lang: Language, receiptUrl: (lang: Language) => string) {
  const content = contentOf(receipt, lang, receiptUrl);
  return {
    subject: `${content.title} ${printable(receipt.receiptNo || receipt.reference)} – ${content.agency}`,
    text: asText(content),
    html: asHtml(content),
  };
}

type Pair = readonly [label: string, text: string];
type Content = ReturnType<typeof contentOf>;

/** Every value is one line, without control characters. */
function contentOf(receipt: Receipt, lang: Language, receiptUrl: (lang: Language) => string) {
  const words = texts[lang];
  const pair = (label: string, text: string): Pair => [label, printable(text)];
  const lines = (...parts: string[]) => parts.map(printable).filter(Boolean).join(' · ');
  return {
    lang,
    words: words.email,
    isOfficial: receipt.isOfficial,
    title: receipt.isOfficial ? words.receipt.headings.success : words.email.notice,
    agency: printable(receipt.agency),
    total: receipt.total,
    status: words.statuses[statusName(receipt.status)],
    /** What has happened, and what to do. */
    lead: [
      ...otherChargeTexts(receipt, lang).map(printable),
      ...(receipt.isOfficial ? [words.email.attached] : []),
      ...(receipt.status === 'wrongAmount' ? [words.receipt.explanations.wrongAmount] : []),
    ],
    facts: factsOf(receipt, lang).map(([label, fact]) => pair(label, fact)),
    amountsTitle: words.receipt.amounts,
    items: itemLinesOf(receipt).map(({ description, detail, amount }) =>
      pair(lines(description, detail), amount),
    ),
    sums: [...(receipt.fee === '' ? [] : [pair(words.fee, receipt.fee)]), pair(words.total, receipt.total)],
    open: [receipt.isOfficial ? words.email.open : words.email.openPayment, receiptUrl(lang)] as Pair,
    other: [words.email.otherLanguage, receiptUrl(lang === 'en' ? 'ms' : 'en')] as Pair,
  };
}

function asText(content: Content): string {
  const { isOfficial, words, title, agency, total, status, lead, facts, items, sums, open, other } = content;
  const lines = (pairs: readonly Pair[]) => pairs.map(([label, text]) => `${label}: ${text}`);
  return [
    title,
    agency,
    ...(isOfficial ? [`${total} · ${status}`] : []),
    '',
    ...lead,
    '',
    ...lines(facts),
    '',
    ...(isOfficial ? [...lines([...items, ...sums]), ''] : []),
    ...lines([open, other]),
    '',
    words.note,
    '',
  ].join('\n');
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Mail programs support little CSS: styles are on the elements, and a style sheet serves those with a dark mode. */
function asHtml(content: Content): string {
  const { isOfficial, lang, words, title, agency, total, status, lead, facts, items, sums, open, other } =
    content;
  const row = (label: string, value: string) =>
    `<tr><th scope="row" class="quiet" style="${cell};width:38%;font-weight:400;color:#52525b">${escaped(label)}</th>` +
    `<td style="${cell}"><bdi>${escaped(value)}</bdi></td></tr>`;
  const amountRow = (label: string, amount: string, strong = '') =>
    `<tr><td style="${cell}${strong}"><bdi>${escaped(label)}</bdi></td>` +
    `<td style="${cell};text-align:right;white-space:nowrap${strong}">${escaped(amount)}</td></tr>`;
  const bold = ';font-weight:700';
  const paid = `<p style="margin:0;font-size:30px;line-height:1.15;font-weight:700">${escaped(total)}</p>
<p class="good" style="margin:4px 0 16px;font-weight:700;color:#15803d">&#10003; ${escaped(status)}</p>
`;
  const amounts = `<h2 style="margin:24px 0 8px;font-size:17px">${escaped(content.amountsTitle)}</h2>
<table style="${table}">
${items.map(([text, amount]) => amountRow(text, amount)).join('\n')}
${sums.map(([label, amount], index) => amountRow(label, amount, index === sums.length - 1 ? bold : '')).join('\n')}
</table>
`;
  return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${darkSheet}</style>
</head>
<body class="ground" style="margin:0;padding:16px;background:#fafafa;color:#18181b;${font}">
<div class="card" style="max-width:600px;margin:0 auto;background:#ffffff;border:1px solid #e4e4e7;border-radius:12px;overflow:hidden">
<div style="height:6px;background:#2563eb"></div>
<div style="padding:24px">
<p style="margin:0"><bdi>${escaped(agency)}</bdi></p>
<h1 style="margin:4px 0 16px;font-size:22px;line-height:1.25">${escaped(title)}</h1>
${isOfficial ? paid : ''}${lead.map((text) => `<p style="margin:0 0 16px">${escaped(text)}</p>`).join('\n')}
<p style="margin:0 0 8px"><a href="${escaped(open[1])}" style="display:inline-block;padding:12px 20px;background:#2563eb;color:#ffffff;border-radius:8px;font-weight:700;text-decoration:none">${escaped(open[0])}</a></p>
<p style="margin:0 0 24px"><a class="link" href="${escaped(other[1])}" style="color:#1d4ed8">${escaped(other[0])}</a></p>
<table style="${table}">
${facts.map(([label, fact]) => row(label, fact)).join('\n')}
</table>
${isOfficial ? amounts : ''}<p class="quiet" style="margin:24px 0 0;font-size:14px;color:#52525b">${escaped(words.note)}</p>
</div>
</div>
</body>
</html>
`;
}

const font =
  "font:16px/1.5 -apple-system,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif;overflow-wrap:anywhere";
const table = 'width:100%;border-collapse:collapse;font-size:15px';
const cell = 'padding:8px 0;border-bottom:1px solid #e4e4e7;text-align:left;vertical-align:top';
const darkSheet =
  '@media (prefers-color-scheme:dark){' +
  '.ground{background:#18181b!important;color:#fafafa!important}' +
  '.card{background:#1d1d21!important;border-color:#3f3f46!important}' +
  'td,th{border-color:#3f3f46!important}' +
  '.quiet{color:#a1a1aa!important}.link{color:#96b7ff!important}.good{color:#4ade80!important}}';
