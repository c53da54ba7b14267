// What scripts add to the console. Every page works without them.

// `/` focuses the search, as in the documentation.
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, select, textarea, [contenteditable]')) return;
  const search = document.querySelector('.find input[type=search]');
  if (!search) return;
  event.preventDefault();
  search.focus();
  search.select();
});

// On a phone the navigation is wider than the screen: scroll to the current page.
document.querySelector('nav [aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

// Tables marked `data-sort` sort by the heading that is clicked, by the data-value of the cells or else by their text.
// Headings without text or marked `data-unsorted` do not sort.
const sortValueOf = (row, column) => {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.querySelector('time')?.dateTime ?? cell.textContent.trim();
  const number = Number(text.replace(/^RM\s*|,/g, ''));
  return text === '' || Number.isNaN(number) ? text.toLowerCase() : number;
};

const compare = (a, b) =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));

const makeSortable = (table) => {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    if (heading.textContent.trim() === '' || 'unsorted' in heading.dataset) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    // Beside the button for paper: Chromium leaves a button's text out where it repeats the heading on the next sheet.
    const text = document.createElement('span');
    text.append(...heading.childNodes);
    button.append(text.cloneNode(true));
    text.className = 'paper';
    heading.append(text, button);
    button.addEventListener('click', () => {
      const isDescending = heading.ariaSort === 'ascending';
      for (const other of headings) other.ariaSort = null;
      heading.ariaSort = isDescending ? 'descending' : 'ascending';
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((a, b) => compare(sortValueOf(a, column), sortValueOf(b, column)));
      body.append(...(isDescending ? rows.reverse() : rows));
    });
  });
};

document.querySelectorAll('table[data-sort]').forEach(makeSortable);

// A page marked `data-live` updates when the server says that there is something new: as long as it is seen, not while
// somebody types or has opened a part of it, at most every three seconds, and for at most a twentieth of the time, because some
// lists take the database seconds. It never waits longer than five minutes: the machine may have slept during a request.
const live = document.querySelector('main[data-live]');
const isBusy = () =>
  document.hidden ||
  live.querySelector('details[open], [aria-sort] > button') ||
  live.querySelector(':is(input, select, textarea):focus') ||
  [...live.querySelectorAll('input:not([type=hidden]), textarea')].some(
    (field) => field.value !== field.defaultValue,
  );

// A link is known by its address, a button by its form, anything else by its class; there may be several alike.
const identityOf = (element) => element.href ?? element.form?.outerHTML ?? element.className;

// Keeps the focus where it is, or at least in the page, for those who go through it by keyboard.
const replaceWith = (page) => {
  const focused = live.querySelector(':focus');
  const identity = focused && identityOf(focused);
  const alike = () =>
    [...live.querySelectorAll('a, button, summary, [tabindex]')].filter(
      (each) => identityOf(each) === identity,
    );
  const place = alike().indexOf(focused);
  live.replaceChildren(...page.childNodes);
  live.querySelectorAll('table[data-sort]').forEach(makeSortable);
  if (focused) (alike()[place] ?? live).focus({ preventScroll: true });
};

let source;
let shown;
let timer = null;
let pauseMs = 3000;
let isAwaited = false;

const update = async () => {
  isAwaited = false;
  const startedMs = performance.now();
  const answer = isBusy()
    ? null
    : await fetch(location.href, { headers: { 'X-Background': '1' } }).catch(() => null);
  pauseMs = Math.min(Math.max(3000, 20 * (performance.now() - startedMs)), 300_000);
  timer = null;
  // What was new meanwhile is read after this pause, too.
  if (isAwaited || !answer) expect();
  if (!answer) return;
  // Such as to the page of signing in.
  if (!answer.ok || answer.redirected) return source.close();
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  if (isBusy()) return expect();
  if (page.innerHTML === shown) return;
  shown = page.innerHTML;
  replaceWith(page);
};

function expect() {
  isAwaited = true;
  if (timer === null && !document.hidden) timer = setTimeout(update, pauseMs);
}

const watch = () => {
  source?.close();
  if (document.hidden) return;
  if (source) expect();
  const { live: of, seen } = live.dataset;
  source = new EventSource(`/console/live?${new URLSearchParams({ of, ...(seen && { seen }) })}`);
  source.addEventListener('message', expect);
};

if (live) {
  document.addEventListener('visibilitychange', watch);
  watch();
}
