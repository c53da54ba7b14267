// Keeps the progress of rebuilds up to date. Without scripts the page reloads itself.
const cells = new Map(
  [...document.querySelectorAll('[data-rebuild]')].map((cell) => [cell.dataset.rebuild, cell]),
);

const source = new EventSource('/console/projections/progress');
source.addEventListener('message', ({ data }) => {
  for (const { name, state, percent, text } of JSON.parse(data)) {
    const cell = cells.get(name);
    if (!cell) continue;
    // A rebuild began or ended, so that the rest of the row has changed, too.
    if (state !== cell.dataset.state) {
      source.close();
      location.replace(location.pathname);
      return;
    }
    const bar = cell.querySelector('progress');
    if (bar) bar.value = percent;
    const words = cell.querySelector('[data-text]');
    if (words) words.textContent = `${percent} % ${text}`;
  }
});
