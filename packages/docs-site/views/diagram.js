// Draws the diagram of the figure that contains this frame, in the colours of the page, and again when these change. If
// it cannot be drawn, its source stays visible.

const { frameElement: frame } = window;
const figure = frame.closest('figure');
const page = parent.document.documentElement;
const source = figure.querySelector('code').textContent;

/** Converts a token of the page's theme, such as `29 78 216`, to #rrggbb. */
function colour(name) {
  const numbers = parent.getComputedStyle(page).getPropertyValue(`--${name}`).trim().split(/\s+/).slice(0, 3);
  return `#${numbers.map((number) => Number(number).toString(16).padStart(2, '0')).join('')}`;
}

function theme(dark) {
  const [text, line, box, border] = [
    colour('txt-black-900'),
    colour('txt-black-500'),
    colour('bg-primary-50'),
    colour('txt-primary'),
  ];
  return {
    darkMode: dark,
    background: colour('bg-white'),
    primaryColor: box,
    primaryTextColor: text,
    primaryBorderColor: border,
    secondaryColor: colour('bg-washed'),
    tertiaryColor: colour('bg-washed'),
    lineColor: line,
    textColor: text,
    noteBkgColor: colour('bg-warning-100'),
    noteTextColor: text,
    noteBorderColor: colour('otl-gray-300'),
    edgeLabelBackground: colour('bg-white'),
    clusterBkg: colour('bg-washed'),
    clusterBorder: colour('otl-gray-300'),
    actorBkg: box,
    actorBorder: border,
    actorTextColor: text,
    signalColor: line,
    signalTextColor: text,
    labelBoxBkgColor: colour('bg-washed'),
    labelBoxBorderColor: colour('otl-gray-300'),
  };
}

/** Shrinks the drawing to the available width, but not below 60 %, so that it stays readable: then it scrolls. */
function scaleDrawing() {
  const svg = document.querySelector('svg');
  if (!svg) return;
  const natural = svg.viewBox.baseVal.width;
  const width = Math.max(Math.min(natural, document.documentElement.clientWidth), natural * 0.6);
  svg.style.cssText = `display:block;margin:0 auto;max-width:none;width:${width}px;height:auto`;
  svg.removeAttribute('height');
  const scrolls = width > document.documentElement.clientWidth;
  frame.style.height = `${Math.ceil(svg.getBoundingClientRect().height) + (scrolls ? 20 : 0)}px`;
}

let drawn = 0;
async function draw() {
  const chosen = page.dataset.theme;
  const dark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  // Browsers paint a frame opaque if its colour scheme differs from that of its page.
  document.documentElement.style.colorScheme = dark ? 'dark' : 'light';
  document.body.style.margin = '0';
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    theme: 'base',
    themeVariables: theme(dark),
    fontFamily: parent.getComputedStyle(parent.document.body).fontFamily,
  });
  try {
    drawn += 1;
    const { svg } = await mermaid.render(`drawing-${drawn}`, source);
    document.querySelector('main').innerHTML = svg;
    figure.dataset.drawn = '';
    scaleDrawing();
  } catch {
    delete figure.dataset.drawn;
  }
}

// One after the other, because mermaid has a single configuration.
let drawing = draw();
const redraw = () => {
  drawing = drawing.then(draw);
};
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
new MutationObserver(redraw).observe(page, { attributeFilter: ['data-theme'] });
addEventListener('resize', scaleDrawing);
