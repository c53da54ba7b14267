import test from 'ava';
import { printable } from '../../packages/pdf/printable.ts';

const cases: [string, string, string][] = [
  ['control characters and line ends are spaces', 'a\u0000b\tc\r\nd\u0085e', 'a b c d e'],
  ['spaces of all kinds are one space', '  a \u00a0\u2003\u3000 b\u2028c ', 'a b c'],
  ['nothing turns the direction of what follows', 'RM \u202e05.021\u202c\u2066x\u2069\u200f', 'RM 05.021x'],
  ['nothing is invisible', 'a\u200bb\u00adc\ufeffd\u{e0041}e\ufe0f\u2060', 'abcde'],
  ['joiners stay where they shape letters', 'க்\u200cஷ می\u200cخواهم a\u200db', 'க்\u200cஷ می\u200cخواهم ab'],
  ['half a character is shown as lost', 'a\ud800b', 'a\ufffdb'],
  ['letters are composed', 'e\u0301 n\u0303', 'é ñ'],
  ['marks do not pile up over other lines', `x${'\u0301'.repeat(500)}y`, `x${'\u0301'.repeat(4)}y`],
  ['hyphens are hyphens', 'a\u2010b\u2011c', 'a-b-c'],
];

for (const [what, text, printed] of cases) {
  test(what, (t) => {
    t.is(printable(text), printed);
  });
}
