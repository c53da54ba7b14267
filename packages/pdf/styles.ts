/** The look of the PDF: colours of the Malaysian Government Design System (light), sizes in points. */
export type Weight = 400 | 700;
export type Style = { sizePt: number; weight: Weight; color: string };

const black = '#18181b';
const grey = '#52525b';
const primary = '#2563eb';
const danger = '#b91c1c';
const warning = '#a16207';
const success = '#15803d';

export const colors = { primary, washed: '#f4f4f5', line: '#e4e4e7', white: '#ffffff', black, success };

export const styles = {
  agency: { sizePt: 12, weight: 700, color: primary },
  title: { sizePt: 20, weight: 700, color: black },
  warning: { sizePt: 10, weight: 700, color: danger },
  sum: { sizePt: 20, weight: 700, color: black },
  status: { sizePt: 13, weight: 700, color: success },
  heading: { sizePt: 11, weight: 700, color: black },
  label: { sizePt: 9, weight: 400, color: grey },
  text: { sizePt: 9, weight: 400, color: black },
  strong: { sizePt: 9, weight: 700, color: black },
  columnHead: { sizePt: 9, weight: 700, color: grey },
  total: { sizePt: 10.5, weight: 700, color: black },
  small: { sizePt: 8, weight: 400, color: grey },
  link: { sizePt: 9, weight: 400, color: primary },
  // For tables with many columns.
  dense: { sizePt: 8, weight: 400, color: black },
  denseStrong: { sizePt: 8, weight: 700, color: black },
  denseHead: { sizePt: 8, weight: 700, color: grey },
  denseNote: { sizePt: 7, weight: 400, color: warning },
} satisfies Record<string, Style>;
