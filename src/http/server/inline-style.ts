// The inline stylesheet of payers' pages and the script of the hand-over page. Pages load nothing, so that they look the
// same when a merchant relays them. Both are fixed at startup: a Content-Security-Policy names them by hash.
import { readFileSync } from 'node:fs';
import { sourceHash } from '@ledger/web/content-policy.ts';
import { baseStyle, themedStyle } from '@ledger/web/design-tokens.ts';

const withoutLayout = (css: string) =>
  css
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .trim();

/** views/style.css and what all pages share, with the design-system colours that they use, light and dark. */
export const style = withoutLayout(
  themedStyle(baseStyle + readFileSync(new URL('../../../views/style.css', import.meta.url), 'utf8')),
);

/** Sends the hand-over form; its button does the same where scripts are off. */
export const script = 'document.forms[0].submit()';

export const styleHash = sourceHash(style);
export const scriptHash = sourceHash(script);
