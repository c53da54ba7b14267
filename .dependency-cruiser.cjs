// Who may import whom (content/docs/architecture.md has the table). Folders know only what is below them.
const node =
  '^node:|^(crypto|fs|path|url|os|util|stream|http|https|net|dns|events|timers|child_process)(/|$)';
const only = (folder, ...allowed) => ({
  name: `${folder}-imports`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: {
    pathNot: [`^src/${folder}/`, ...allowed],
    dependencyTypesNot: ['core'],
  },
});
const library = (...names) => names.map((name) => `node_modules/${name}/`);
const folders = (...names) => names.map((name) => `^src/${name}/`);

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'eventstore-alone-imports-the-client',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(eventstore|embedded/eventstore)/' },
      to: { path: 'node_modules/@eventstore/db-client/' },
    },
    {
      name: 'main-alone-starts-embedded-and-sandbox',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts|cli/|embedded/|sandbox/)' },
      to: { path: '^src/(embedded|sandbox)/' },
    },
    only('events', ...library('superstruct')),
    only('eventstore', ...library('@eventstore/db-client', 'p-retry')),
    only('commands', ...folders('events', 'eventstore'), ...library('superstruct')),
    only('projections', ...folders('events', 'eventstore'), ...library('knex', 'pg', 'pino')),
    only('receipts', ...folders('events'), ...library('pdfkit', '@types/pdfkit', 'uqr', 'bidi-js')),
    only(
      'statements',
      ...folders('events', 'projections', 'receipts'),
      ...library('pdfkit', '@types/pdfkit', 'csv-stringify'),
    ),
    only(
      'audit',
      ...folders('events', 'commands', 'eventstore', 'projections'),
      ...library('csv-stringify', 'knex', 'pino', 'superstruct'),
    ),
    only(
      'reconciliation',
      ...folders('events', 'commands', 'eventstore', 'projections'),
      ...library('csv-parse', 'superstruct', 'knex'),
    ),
    only('clients', '^src/events/', '^src/config(/|\\.ts$)', 'node_modules/'),
    only(
      'reactors',
      ...folders('commands', 'projections', 'receipts', 'clients', 'events', 'eventstore'),
      'node_modules/',
    ),
    only(
      'http',
      ...folders('commands', 'projections', 'receipts', 'clients', 'events', 'eventstore'),
      ...folders('audit', 'reconciliation', 'statements'),
      '^src/(config(/|\\.ts$)|log\\.ts$)',
      'node_modules/',
    ),
    only('embedded', 'node_modules/'),
    only('sandbox', 'node_modules/'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    exclude: { path: node },
  },
};
