// The colours of the Malaysian Government Design System (MYDS), reduced to those that a stylesheet uses: the package
// defines about 200, and every page has its style inline.
import { readFileSync } from 'node:fs';

const readTokens = (theme: string): ReadonlyMap<string, string> => {
  const file = new URL(import.meta.resolve(`@govtechmy/myds-style/${theme}.css`));
  const declarations = readFileSync(file, 'utf8').matchAll(/(--[\w-]+):\s*([^;]+);/g);
  return new Map(Array.from(declarations, ([, name = '', value = '']) => [name, value]));
};

const palette = readTokens('color');
const light = readTokens('light');
const dark = readTokens('dark');

/** What all our pages share, to go in front of a stylesheet of their own. */
export const baseStyle = readFileSync(new URL('views/base.css', import.meta.url), 'utf8');

/**
 * Puts the MYDS tokens that `css` refers to in front of it: light ones, and dark ones for screens that ask for them
 * (paper is always light). Throws when a theme lacks one, naming it.
 */
export const themedStyle = (css: string): string => {
  const { lightTokens, darkTokens } = tokensOf(css);
  return `:root{${lightTokens}}@media screen and (prefers-color-scheme:dark){:root{${darkTokens}}}${css}`;
};

/** Like themedStyle, for pages whose root overrides the preference of the screen with `data-theme`: `light` or `dark`. */
export const switchableStyle = (css: string): string => {
  const { lightTokens, darkTokens } = tokensOf(css);
  return [
    `:root{${lightTokens}}`,
    `@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){${darkTokens}}}`,
    `@media screen{:root[data-theme=dark]{${darkTokens}}}`,
    css,
  ].join('');
};

const tokensOf = (css: string): { lightTokens: string; darkTokens: string } => {
  const names = new Set(
    Array.from(css.matchAll(/var\((--(?:bg|txt|otl|fr)-[\w-]+)\)/g), ([, name = '']) => name),
  );
  const declare = (theme: ReadonlyMap<string, string>) =>
    Array.from(names, (name) => `${name}:${colourOf(name, theme)};`).join('');
  return { lightTokens: declare(light), darkTokens: declare(dark) };
};

/** A token's red, green and blue (and opacity), as `rgb()` takes them; tokens refer to the palette. */
const colourOf = (name: string, theme: ReadonlyMap<string, string>): string => {
  const value = theme.get(name)?.replace(/var\((--_[\w-]+)\)/, (_, shade) => palette.get(shade) ?? '');
  if (!value) throw new Error(`MYDS has no colour ${name}`);
  return value;
};
