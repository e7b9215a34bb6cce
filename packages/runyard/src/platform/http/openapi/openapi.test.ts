import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startServer } from '../../../../test/support/clients/http-server.js';
import { formBoolean, formInteger, identifier, jsonObjectField, uploadedFiles } from '../request/fields.js';
import { defineRoute } from '../route.js';
import { describeApi } from './openapi.js';

const Pet = z
  .object({ id: z.string(), name: z.string().default('Rex'), friends: z.array(z.string()).optional() })
  .meta({ id: 'Pet', description: 'A pet.', examples: [{ id: '1', name: 'Rex' }] });

type Node = { value: string; children?: Node[] };
const Tree: z.ZodType<Node> = z
  .lazy(() => z.object({ value: z.string(), children: z.array(Tree).optional() }))
  .meta({ id: 'Tree' });

const routes = [
  defineRoute({
    method: 'GET',
    path: '/health',
    operationId: 'health_check',
    public: true,
    tag: 'System',
    summary: 'Whether the service is up',
    responses: { 200: z.object({ status: z.literal('ok') }) },
    handler: () => ({ status: 'ok' }),
  }),
  defineRoute({
    method: 'POST',
    path: '/pets/:pet_id/runs',
    operationId: 'create_pet_run',
    scope: 'pets:run',
    tag: 'Pets',
    summary: 'Run a pet',
    description: 'Lets a pet run.',
    accepts: 'form',
    params: z.object({ pet_id: identifier().meta({ description: 'Which pet.' }) }),
    query: z.object({ limit: formInteger({ min: 1, max: 100 }).default(20), deep: formBoolean().optional() }),
    body: z
      .object({
        message: z.string().meta({ description: 'What to say.', examples: ['Sit!'] }),
        stream: formBoolean().optional().meta({ description: 'Whether to stream.', default: true }),
        state: jsonObjectField()
          .optional()
          .meta({ examples: ['{"a":1}'] }),
        files: uploadedFiles().optional(),
      })
      .catchall(z.unknown()),
    responses: {
      200: { schema: Pet, events: 'What happens to it.', headers: { 'x-pet-id': 'Its id.' } },
      202: { description: 'It runs.', schema: z.object({ run_id: z.string() }) },
    },
    addition: true,
    handler: () => null,
  }),
  defineRoute({
    method: 'POST',
    path: '/pets',
    operationId: 'create_pet',
    scope: 'pets:write',
    tag: 'Pets',
    summary: 'Make a pet',
    body: Pet,
    responses: { 201: Pet, 204: { description: 'Nothing.' }, 200: Tree },
    handler: () => null,
  }),
  defineRoute({
    method: 'POST',
    path: '/pets/message::send',
    operationId: 'send',
    scope: null,
    tag: 'Pets',
    summary: 'x',
    undocumented: false,
    responses: { 200: z.array(Pet) },
    handler: () => null,
  }),
];

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into by paths, as its readers do
type Loose = any;

async function load(): Promise<Loose> {
  const { url } = await startServer(routes, {
    info: { title: 'Pets', version: '2.0.0', description: 'All about pets.' },
  });
  const response = await fetch(`${url}/openapi.json`);
  expect(response.headers.get('content-type')).toBe('application/json');
  return response.json();
}

test('the document is valid OpenAPI 3.1', async () => {
  const document = await load();
  const result = await new Validator().validate(structuredClone(document));
  expect(result).toEqual({ valid: true });
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toEqual({ title: 'Pets', version: '2.0.0', description: 'All about pets.' });
  expect(document.servers).toEqual([{ url: '/' }]);
});

test('paths, parameters, scopes and additions come from the routes', async () => {
  const { paths } = await load();
  expect(Object.keys(paths)).toEqual(['/health', '/pets/{pet_id}/runs', '/pets', '/pets/message:send']);
  const run = paths['/pets/{pet_id}/runs'].post;
  expect(run).toMatchObject({
    operationId: 'create_pet_run',
    tags: ['Pets'],
    security: [{ HTTPBearer: [] }],
    'x-addition': true,
    'x-scope': 'pets:run',
  });
  expect(run.parameters).toEqual([
    {
      name: 'pet_id',
      in: 'path',
      required: true,
      description: 'Which pet.',
      schema: { type: 'string', maxLength: 255 },
    },
    {
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    },
    { name: 'deep', in: 'query', required: false, schema: { type: 'boolean' } },
  ]);
  expect(paths['/health'].get.security).toEqual([]);
  expect(paths['/health'].get['x-addition']).toBeUndefined();
});

test('forms are described in both content types, and as JSON; files in one', async () => {
  const { paths } = await load();
  const { content, required } = paths['/pets/{pet_id}/runs'].post.requestBody;
  expect(required).toBe(true);
  const types = ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'];
  expect(Object.keys(content)).toEqual(types);
  const { schema: json, ...marks } = content['application/json'];
  expect(marks).toEqual({ 'x-addition': true });
  expect(json.properties.state.anyOf).toEqual([
    { type: 'object' },
    { type: 'string', contentMediaType: 'application/json' },
    { type: 'null' },
  ]);
  expect(json.properties.message.type).toBe('string');
  expect(json.examples).toEqual([{ message: 'Sit!' }]);
  expect(json.properties.files).toMatchObject({ type: ['array', 'null'], maxItems: 0 });
  const form = content['multipart/form-data'].schema;
  expect(form.required).toEqual(['message']);
  expect(form.properties).toEqual({
    message: { type: 'string', description: 'What to say.', examples: ['Sit!'] },
    stream: { type: 'boolean', description: 'Whether to stream.', default: true },
    state: {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: { type: 'object' },
      examples: ['', '{"a":1}'],
    },
    files: {
      type: 'array',
      items: { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' },
      examples: [['']],
    },
  });
  expect(Object.keys(content['application/x-www-form-urlencoded'].schema.properties)).toEqual([
    'message',
    'stream',
    'state',
  ]);
});

test('named schemas are components, apart for input and output where they differ', async () => {
  const { paths, components } = await load();
  const created = paths['/pets'].post;
  const output = created.responses[201].content['application/json'].schema.$ref.split('/').at(-1);
  const input = created.requestBody.content['application/json'].schema.$ref.split('/').at(-1);
  expect(components.schemas[output]).toMatchObject({ description: 'A pet.', required: ['id', 'name'] });
  expect(components.schemas[input].required).toEqual(['id']);
  expect(components.schemas[output].additionalProperties).toBeUndefined();
  expect(created.responses[200].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/Tree',
  });
  expect(components.schemas.Tree.properties.children.items).toEqual({ $ref: '#/components/schemas/Tree' });
  // the answer to a request with fields may name the one that was misspelt
  expect(created.responses[204]).toEqual({
    description: 'Nothing.',
    headers: { 'x-runyard-hint': expect.objectContaining({ schema: { type: 'string' } }) },
  });
});

test('errors are shared components; streams are shown', async () => {
  const { paths, components } = await load();
  const { responses } = paths['/pets/{pet_id}/runs'].post;
  expect(Object.keys(responses)).toEqual([
    '200',
    '202',
    '400',
    '401',
    '403',
    '404',
    '408',
    '409',
    '413',
    '414',
    '415',
    '422',
    '429',
    '431',
    '500',
    '503',
  ]);
  expect(responses[404]).toEqual({ $ref: '#/components/responses/NotFound' });
  expect(components.responses.NotFound.content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/Problem',
  });
  expect(Object.keys(responses[200].content)).toEqual(['application/json', 'text/event-stream']);
  expect(Object.keys(paths['/health'].get.responses)).toEqual(['200', '400', '403', '500']);
  expect(components.securitySchemes.HTTPBearer).toMatchObject({ type: 'http', scheme: 'bearer' });
});

test('an operation id that is used twice is refused', () => {
  const [first] = routes;
  const twice = describeApi([first!, { ...first!, path: '/other' }], { title: 'x', version: '1' });
  expect(() => twice.json()).toThrow('health_check');
});
