// Adds the theme, copy buttons, diagrams and keyboard search to the documentation. Pages work without it.

const root = document.documentElement;

/** Some private windows refuse storage: the choice then lasts as long as the page. */
function chooseTheme(theme) {
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === 'system') localStorage.removeItem('theme');
    else localStorage.setItem('theme', theme);
  } catch {}
}

function startTheme() {
  const label = document.querySelector('.theme');
  const select = label.querySelector('select');
  select.value = root.dataset.theme ?? 'system';
  select.addEventListener('change', () => chooseTheme(select.value));
  label.hidden = false;
}

function addCopyButtons() {
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', 'Copy the code');
    button.addEventListener('click', async () => {
      const copied = await navigator.clipboard.writeText(figure.querySelector('code').textContent).then(
        () => true,
        () => false,
      );
      button.textContent = copied ? 'Copied' : 'Not copied';
      button.setAttribute('aria-label', copied ? 'Copied' : 'The code could not be copied');
      setTimeout(() => {
        button.textContent = 'Copy';
        button.setAttribute('aria-label', 'Copy the code');
      }, 2000);
    });
    figure.append(button);
  }
}

/** Adds a frame to each diagram, which draws the source in its figure: see diagram.js. */
function addDiagrams() {
  for (const figure of document.querySelectorAll('figure.diagram')) {
    const frame = document.createElement('iframe');
    frame.title = 'Diagram';
    frame.src = document.body.dataset.diagram;
    figure.append(frame);
  }
}

/** Scrolls a long sidebar to the current page. */
function showPlace() {
  const list = document.querySelector('.pages');
  const current = list.querySelector('[aria-current]');
  if (current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
}

/** Marks the current section in the table of contents. */
function followReading() {
  const links = new Map(
    Array.from(document.querySelectorAll('.contents a'), (link) => [
      decodeURIComponent(link.hash.slice(1)),
      link,
    ]),
  );
  const headings = Array.from(links.keys(), (id) => document.getElementById(id)).filter(Boolean);
  if (headings.length === 0) return;
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120);
    const current = (passed.at(-1) ?? headings[0]).id;
    for (const [id, link] of links) link.toggleAttribute('data-current', id === current);
  };
  document.addEventListener('scroll', mark, { passive: true });
  mark();
  const list = document.querySelector('.contents');
  list.addEventListener('click', (event) => {
    if (event.target.closest('a') && list.matches(':popover-open')) list.hidePopover();
  });
}

function startSearch() {
  const dialog = document.querySelector('dialog');
  const input = dialog.querySelector('input');
  const results = dialog.querySelector('.results');
  const status = dialog.querySelector('[role=status]');
  let asked = new AbortController();

  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
  };
  /** Takes the hits from the search page, where they have been escaped. */
  const ask = async () => {
    asked.abort();
    asked = new AbortController();
    const query = input.value.trim();
    if (query === '') {
      results.replaceChildren();
      status.textContent = '';
      return;
    }
    try {
      const answer = await fetch(`/docs/search?q=${encodeURIComponent(query)}`, { signal: asked.signal });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const found = page.querySelector('main .results');
      results.replaceChildren(...document.importNode(found, true).childNodes);
      status.textContent = `${found.dataset.count} results`;
    } catch (error) {
      if (error.name !== 'AbortError') status.textContent = 'The search is not available';
    }
  };

  document.querySelector('.search-link').addEventListener('click', (event) => {
    event.preventDefault();
    open();
  });
  dialog.querySelector('button').addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    // A click on the backdrop has the dialog as its target; a hit may be on the current page.
    if (event.target === dialog || event.target.closest('a')) dialog.close();
  });
  input.addEventListener('input', ask);
  dialog.querySelector('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    await ask();
    results.querySelector('a')?.click();
  });
  dialog.addEventListener('keydown', (event) => {
    // The first Escape would only clear the field.
    if (event.key === 'Escape') dialog.close();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const stops = [input, ...results.querySelectorAll('a')];
    const at = stops.indexOf(document.activeElement);
    stops.at((at + step) % stops.length).focus();
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, textarea, select, [contenteditable]');
    const wanted = event.key === '/' ? !typing : event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (!wanted) return;
    event.preventDefault();
    open();
  });
}

startTheme();
addCopyButtons();
addDiagrams();
showPlace();
followReading();
startSearch();
