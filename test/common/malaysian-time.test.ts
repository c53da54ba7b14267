// Times: the three forms that are sent and read, offsets, and times that do not exist.
import test from 'ava';
import fc from 'fast-check';
import {
  boundsOfDay,
  dayOf,
  parseAsOf,
  readGatewayTime,
  toDateTime,
  toDigits,
  toIsoWithOffset,
} from '../../src/common/malaysian-time.ts';

const read: Record<string, string | null> = {
  '2026-11-20 09:02:03': '2026-11-20T01:02:03.000Z',
  '20261120090203': '2026-11-20T01:02:03.000Z',
  '2026-11-20T09:02:03+08:00': '2026-11-20T01:02:03.000Z',
  '2026-11-20T09:02:03': '2026-11-20T01:02:03.000Z',
  '2026-11-20T09:02:03+0800': '2026-11-20T01:02:03.000Z',
  '2026-11-20T01:02:03Z': '2026-11-20T01:02:03.000Z',
  '2026-11-20T01:02:03.999Z': '2026-11-20T01:02:03.000Z',
  '2026-11-19T20:02:03-05:00': '2026-11-20T01:02:03.000Z',
  '2026-11-20T06:32:03+05:30': '2026-11-20T01:02:03.000Z',
  ' 2026-11-20 09:02:03\n': '2026-11-20T01:02:03.000Z',
  '2026-01-01 00:00:00': '2025-12-31T16:00:00.000Z',
  '2028-02-29 12:00:00': '2028-02-29T04:00:00.000Z',
  '2026-02-29 12:00:00': null,
  '2100-02-29 12:00:00': null,
  '2026-02-31 12:00:00': null,
  '20260431120000': null,
  '2026-13-01 12:00:00': null,
  '2026-00-10 12:00:00': null,
  '2026-01-00 12:00:00': null,
  '2026-01-01 24:00:00': null,
  '2026-01-01 12:60:00': null,
  '2026-01-01 12:00:60': null,
  '2026-01-01T12:00:00+25:00': null,
  '2026-01-01T12:00:00+08:60': null,
  '0000-00-00 00:00:00': null,
  '0000-01-01 00:00:00': null,
  '00010101000000': null,
  '1900-01-01 00:00:00': null,
  '19700101080000': null,
  '2000-01-01 00:00:00': null,
  '2019-12-31 23:59:59': null,
  '2020-01-01 00:00:00': '2019-12-31T16:00:00.000Z',
  '9999-12-31 23:59:59': null,
  '9999-12-31T23:59:59-14:00': null,
  '2026-11-20': null,
  '2026-11-20 9:02:03': null,
  '20/11/2026 09:02:03': null,
  '2026112009020': null,
  '202611200902033': null,
  '2026-11-20 09:02:03 PM': null,
  '+002026-11-20T09:02:03Z': null,
  '-2026-11-20 09:02:03': null,
  '٢٠٢٦١١٢٠٠٩٠٢٠٣': null,
  '1763600523': null,
  '': null,
  now: null,
};

for (const [text, expected] of Object.entries(read)) {
  test(`a gateway's time ${JSON.stringify(text)} is ${expected}`, (t) =>
    t.is(readGatewayTime(text), expected));
}

test('shown and sent in Malaysian time, over midnight and over the year', (t) => {
  t.is(toIsoWithOffset('2026-12-31T16:00:00.000Z'), '2027-01-01T00:00:00+08:00');
  t.is(toDateTime('2026-12-31T15:59:59.999Z'), '2026-12-31 23:59:59');
  t.is(toDigits('2028-02-28T16:00:00.000Z'), '20280229000000');
});

test('every form that goes out is read back as the same second', (t) => {
  const moments = fc.date({ min: new Date('2020-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(moments, (moment) => {
      const utc = moment.toISOString();
      const second = `${utc.slice(0, 19)}.000Z`;
      return [toIsoWithOffset, toDateTime, toDigits].every((write) => readGatewayTime(write(utc)) === second);
    }),
  );
  t.pass();
});

test('any text is read as a storable UTC time or as null', (t) => {
  const digits = fc.stringMatching(/^\d{4}-?\d\d-?\d\d[T ]?\d\d:?\d\d:?\d\d(Z|[+-]\d\d:?\d\d)?$/);
  fc.assert(
    fc.property(fc.oneof(digits, fc.string()), (text) => {
      const utc = readGatewayTime(text);
      return utc === null || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/.test(utc);
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('days before this century can be named, as the beginning of a range', (t) => {
  t.is(boundsOfDay('1970-01-01')?.start, '1969-12-31T16:00:00.000Z');
  t.is(boundsOfDay('0001-01-01'), null);
});

test('a Malaysian day begins at 16:00 UTC of the day before and ends where the next begins', (t) => {
  t.deepEqual(boundsOfDay('2028-02-29'), {
    start: '2028-02-28T16:00:00.000Z',
    end: '2028-02-29T16:00:00.000Z',
  });
  t.is(dayOf('2028-02-28T15:59:59.999Z'), '2028-02-28');
  t.is(dayOf('2028-02-28T16:00:00.000Z'), '2028-02-29');
  for (const none of ['2026-02-29', '2026-11-31', '2026-13-01', '20261120', ' 2026-11-20', '2026-1-1', ''])
    t.is(boundsOfDay(none), null, none);
});

test('a day or second as of is its last moment, and never in the future', (t) => {
  const now = new Date('2026-11-21T02:00:00.000Z');
  const known = (text: string) => parseAsOf(text, now)?.toISOString() ?? null;
  t.is(known('2026-11-20'), '2026-11-20T15:59:59.999Z');
  t.is(known('2026-11-20T09:00:00+08:00'), '2026-11-20T01:00:00.999Z', 'as statements print it');
  t.is(known('2026-11-20T01:00:00.000Z'), '2026-11-20T01:00:00.000Z');
  t.is(known('2026-11-21'), now.toISOString(), 'a day that is not over');
  t.is(known('2027-01-01T00:00:00Z'), now.toISOString());
  t.is(known('soon'), null);
});
