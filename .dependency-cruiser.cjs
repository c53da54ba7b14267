// Who may import whom; content/docs/architecture.md has the same table. Folders know only what is below them.
const node =
  '^node:|^(crypto|fs|path|url|os|util|stream|http|https|net|dns|events|timers|child_process)(/|$)';

const folders = (...names) => names.map((name) => `^src/${name}/`);
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
  ...folders('kernel', 'config', 'events', 'commands', 'eventstore', 'postgres', 'projections', 'clients'),
  ...folders('to-do', 'receipts', 'statements', 'reconciliation', 'audit', 'personal-data', 'monitoring'),
  'packages/markdown/',
  'content/texts/',
  'content/samples/',
  'content/refusals.json',
  anyLibrary,
];
const httpFolders = (...names) => folders(...names.map((name) => `http/${name}`));

/** The read models, each in its folder below projections/. */
const readModels = '^src/projections/(?!runtime/|rebuild/)[^/]+/';

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
      name: 'eventstore-alone-imports-the-client',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/eventstore/' },
      to: { path: 'node_modules/@eventstore/db-client/' },
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
      from: { path: '^src/', pathNot: '^src/(main\\.ts|roles/|cli/)' },
      to: { path: '^src/kernel/system-runtime\\.ts$' },
    },
    {
      name: 'templates-are-behind-two-files',
      severity: 'error',
      from: {
        path: '^(src|packages)/',
        pathNot: '^(src/kernel/templates\\.ts|src/http/server/views\\.ts|packages/sandbox/pages\\.ts)$',
      },
      to: { path: library('nunjucks', 'koa-views') },
    },
    only('src/kernel', anyLibrary),
    only('src/config', ...folders('kernel'), 'content/', anyLibrary),
    only('src/events', ...folders('kernel'), ...library('superstruct', 'uuid')),
    only('src/eventstore', ...folders('kernel'), ...library('@eventstore/db-client', '@grpc/grpc-js')),
    only(
      'src/commands',
      ...folders('kernel', 'events', 'eventstore'),
      ...library('superstruct'),
      'content/refusals.json',
    ),
    only('src/postgres', ...folders('kernel'), ...library('knex', 'pg', 'pino')),
    only(
      'src/projections',
      ...folders('kernel', 'events', 'eventstore', 'postgres'),
      ...library('knex', 'pg', 'pino'),
      'content/tables/',
    ),
    only(
      'src/personal-data',
      ...folders('kernel', 'events', 'eventstore', 'commands', 'postgres', 'projections'),
      ...library('knex', 'pino'),
    ),
    {
      name: 'projections-runtime-knows-no-read-model',
      severity: 'error',
      from: { path: '^src/projections/(runtime|rebuild)/' },
      to: { path: [readModels, '^src/projections/all\\.ts$'] },
    },
    only(
      'src/to-do',
      ...folders('kernel', 'events', 'eventstore', 'postgres', 'projections/runtime'),
      ...library('knex'),
      'content/tables/',
    ),
    only('src/clients', ...folders('kernel', 'config', 'events'), 'content/outbound.json', anyLibrary),
    only(
      'src/receipts',
      ...folders('kernel', 'events'),
      ...library('@scure/base'),
      'packages/pdf/',
      'content/texts/',
    ),
    only(
      'src/statements',
      ...folders('kernel', 'events', 'projections', 'receipts'),
      ...library('csv-stringify'),
      'packages/pdf/',
      'content/texts/',
    ),
    only(
      'src/reconciliation',
      ...folders('kernel', 'events', 'commands', 'eventstore', 'postgres', 'projections', 'clients'),
      ...library('csv-parse', 'superstruct', 'knex'),
      'content/texts/',
    ),
    only(
      'src/audit',
      ...folders('kernel', 'events', 'commands', 'eventstore', 'postgres', 'projections', 'to-do'),
      ...library('csv-stringify', 'knex', 'pino', 'superstruct'),
    ),
    only(
      'src/monitoring',
      ...folders('kernel', 'events', 'eventstore', 'postgres', 'projections', 'to-do', 'audit'),
      ...library('knex', 'prom-client'),
      'packages/observability/',
    ),
    only(
      'src/reactors',
      ...folders('kernel', 'config', 'events', 'commands', 'eventstore', 'postgres', 'projections'),
      ...folders('to-do', 'receipts', 'clients'),
      'content/texts/',
      anyLibrary,
    ),
    // Inside http: the server knows no interface, and no interface knows another. Both payment channels build on pay/.
    only('src/http/server', ...belowHttp),
    only('src/http/pay', ...httpFolders('server'), ...belowHttp),
    only('src/http/generic', ...httpFolders('server', 'pay'), ...belowHttp),
    only('src/http/landreg', ...httpFolders('server', 'pay'), ...belowHttp),
    only('src/http/api', ...httpFolders('server'), ...belowHttp),
    only('src/http/docs', ...httpFolders('server'), ...belowHttp),
    only('src/http/console', ...httpFolders('server'), ...belowHttp),
    only('src/http/openapi', ...httpFolders('server', 'pay', 'generic', 'landreg', 'api'), ...belowHttp),
    only('src/http', ...belowHttp),
    only('packages/embedded', anyLibrary),
    only('packages/sandbox', anyLibrary),
    only('packages/observability', anyLibrary),
    only('packages/pdf', anyLibrary),
    only('packages/markdown', anyLibrary),
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
