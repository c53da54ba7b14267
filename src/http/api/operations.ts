/** The operations of /api/v1. */
import { NewUser } from '../../commands/user.ts';
import { derivedIdPattern } from '../../kernel/derived-id.ts';
import {
  type Answers,
  errorAnswers,
  exampleId,
  headerOf,
  json,
  type Operation,
  type Parameter,
  type SecurityScheme,
} from '../server/openapi/operation.ts';
import { describeFields } from '../server/openapi/structs.ts';
import { type ErrorCode, ErrorResponse, Health, Project, User } from './answers.ts';
import { defaultPageSize, maxPageSize } from './list.ts';

const health = { name: 'Health', description: 'The state of the service, and its description' };
const users = { name: 'Users', description: 'Users of the content service' };
const projects = { name: 'Projects', description: 'Projects that the content service lists' };

const apiKey: SecurityScheme = {
  name: 'apiKey',
  definition: {
    type: 'http',
    scheme: 'bearer',
    description: 'One of the keys of /api/v1. A development service without keys requires none.',
  },
  sample: '<API_KEY>',
};

/** By the names of the schemas. */
export const apiStructs = {
  HealthResponse: Health,
  User,
  CreateUserPayload: describeFields(NewUser, {
    name: 'Without spaces at either end',
    email: 'Unique: a second user with it is refused',
    role: 'What the user may do',
  }),
  Project,
  ErrorResponse,
};

const newUser = { name: 'Aminah binti Ismail', email: 'aminah@agency.example', role: 'member' };
const user = { id: exampleId, ...newUser, createdAt: '2026-11-20T09:04:30+08:00' };
const project = { id: exampleId, name: 'Payment ledger', status: 'active', stars: 12 };

const pageParameters: readonly Parameter[] = [
  {
    in: 'query',
    name: 'limit',
    description: 'How many at most',
    schema: { type: 'integer', minimum: 1, maximum: maxPageSize, default: defaultPageSize },
    example: 20,
  },
  {
    in: 'query',
    name: 'starting_after',
    description: 'The id after which the page begins; the Link header of the page before has it',
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

export const apiOperations: readonly Operation[] = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/api/v1/health',
    tag: health,
    summary: 'Show the state of the service',
    description: 'Always 200, within a second; `status` is `error` while a store is down.',
    security: [],
    answers: {
      200: {
        description: 'The state of the service',
        content: {
          [json]: {
            schema: 'HealthResponse',
            example: {
              status: 'ok',
              version: '0.1.0',
              timestamp: '2026-11-20T09:04:30+08:00',
              runtime: 'Node.js v24.21.0 on linux x64',
              eventStore: 'up',
              postgres: 'up',
              projections: [{ name: 'payments', status: 'ok', lagMs: 0, fault: null }],
            },
          },
        },
      },
      ...errors(500),
    },
  },
  {
    id: 'listUsers',
    method: 'get',
    path: '/api/v1/users',
    tag: users,
    summary: 'List users',
    description: 'In the order in which they were created, a page at a time.',
    security: [apiKey],
    parameters: pageParameters,
    answers: { ...listOf('User', user), ...errors(400, 401, 500, 503) },
  },
  {
    id: 'createUser',
    method: 'post',
    path: '/api/v1/users',
    tag: users,
    summary: 'Create a user',
    description: 'One per email address, upper and lower case being the same.',
    security: [apiKey],
    body: { types: [json], schema: 'CreateUserPayload', example: newUser },
    answers: {
      201: {
        description: 'The user',
        headers: { Location: headerOf('Where the user is') },
        content: { [json]: { schema: 'User', example: user } },
      },
      ...errors(400, 401, 413, 415, 500, 503),
    },
  },
  {
    id: 'getUser',
    method: 'get',
    path: '/api/v1/users/{id}',
    tag: users,
    summary: 'Show a user',
    security: [apiKey],
    parameters: [
      { in: 'path', name: 'id', description: 'User id', schema: { type: 'string' }, example: exampleId },
    ],
    answers: {
      200: { description: 'The user', content: { [json]: { schema: 'User', example: user } } },
      ...errors(401, 404, 500, 503),
    },
  },
  {
    id: 'listProjects',
    method: 'get',
    path: '/api/v1/projects',
    tag: projects,
    summary: 'List projects',
    description: 'In the order in which they were registered, a page at a time.',
    security: [apiKey],
    parameters: pageParameters,
    answers: { ...listOf('Project', project), ...errors(400, 401, 500, 503) },
  },
  {
    id: 'getDescription',
    method: 'get',
    path: '/openapi.json',
    tag: health,
    summary: 'This description',
    security: [],
    answers: {
      200: { description: 'OpenAPI 3.1', content: { [json]: { schema: { type: 'object' } } } },
      ...errors(500),
    },
  },
];

function listOf(schema: string, example: object): Answers {
  return {
    200: {
      description: 'A page of the list',
      headers: { Link: headerOf('Leads to the next page, as `rel="next"`; left out on the last') },
      content: {
        [json]: {
          schema: { type: 'array', items: { $ref: `#/components/schemas/${schema}` } },
          example: [example],
        },
      },
    },
  };
}

function errors(...statuses: readonly number[]): Answers {
  return errorAnswers(statuses, (status) => ({
    [json]: { schema: 'ErrorResponse', example: examples[status] },
  }));
}
