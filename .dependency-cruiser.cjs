// Who may import whom; content/docs/architecture.md has the same table. Folders know only what is below them.
const node =
  '^node:|^(crypto|fs|path|url|os|util|stream|http|https|net|dns|events|timers|child_process)(/|$)';

const folders = (...names) => names.map((name) => `^src/${name}/`);
const packages = (...names) => names.map((name) => `^packages/${name}/`);
const library = (...names) => names.map((name) => `node_modules/(@types/)?${name}/`);
const anyLibrary = 'node_modules/';

/** The folder imports from itself, from what is listed, and from Node. */
const only = (folder, ...allowed) => ({
  name: `${folder}-imports`,
  severity: 'error',
  from: { path: `^${folder}/` },
  to: { pathNot: [`^${folder}/`, ...allowed], dependencyTypesNot: ['core'] },
});

/** What every interface of the HTTP role may import outside http/. */
const belowHttp = [
  ...packages(
    'kernel',
    'event-store',
    'postgres',
    'projections',
    'personal-data',
    'transparency-log',
    'outbound',
    'docs-site',
    'openapi',
    'web',
  ),
  ...folders('common', 'config', 'events', 'commands', 'projections', 'clients', 'to-do', 'receipts'),
  ...folders('statements', 'reconciliation', 'audit', 'personal-data', 'monitoring'),
  'content/texts/',
  'content/samples/',
  'content/tables/lists.json',
  'content/refusals.json',
  'content/commands.json',
  anyLibrary,
];
const httpFolders = (...names) => folders(...names.map((name) => `http/${name}`));

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^(src|packages)/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'event-store-alone-imports-the-client',
      severity: 'error',
      // The embedded event store is the other end of the same protocol.
      from: { path: '^(src|packages)/', pathNot: '^packages/(event-store|embedded)/' },
      to: { path: 'node_modules/@eventstore/db-client/' },
    },
    {
      name: 'embedded-event-store-loads-no-store-client',
      comment: 'its process would take 14 MB more, and twice the CPU time to start',
      severity: 'error',
      from: { path: '^src/roles/eventstore\\.ts$' },
      to: { path: '^packages/(event-store|postgres)/', reachable: true },
    },
    {
      name: 'pdfs-are-drawn-in-threads',
      comment: 'one takes so long that others would wait, and the libraries take 14 MB in each process',
      severity: 'error',
      from: { path: '^src/roles/(all-roles|http|reactors)\\.ts$' },
      to: { path: library('pdfkit'), reachable: true },
    },
    {
      name: 'composition-roots-alone-start-packages',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts|roles/|cli/)' },
      to: { path: '^packages/(embedded|sandbox)/' },
    },
    {
      name: 'composition-roots-alone-make-a-runtime',
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: '^src/(main\\.ts|roles/|cli/)' },
      to: { path: '^packages/kernel/system-runtime\\.ts$' },
    },
    {
      name: 'templates-are-behind-two-files',
      severity: 'error',
      from: {
        path: '^(src|packages)/',
        pathNot: '^(packages/web/templates\\.ts|src/http/server/views\\.ts|packages/sandbox/pages\\.ts)$',
      },
      to: { path: library('nunjucks', 'koa-views') },
    },
    {
      name: 'packages-know-nothing-of-the-ledger',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(src|content|views)/' },
    },
    only('packages/kernel', ...library('@scure/base', 'csv-parse', 'p-retry', 'pino', 'superstruct', 'yaml')),
    only('packages/event-store', ...packages('kernel'), ...library('@eventstore/db-client', '@grpc/grpc-js')),
    only('packages/postgres', ...packages('kernel'), ...library('knex', 'pg', 'pino')),
    only(
      'packages/personal-data',
      ...packages('kernel', 'postgres'),
      ...library('knex', 'pino', 'superstruct'),
    ),
    only('packages/outbound', ...packages('kernel'), ...library('got', 'nodemailer')),
    only('packages/transparency-log', ...packages('kernel'), ...library('pino')),
    only(
      'packages/projections',
      ...packages('kernel', 'event-store', 'postgres', 'personal-data'),
      ...library('knex', 'pg', 'pino'),
    ),
    only('packages/embedded', ...packages('kernel'), anyLibrary),
    only('packages/sandbox', anyLibrary),
    only('packages/observability', anyLibrary),
    only('packages/pdf', anyLibrary),
    only('packages/web', anyLibrary),
    only('packages/openapi', ...packages('kernel', 'web'), ...library('superstruct', 'yaml')),
    only('packages/docs-site', ...packages('kernel', 'web'), anyLibrary),
    only(
      'src/common',
      ...packages('kernel', 'postgres', 'web'),
      ...library('superstruct'),
      'content/texts/phrases.ms.json',
    ),
    only('src/config', ...packages('kernel'), ...folders('common'), 'content/', anyLibrary),
    only(
      'src/events',
      ...packages('kernel', 'personal-data'),
      ...folders('common'),
      ...library('superstruct', 'uuid'),
    ),
    only(
      'src/commands',
      ...packages('kernel', 'event-store', 'personal-data'),
      ...folders('common', 'events'),
      ...library('superstruct'),
      'content/refusals.json',
    ),
    only(
      'src/projections',
      ...packages('kernel', 'event-store', 'postgres', 'projections', 'personal-data'),
      ...folders('common', 'events'),
      ...library('knex', 'pg', 'pino'),
      'content/tables/',
    ),
    only(
      'src/personal-data',
      ...packages('kernel', 'event-store', 'postgres', 'projections', 'personal-data'),
      ...folders('common', 'events', 'commands', 'projections'),
      ...library('knex', 'pino'),
    ),
    only(
      'src/to-do',
      ...packages('kernel', 'event-store', 'postgres', 'projections', 'personal-data'),
      ...folders('common', 'events'),
      ...library('knex'),
      'content/tables/',
    ),
    only(
      'src/clients',
      ...packages('kernel', 'outbound'),
      ...folders('common', 'config', 'events'),
      anyLibrary,
    ),
    only(
      'src/receipts',
      ...packages('kernel', 'pdf', 'personal-data'),
      ...folders('common', 'events'),
      ...library('@scure/base'),
      'content/texts/',
    ),
    only(
      'src/statements',
      ...packages('kernel', 'pdf'),
      ...folders('common', 'events', 'commands', 'projections', 'receipts'),
      ...library('csv-stringify'),
      'content/texts/',
    ),
    only(
      'src/reconciliation',
      ...packages('kernel', 'event-store', 'postgres', 'projections'),
      ...folders('common', 'events', 'commands', 'projections', 'clients'),
      ...library('superstruct', 'knex'),
      'content/texts/',
    ),
    only(
      'src/audit',
      ...packages('kernel', 'event-store', 'postgres', 'projections', 'personal-data', 'transparency-log'),
      ...folders('common', 'events', 'commands', 'projections', 'to-do'),
      ...library('csv-stringify', 'knex', 'pino', 'superstruct'),
    ),
    only(
      'src/monitoring',
      ...packages('kernel', 'event-store', 'postgres', 'projections', 'personal-data', 'observability'),
      ...folders('common', 'events', 'projections', 'to-do', 'audit', 'personal-data'),
      ...library('knex', 'prom-client'),
      'content/counters.json',
    ),
    only(
      'src/reactors',
      ...packages('kernel', 'event-store', 'postgres', 'projections', 'personal-data', 'outbound'),
      ...folders('common', 'config', 'events', 'commands', 'projections', 'to-do', 'receipts', 'clients'),
      'content/texts/',
      anyLibrary,
    ),
    // Inside http: the server knows no interface, and no interface knows another. Both payment channels build on pay/.
    only('src/http/server', ...belowHttp),
    only('src/http/pay', ...httpFolders('server'), ...belowHttp),
    only('src/http/generic', ...httpFolders('server', 'pay'), ...belowHttp),
    only('src/http/landreg', ...httpFolders('server', 'pay'), ...belowHttp),
    only('src/http/api', ...httpFolders('server'), ...belowHttp),
    only('src/http/console', ...httpFolders('server'), ...belowHttp),
    only('src/http', ...belowHttp),
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
