import test from 'ava';
import { themedStyle } from '../../packages/web/design-tokens.ts';

test('a stylesheet gets only the colours that it uses, light and dark', (t) => {
  const css = 'p{color:rgb(var(--txt-danger));outline-color:rgb(var(--fr-primary))}';
  t.is(
    themedStyle(css),
    ':root{--txt-danger:185 28 28;--fr-primary:150 183 255 / 0.4;}' +
      '@media screen and (prefers-color-scheme:dark){:root{--txt-danger:248 113 113;--fr-primary:29 78 216 / 0.4;}}' +
      css,
  );
});

test('an error names a colour that the design system lacks', (t) => {
  t.throws(() => themedStyle('p{color:rgb(var(--txt-purple))}'), {
    message: 'MYDS has no colour --txt-purple',
  });
});
