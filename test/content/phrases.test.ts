// Everything that the console says in English has its sentence in Malay, and no other sentence is kept.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import phrases from '../../content/texts/phrases.ms.json' with { type: 'json' };
import reconciliation from '../../content/texts/reconciliation.en.json' with { type: 'json' };
import outbound from '../../packages/outbound/outbound.json' with { type: 'json' };
import { phrase } from '../../src/common/phrases.ts';
import { consoleTemplates, readSource, readTemplate } from './templates.ts';

const templates: Readonly<Record<string, string>> = phrases.templates;
const messages: Readonly<Record<string, string>> = phrases.messages;
const root = fileURLToPath(new URL('../../', import.meta.url));

test('every text of a template is translated', (t) => {
  for (const file of consoleTemplates) t.deepEqual(readTemplate(file).faults, [], file);
});

test('a text that is not translated is found wherever it stands', (t) => {
  const faultsIn = (source: string) => readSource(source, 'x').faults.length;
  for (const source of [
    '<p>Hello</p>',
    '{% if a %}<b>{{ a }}</b> left{% endif %}',
    '<a title="Open {{ name }}">{{ name }}</a>',
    '<input placeholder="{{ "Write here" }}">',
    '<p>{{ "none" if a else b }}</p>',
    '<p>{{ a or "none" }}</p>',
    '{{ row("Label" , a or "not known") }}',
    '{% set title = "Payments" %}',
    '{{ link(url, "See more") }}',
    '{{ "{count} left" | t }}',
    '{{ "{count} left" | t({ amount: 1 }) }}',
    '{% block empty %}Nothing.{% endblock %}',
    '{% macro m(a) %}Nothing {{ a }}{% endmacro %}',
    '{% for a in b %}{{ a }}{% else %}none{% endfor %}',
  ])
    t.is(faultsIn(source), 1, source);
  for (const source of [
    '<p class="hint">{{ "Hello" | t }}</p>',
    '<p class="{{ "success" if a else "danger" }}">{{ ("Yes" if a else "No") | t }}</p>',
    '{{ "{count} left" | t({ count: count | thousands }) }}',
    '<code>ledger verify</code> {# a comment #}{{ row("Label", a) }}',
  ])
    t.is(faultsIn(source), 0, source);
});

test('every sentence of a template has one in Malay, and none is kept that no template says', (t) => {
  const said = new Set(consoleTemplates.flatMap((file) => [...readTemplate(file).phrases]));
  const known = new Set([...Object.keys(templates), ...Object.keys(messages)]);
  t.deepEqual(
    [...said].filter((each) => !known.has(each)),
    [],
  );
  t.deepEqual(
    Object.keys(templates).filter((each) => !said.has(each)),
    [],
  );
});

/** With the same sign for each value, however it is written. */
const shape = (text: string) =>
  text.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}|\{\w+\}/g, '{}').replaceAll('\\`', '`');

/** A file of the program, in which the fault of a field, `['to', 'must be …']`, is one text. */
const sourceOf = (file: string) =>
  readFileSync(`${root}${file}`, 'utf8').replace(/\['(\w+)', (['`])/g, '$2$1 ');

const problems =
  /new (?:HttpProblem|Refused|InvalidFields|UnreadableExport|ImportImpossible|ExportImpossible)\(\s*(?:\d+,\s*|'\w+',\s*)?(?!'\w+_\w+')(?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g;

/** Only programs are told of these, or those who use the command line. */
const notForStaff = new Set([
  'Unauthorized - invalid API key for merchant',
  '{} are valid already: end those before the newest first',
  'Ask with the newest key: this one would end',
  'Others have no end: rotate, with overlap_hours 0, to end them',
  'A project with this name exists already',
  'expires_at must be in the future',
  'Every field must be a text, sent once',
  'Too many results of this transaction are in quarantine',
  // Made of sentences of their own.
  'The {} {}',
]);

test('every problem that staff may meet has a sentence in Malay', (t) => {
  const known = new Set([...Object.keys(messages), ...Object.keys(templates)].map(shape));
  const files = globSync(
    [
      'src/http/{console,server}/**/*.ts',
      'src/{commands,reconciliation,personal-data,statements}/**/*.ts',
      'src/audit/{history,export}/**/*.ts',
    ],
    { cwd: root },
  );
  const found = files.flatMap((file) =>
    Array.from(sourceOf(file).matchAll(problems), ([, plain, pattern]) => shape(plain ?? pattern ?? '')),
  );
  t.true(found.length > 100);
  t.deepEqual(
    [...new Set(found)].filter((each) => !known.has(each) && !notForStaff.has(each)),
    [],
  );
  const others = [...Object.values(outbound.reasons), ...Object.values(reconciliation.classes)];
  t.deepEqual(
    others.filter((each) => !known.has(each)),
    [],
  );
});

/** Sentences that the program puts together, as it says them. */
const composed: Readonly<Record<string, string>> = {
  '1 word': '1 perkataan',
  '3 words': '3 perkataan',
  'Paid, in 1 payment': 'Dibayar, dalam 1 bayaran',
  'Paid, in 2,000 payments': 'Dibayar, dalam 2,000 bayaran',
  '09:00: 3 paid, RM 120.50': '09:00: 3 dibayar, RM 120.50',
  'from 5 s to 30 s': 'dari 5 s hingga 30 s',
  'A payout does not settle merchant:X': 'Bayaran keluar tidak menyelesaikan merchant:X',
  'PO-1 was recorded before, and reversed; PO-2 of the same day has the same total: confirm that it is to be recorded':
    'PO-1 pernah direkodkan, dan telah diterbalikkan; PO-2 pada tarikh yang sama mempunyai jumlah yang sama: sahkan bahawa ia perlu direkodkan',
  'PO-1 was recorded before, and reversed; 2 of its charges are not in the books with this amount; PO-2 of the same day has the same total: confirm that it is to be recorded':
    'PO-1 pernah direkodkan, dan telah diterbalikkan; 2 bayaran di dalamnya tiada dalam buku dengan amaun ini; PO-2 pada tarikh yang sama mempunyai jumlah yang sama: sahkan bahawa ia perlu direkodkan',
  'PO-1 was recorded before, and reversed; 2 of its charges are not in the books with this amount; 1 of its charges are already in PO-2, PO-3; PO-2 of the same day has the same total; gateway:fpx owes less, RM 0.00; it is dated before its first money came in, on 2026-11-20: confirm that it is to be recorded':
    'PO-1 pernah direkodkan, dan telah diterbalikkan; 2 bayaran di dalamnya tiada dalam buku dengan amaun ini; 1 bayaran di dalamnya telah ada dalam PO-2, PO-3; PO-2 pada tarikh yang sama mempunyai jumlah yang sama; Jumlah terhutang oleh gateway:fpx kurang daripada itu, iaitu RM 0.00; tarikhnya sebelum wang pertama yang berkaitan diterima, iaitu pada 2026-11-20: sahkan bahawa ia perlu direkodkan',
  'gateway:cc (RM 1.00), gateway:fpx (RM 0.00) owe less; it is dated before its first money came in, on 2026-11-20: confirm that it is to be recorded':
    'Jumlah terhutang oleh gateway:cc (RM 1.00), gateway:fpx (RM 0.00) kurang daripada itu; tarikhnya sebelum wang pertama yang berkaitan diterima, iaitu pada 2026-11-20: sahkan bahawa ia perlu direkodkan',
  'Line 3 names a charge that is already in PO-1': 'Baris 3 menamakan bayaran yang telah ada dalam PO-1',
  'The amount': 'Amaun',
  'The day': 'Tarikh',
  'The fee': 'Caj',
  'The reference': 'Rujukan',
  'The total': 'Jumlah',
  'The amount must be an amount such as 120.50': 'Amaun hendaklah ditulis seperti 120.50',
  'The day must be a day such as 2026-11-20': 'Tarikh hendaklah ditulis seperti 2026-11-20',
  'The fee is for payouts': 'Caj hanya bagi bayaran keluar',
  'The reference must have 1 to 64 letters, digits, spaces or . : / - and begin with a letter or digit':
    'Rujukan hendaklah mempunyai 1 hingga 64 huruf, angka, ruang atau . : / - dan bermula dengan huruf atau angka',
  'Line 3 AMOUNT must be an amount such as 120.50': 'Baris 3 AMOUNT hendaklah ditulis seperti 120.50',
  'A remittance does not settle bank': 'Serahan tidak menyelesaikan bank',
  'The note must not be empty': 'Nota tidak boleh kosong',
  'The reason must have at most 1000 characters': 'Sebab boleh mempunyai paling banyak 1000 aksara',
  'name is required': 'Nama diperlukan',
  'This no longer fits the payment: There is no money in suspense here: it can only be explained':
    'Perkara ini tidak lagi sesuai dengan bayaran: Tiada wang dalam akaun tergantung di sini: perkara ini hanya boleh diterangkan dengan nota',
  '1,284,000 events': '1,284,000 peristiwa',
  '1,284,000 events, 1:12 left': '1,284,000 peristiwa, baki masa 1:12',
  '1,284,000 events, 18,400/s': '1,284,000 peristiwa, 18,400/s',
  '1,284,000 events, 18,400/s, 1:12 left': '1,284,000 peristiwa, 18,400/s, baki masa 1:12',
  'jsonl of all merchants, A to B': 'jsonl bagi semua pedagang, A hingga B',
  'csv of council, A to B': 'csv bagi council, A hingga B',
  'Export of the registry, 1 row. No row has a time: payments that the file lacks were not looked for.':
    'Eksport daripada pendaftar transaksi, 1 baris. Tiada baris yang mempunyai masa: bayaran yang tiada dalam fail tidak dicari.',
  'Export of the gateway, 7 rows. Payments of every merchant from A to before B were looked for in it.':
    'Eksport daripada gerbang pembayaran, 7 baris. Bayaran bagi setiap pedagang dari A hingga sebelum B dicari di dalamnya.',
  'Export of the gateway, 1 row, as of 2026-11-20 09:00:00. No row has a time: payments that the file lacks were not looked for.':
    'Eksport daripada gerbang pembayaran, 1 baris, setakat 2026-11-20 09:00:00. Tiada baris yang mempunyai masa: bayaran yang tiada dalam fail tidak dicari.',
  'Export of the gateway, 7 rows, as of 2026-11-20 09:00:00. No row has a time: payments that the file lacks were not looked for.':
    'Eksport daripada gerbang pembayaran, 7 baris, setakat 2026-11-20 09:00:00. Tiada baris yang mempunyai masa: bayaran yang tiada dalam fail tidak dicari.',
};

test('a message with values is found by its words, and what it holds is translated too', (t) => {
  for (const [english, malay] of Object.entries(composed)) t.is(phrase('ms', english), malay);
  t.is(phrase('en', 'The note must not be empty'), 'The note must not be empty');
  t.is(phrase('ms', 'Nothing that we say'), 'Nothing that we say');
  t.is(phrase('ms', 'Refund of {reference}', { reference: 'Paid' }), 'Bayaran balik bagi Paid');
});

test('a text of somebody else stays as it is, however long and whatever it holds', (t) => {
  for (const text of ['{constructor} and {count}', '$& $1 {count}'])
    t.deepEqual([phrase('ms', text), phrase('en', text)], [text, text]);
  t.is(phrase('ms', 'The note $& {constructor}'), 'Nota $& {constructor}');
  // Each could be a message within a message within a message.
  t.notThrows(() => phrase('ms', 'at '.repeat(100_000)));
  t.notThrows(() => phrase('ms', ' rows, as of '.repeat(100_000)));
});

test('every message in Malay is one that the program says', (t) => {
  const files = globSync(['src/**/*.ts', 'packages/*/*.ts', 'packages/*/*/*.ts'], { cwd: root });
  const texts = ['packages/outbound/outbound.json', 'content/texts/reconciliation.en.json'];
  const said = [...files, ...texts].map((file) => shape(sourceOf(file))).join('\n');
  const isComposed = (message: string) => {
    const pattern = new RegExp(
      `^${message
        .split(/\{\w+\}/)
        .map(RegExp.escape)
        .join('.+')}$`,
    );
    return Object.keys(composed).some((each) => pattern.test(each));
  };
  t.deepEqual(
    Object.keys(messages).filter((each) => !said.includes(shape(each)) && !isComposed(each)),
    [],
  );
});

test('sentences in Malay have the placeholders of those in English, and words that both languages share are few', (t) => {
  const placeholdersOf = (text: string) => text.match(/\{\w+\}/g)?.sort() ?? [];
  const all = Object.entries({ ...messages, ...templates });
  for (const [english, malay] of all) t.deepEqual(placeholdersOf(malay), placeholdersOf(english), english);
  const same = all.filter(([english, malay]) => english === malay).map(([english]) => english);
  t.deepEqual(same.sort(), [
    'Bank',
    'CSV',
    'Debit',
    'Format',
    'Import',
    'Median',
    'PDF',
    'Status',
    '{time}: {status} {reason}, {duration} ms',
  ]);
});
