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

for (const table of document.querySelectorAll('table[data-sort]')) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    if (heading.textContent.trim() === '' || 'unsorted' in heading.dataset) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener('click', () => {
      const isDescending = heading.ariaSort === 'ascending';
      for (const other of headings) other.ariaSort = null;
      heading.ariaSort = isDescending ? 'descending' : 'ascending';
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((a, b) => compare(sortValueOf(a, column), sortValueOf(b, column)));
      body.append(...(isDescending ? rows.reverse() : rows));
    });
  });
}
