/** The operations of /api/v1. */
import { NewUser } from '../../commands/user.ts';
import { derivedIdPattern } from '../../kernel/derived-id.ts';
import { maskable } from '../../kernel/structs.ts';
import {
  type Answers,
  bearer,
  errorAnswers,
  exampleId,
  headerOf,
  json,
  jsonAnswer,
  type Parameter,
  ref,
  type Section,
} from '../server/openapi/operation.ts';
import { withDescription } from '../server/openapi/structs.ts';
import { type ErrorCode, ErrorResponse, Health, Project, User } from './bodies.ts';
import { defaultPageSize, maxPageSize } from './list.ts';

const apiKey = bearer(
  'apiKey',
  'One of the keys of /api/v1. A development service without keys requires none.',
  '<API_KEY>',
);

/** By the names of the schemas. */
export const apiStructs = {
  HealthResponse: Health,
  User,
  CreateUserPayload: maskable({
    name: withDescription(NewUser.schema.name, 'Without spaces at either end'),
    email: withDescription(NewUser.schema.email, 'Unique: a second user with it is refused'),
    role: withDescription(NewUser.schema.role, 'What the user may do'),
  }),
  Project,
  ErrorResponse,
};

const newUser = { name: 'Aminah binti Ismail', email: 'aminah@agency.example', role: 'member' };
const user = { id: exampleId, ...newUser, createdAt: '2026-11-20T09:04:30+08:00' };
const project = { id: exampleId, name: 'Payment ledger', status: 'active', stars: 12 };

const health = {
  status: 'ok',
  version: '0.1.0',
  timestamp: '2026-11-20T09:04:30+08:00',
  runtime: 'Node.js v24.21.0 on linux x64',
  eventStore: 'up',
  postgres: 'up',
  projections: [{ name: 'payments', status: 'ok', lagMs: 0, fault: null, parked: 0 }],
};

const pageParameters: readonly Parameter[] = [
  {
    in: 'query',
    name: 'limit',
    description: 'Length of the page',
    schema: { type: 'integer', minimum: 1, maximum: maxPageSize, default: defaultPageSize },
    example: 20,
  },
  {
    in: 'query',
    name: 'starting_after',
    description: 'The id after which the page begins, as in the Link header of the previous page',
    schema: { type: 'string', pattern: derivedIdPattern.source },
  },
];

const examples: Readonly<Record<number, { code: ErrorCode; message: string }>> = {
  400: { code: 'validation_failed', message: 'email must be an email address' },
  401: { code: 'unauthorized', message: 'An API key is needed: Authorization: Bearer <key>' },
  404: { code: 'user_not_found', message: 'No user has this id' },
  413: { code: 'payload_too_large', message: 'The request body is too large' },
  415: { code: 'unsupported_media_type', message: 'The Content-Type must be application/json' },
  500: { code: 'internal_error', message: 'Internal error' },
  503: {
    code: 'unavailable',
    message: 'The service is not available at the moment; try again in a few seconds',
  },
};

export const apiSections: readonly Section[] = [
  {
    tag: { name: 'Health', description: 'The state of the service, and its description' },
    operations: [
      {
        id: 'getHealth',
        route: 'GET /api/v1/health',
        summary: 'Show the state of the service',
        description: 'Always 200, within a second; `status` is `error` while a store is down.',
        answers: {
          200: jsonAnswer('The state of the service', ref('HealthResponse'), health),
          ...errors(500),
        },
      },
      {
        id: 'getDescription',
        route: 'GET /openapi.json',
        summary: 'This description',
        answers: { 200: jsonAnswer('OpenAPI 3.1', { type: 'object' }), ...errors(500) },
      },
    ],
  },
  {
    tag: { name: 'Users', description: 'Users of the content service' },
    operations: [
      {
        id: 'listUsers',
        route: 'GET /api/v1/users',
        summary: 'List users',
        description: 'In the order in which they were created, a page at a time.',
        security: [apiKey],
        parameters: pageParameters,
        answers: { ...listOf('User', user), ...errors(400, 401, 500, 503) },
      },
      {
        id: 'createUser',
        route: 'POST /api/v1/users',
        summary: 'Create a user',
        description: 'One per email address, which is not case-sensitive.',
        security: [apiKey],
        body: { types: [json], schema: ref('CreateUserPayload'), example: newUser },
        answers: {
          201: {
            ...jsonAnswer('The user', ref('User'), user),
            headers: { Location: headerOf('Address of the user') },
          },
          ...errors(400, 401, 413, 415, 500, 503),
        },
      },
      {
        id: 'getUser',
        route: 'GET /api/v1/users/{id}',
        summary: 'Show a user',
        security: [apiKey],
        parameters: [
          { in: 'path', name: 'id', description: 'User id', schema: { type: 'string' }, example: exampleId },
        ],
        answers: {
          200: {
            ...jsonAnswer('The user', ref('User'), user),
            headers: {
              'As-At': headerOf(
                'Only while the event log cannot be read: the time of the last event that is known; there may be later ones',
              ),
            },
          },
          ...errors(401, 404, 500, 503),
        },
      },
    ],
  },
  {
    tag: { name: 'Projects', description: 'Projects that the content service lists' },
    operations: [
      {
        id: 'listProjects',
        route: 'GET /api/v1/projects',
        summary: 'List projects',
        description: 'In the order in which they were registered, a page at a time.',
        security: [apiKey],
        parameters: pageParameters,
        answers: { ...listOf('Project', project), ...errors(400, 401, 500, 503) },
      },
    ],
  },
];

function listOf(name: string, example: object): Answers {
  return {
    200: {
      ...jsonAnswer('A page of the list', { type: 'array', items: ref(name) }, [example]),
      headers: { Link: headerOf('Leads to the next page, as `rel="next"`; missing on the last') },
    },
  };
}

function errors(...statuses: readonly number[]): Answers {
  return errorAnswers(statuses, (status) => ({
    [json]: { schema: ref('ErrorResponse'), example: examples[status] },
  }));
}
