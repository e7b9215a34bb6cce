import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../../src/capabilities/capabilities.js';
import { agent, knowledge } from '../../../src/index.js';
import { s3Source } from '../../../src/knowledge.js';
import { pathTemplate, type RouteFacts } from '../../../src/platform/http/route.js';
import { type Body, TestService } from '../../support/service.js';

/** The operations of the wire contract that are there so far, with the ids that clients were generated from. */
const contract: Record<string, string> = {
  'GET /': 'get_api_info',
  'GET /health': 'health_check',
  'GET /info': 'get_info',
  'GET /config': 'get_config',
  'GET /models': 'get_models',
  'POST /databases/all/migrate': 'migrate_all_databases',
  'POST /databases/{db_id}/migrate': 'migrate_database',
  'GET /registry': 'list_registry',
  'GET /agents': 'get_agents',
  'GET /agents/{agent_id}': 'get_agent',
  'POST /agents/{agent_id}/runs': 'create_agent_run',
  'GET /agents/{agent_id}/runs': 'list_agent_runs',
  'GET /agents/{agent_id}/runs/{run_id}': 'get_agent_run',
  'POST /agents/{agent_id}/runs/{run_id}/cancel': 'cancel_agent_run',
  'POST /agents/{agent_id}/runs/{run_id}/continue': 'continue_agent_run',
  'POST /agents/{agent_id}/runs/{run_id}/resume': 'resume_agent_run_stream',
  'GET /agents/{agent_id}/runs/{run_id}/checkpoints': 'list_agent_run_checkpoints',
  'GET /agents/{agent_id}/runs/{run_id}/checkpoints/{message_index}': 'get_agent_run_checkpoint',
  'POST /agents/{agent_id}/sessions/{session_id}/fork': 'fork_agent_session',
  'GET /teams': 'get_teams',
  'GET /teams/{team_id}': 'get_team',
  'POST /teams/{team_id}/runs': 'create_team_run',
  'GET /teams/{team_id}/runs': 'list_team_runs',
  'GET /teams/{team_id}/runs/{run_id}': 'get_team_run',
  'POST /teams/{team_id}/runs/{run_id}/cancel': 'cancel_team_run',
  'POST /teams/{team_id}/runs/{run_id}/continue': 'continue_team_run',
  'POST /teams/{team_id}/runs/{run_id}/resume': 'resume_team_run_stream',
  'GET /teams/{team_id}/runs/{run_id}/checkpoints': 'list_team_run_checkpoints',
  'GET /teams/{team_id}/runs/{run_id}/checkpoints/{message_index}': 'get_team_run_checkpoint',
  'POST /teams/{team_id}/sessions/{session_id}/fork': 'fork_team_session',
  'GET /workflows': 'get_workflows',
  'GET /workflows/{workflow_id}': 'get_workflow',
  'POST /workflows/{workflow_id}/runs': 'create_workflow_run',
  'GET /workflows/{workflow_id}/runs': 'list_workflow_runs',
  'GET /workflows/{workflow_id}/runs/{run_id}': 'get_workflow_run',
  'POST /workflows/{workflow_id}/runs/{run_id}/cancel': 'cancel_workflow_run',
  'POST /workflows/{workflow_id}/runs/{run_id}/continue': 'continue_workflow_run',
  'POST /workflows/{workflow_id}/runs/{run_id}/resume': 'resume_workflow_run_stream',
  'GET /approvals': 'list_approvals',
  'GET /approvals/count': 'get_approval_count',
  'GET /approvals/{approval_id}': 'get_approval',
  'GET /approvals/{approval_id}/status': 'get_approval_status',
  'POST /approvals/{approval_id}/resolve': 'resolve_approval',
  'DELETE /approvals/{approval_id}': 'delete_approval',
  'GET /schedules': 'list_schedules',
  'POST /schedules': 'create_schedule',
  'GET /schedules/{schedule_id}': 'get_schedule',
  'PATCH /schedules/{schedule_id}': 'update_schedule',
  'DELETE /schedules/{schedule_id}': 'delete_schedule',
  'POST /schedules/{schedule_id}/enable': 'enable_schedule',
  'POST /schedules/{schedule_id}/disable': 'disable_schedule',
  'POST /schedules/{schedule_id}/trigger': 'trigger_schedule',
  'GET /schedules/{schedule_id}/runs': 'list_schedule_runs',
  'GET /schedules/{schedule_id}/runs/{run_id}': 'get_schedule_run',
  'GET /components': 'list_components',
  'POST /components': 'create_component',
  'GET /components/{component_id}': 'get_component',
  'PATCH /components/{component_id}': 'update_component',
  'DELETE /components/{component_id}': 'delete_component',
  'GET /components/{component_id}/configs': 'list_configs',
  'POST /components/{component_id}/configs': 'create_config',
  'GET /components/{component_id}/configs/current': 'get_current_config',
  // the contract calls it get_config, as it calls GET /config: no two operations may have one id
  'GET /components/{component_id}/configs/{version}': 'get_component_config',
  'PATCH /components/{component_id}/configs/{version}': 'update_config',
  'DELETE /components/{component_id}/configs/{version}': 'delete_config',
  'POST /components/{component_id}/configs/{version}/set-current': 'set_current_config',
  'POST /service-accounts': 'create_service_account',
  'GET /service-accounts': 'list_service_accounts',
  'DELETE /service-accounts/{service_account_id}': 'revoke_service_account',
  'GET /sessions': 'get_sessions',
  'POST /sessions': 'create_session',
  'DELETE /sessions': 'delete_sessions',
  'GET /sessions/{session_id}': 'get_session_by_id',
  'PATCH /sessions/{session_id}': 'update_session',
  'DELETE /sessions/{session_id}': 'delete_session',
  'POST /sessions/{session_id}/rename': 'rename_session',
  'GET /sessions/{session_id}/runs': 'get_session_runs',
  'GET /sessions/{session_id}/runs/{run_id}': 'get_session_run',
  'GET /metrics': 'get_metrics',
  'POST /metrics/refresh': 'refresh_metrics',
  'GET /metrics/refresh/status': 'get_metrics_refresh_status',
  'GET /memories': 'get_memories',
  'POST /memories': 'create_memory',
  'DELETE /memories': 'delete_memories',
  'GET /memories/{memory_id}': 'get_memory',
  'PATCH /memories/{memory_id}': 'update_memory',
  'DELETE /memories/{memory_id}': 'delete_memory',
  'GET /memory_topics': 'get_memory_topics',
  'GET /user_memory_stats': 'get_user_memory_stats',
  'POST /optimize-memories': 'optimize_memories',
  'GET /learnings': 'list_learnings',
  'POST /learnings': 'create_learning',
  'GET /learnings/users': 'list_learning_users',
  'DELETE /learnings/users/{user_id}': 'delete_learning_user',
  'GET /learnings/{learning_id}': 'get_learning',
  'PATCH /learnings/{learning_id}': 'update_learning',
  'DELETE /learnings/{learning_id}': 'delete_learning',
  'GET /traces': 'get_traces',
  'GET /traces/filter-schema': 'get_trace_filter_schema',
  'POST /traces/search': 'search_traces',
  'GET /traces/{trace_id}': 'get_trace',
  'GET /trace_session_stats': 'get_trace_session_stats',
  'POST /knowledge/content': 'upload_content',
  'POST /knowledge/remote-content': 'upload_remote_content',
  'GET /knowledge/content': 'get_content',
  'GET /knowledge/content/{content_id}': 'get_content_by_id',
  'GET /knowledge/content/{content_id}/status': 'get_content_status',
  'PATCH /knowledge/content/{content_id}': 'update_content',
  'DELETE /knowledge/content/{content_id}': 'delete_content_by_id',
  'DELETE /knowledge/content': 'delete_all_content',
  'POST /knowledge/search': 'search_knowledge',
  'GET /knowledge/config': 'get_knowledge_config',
  'GET /knowledge/{knowledge_id}/sources': 'list_content_sources',
  'GET /knowledge/{knowledge_id}/sources/{source_id}/files': 'list_source_files',
  'POST /eval-runs': 'run_eval',
  'GET /eval-runs': 'get_eval_runs',
  'DELETE /eval-runs': 'delete_eval_runs',
  'GET /eval-runs/{eval_run_id}': 'get_eval_run',
  'PATCH /eval-runs/{eval_run_id}': 'update_eval_run',
};

/** Routes that answer without a token, each for a reason that was decided on. */
const open = ['GET /health', 'GET /openapi.json', 'GET /docs/assets/{file}'];

/** Lists that do not grow with what is stored: they hold what the operator registered, or an entry for a day. */
const registered = [
  'GET /agents',
  'GET /teams',
  'GET /workflows',
  'GET /models',
  'GET /databases',
  'POST /metrics/refresh',
  'GET /knowledge/{knowledge_id}/sources',
];

/** Lists that the contract has without pages: short entries, read in pieces. */
const whole = ['GET /memory_topics'];

/** Lists whose pages the contract does not bound: their rows are read in pieces. */
const readInPieces = [
  'GET /sessions',
  'GET /memories',
  'GET /user_memory_stats',
  'GET /traces',
  'GET /trace_session_stats',
  'GET /knowledge/content',
  'GET /eval-runs',
];

let service: TestService;
let document: Body;

beforeAll(async () => {
  const sources = [s3Source({ id: 'docs-s3', bucket: 'docs', endpoint: 'http://127.0.0.1:9' })];
  service = await TestService.start({
    name: 'Yard',
    agents: [agent({ id: 'a', model: 'offline' })],
    knowledge: [knowledge({ name: 'Handbook', sources })],
  });
  document = (await service.get('/openapi.json')).body;
});
afterAll(() => service.stop());

describe('the published description', () => {
  test('is valid OpenAPI 3.1 and names the service', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document).toEqual(JSON.parse(JSON.stringify(await service.app.openapi())));
    expect(document.info.title).toBe('Yard');
    expect(document.components.securitySchemes).toEqual({
      HTTPBearer: expect.objectContaining({ scheme: 'bearer' }),
    });
  });

  test('has the operations of the contract under their ids', () => {
    expect(
      Object.fromEntries(operations().map(({ name, operation }) => [name, operation.operationId])),
    ).toMatchObject(contract);
  });

  test('marks everything that is not in the contract', () => {
    for (const { name, operation } of operations()) {
      expect(operation['x-addition'] === true || name in contract, name).toBe(true);
    }
  });

  test('describes every operation, and gives every answer that carries data a schema', () => {
    for (const { name, operation } of operations()) {
      expect(operation.summary, name).toBeTruthy();
      expect(operation.tags, name).toHaveLength(1);
      for (const [status, response] of Object.entries<Body>(operation.responses)) {
        if (response.$ref) continue;
        expect(response.description, `${name} ${status}`).toBeTruthy();
        for (const media of Object.values<Body>(response.content ?? {}))
          expect(media.schema, `${name} ${status}`).toBeTruthy();
      }
    }
  });

  test('gives every JSON body an example that is accepted as it is', async () => {
    const bodies = operations().flatMap(({ name, operation }) => {
      const schema = operation.requestBody?.content['application/json']?.schema;
      return schema === undefined ? [] : [{ name, example: named(schema).examples?.[0] }];
    });
    expect(bodies.length).toBeGreaterThan(10);
    const headers = { 'content-type': 'application/json' };
    // the contract answers 400 where versions of an unknown component are written
    const component = JSON.stringify({ name: 'x', component_id: 'some-id', component_type: 'agent' });
    await service.call('POST', '/components', { headers, body: component });
    for (const { name, example } of bodies) {
      const numbered = name.replace('{version}', '1');
      const [method = '', path = ''] = numbered.replace(/\{\w+\}/g, 'some-id').split(' ');
      const { status } = await service.call(method, path, { headers, body: JSON.stringify(example) });
      // 401: only a known caller can make service accounts
      expect([200, 201, 202, 204, 401, 404], name).toContain(status);
    }
  });

  test('describes the headers and the frames beside the bodies', () => {
    const { paths, components } = document;
    const run = paths['/agents/{agent_id}/runs'].post;
    expect(Object.keys(run.responses[200].headers)).toEqual(['x-run-id', 'x-runyard-hint']);
    expect(Object.keys(components.responses.Unavailable.headers)).toEqual(['retry-after', 'x-run-id']);
    const resumed = paths['/agents/{agent_id}/runs/{run_id}/resume'].post.responses[200];
    const { description } = resumed.content['text/event-stream'].schema;
    for (const frame of ['catch_up', 'subscribed', 'replay', 'error', 'missed_events'])
      expect(description).toContain(frame);
  });

  test('names the switch for older clients wherever the status of a run is shown', () => {
    const switched = operations().filter(({ operation }) =>
      operation.parameters?.some(({ name }: Body) => name === 'x-runyard-compat'),
    );
    const runs = /^(GET|POST) \/(agents|teams|workflows)\/\{\w+\}\/runs(?!.*\/events$)/;
    const approvals = /^(GET|POST) \/approvals(\/\{approval_id\}(\/resolve)?)?$/;
    const ofSessions = /^GET \/sessions\/\{session_id\}\/runs/;
    const showing = operations().filter(({ name }) =>
      [runs, approvals, ofSessions].some((pattern) => pattern.test(name)),
    );
    expect(switched.map(({ name }) => name)).toEqual(showing.map(({ name }) => name));
    expect(showing.length).toBeGreaterThanOrEqual(10);
  });

  test('offers a run in both form content types with every field', () => {
    const { content } = document.paths['/agents/{agent_id}/runs'].post.requestBody;
    const fields = [
      ...['message', 'stream', 'background', 'session_id', 'user_id', 'version', 'factory_input'],
      ...[
        'session_state',
        'dependencies',
        'metadata',
        'knowledge_filters',
        'output_schema',
        'use_json_schema',
      ],
      ...[
        'images',
        'audio',
        'videos',
        'input_files',
        'stream_events',
        'run_id',
        'debug_mode',
        'on_disconnect',
      ],
      ...['add_history_to_context', 'add_dependencies_to_context', 'add_session_state_to_context'],
    ];
    const multipart = content['multipart/form-data'].schema;
    const urlencoded = content['application/x-www-form-urlencoded'].schema;
    expect(Object.keys(multipart.properties)).toEqual(expect.arrayContaining([...fields, 'files']));
    expect(Object.keys(urlencoded.properties)).toEqual(expect.arrayContaining(fields));
    expect(Object.keys(urlencoded.properties)).not.toContain('files');
    for (const schema of [multipart, urlencoded]) {
      expect(schema.required).toEqual(['message']);
      for (const [name, field] of Object.entries<Body>(schema.properties)) {
        expect(field.description, name).toBeTruthy();
      }
    }
  });

  test('announces the stream, and every refusal that a run can meet', () => {
    const { responses } = document.paths['/agents/{agent_id}/runs'].post;
    expect(Object.keys(responses['200'].content).sort()).toEqual(['application/json', 'text/event-stream']);
    expect(Object.keys(responses)).toEqual(
      expect.arrayContaining(['200', '202', '400', '403', '404', '409', '413', '415', '422', '500', '503']),
    );
  });

  test('describes which headers have a meaning, and that reading a run needs one of two scopes', () => {
    const runs = document.paths['/agents/{agent_id}/runs'];
    const events = document.paths['/agents/{agent_id}/runs/{run_id}/events'];
    const headers = ({ parameters }: Body) =>
      parameters
        .filter((one: Body) => one.in === 'header')
        .map(({ name, required }: Body) => [name, required]);
    expect(headers(runs.post)).toEqual([
      ['x-runyard-compat', false],
      ['idempotency-key', false],
      ['traceparent', false],
      ['x-runyard-hops', false],
    ]);
    expect(headers(events.get)).toEqual([['last-event-id', false]]);
    expect(runs.post['x-scope']).toBe('agents:run');
    for (const reading of [runs.get, events.get])
      expect(reading['x-scope']).toEqual(['agents:read', 'agents:run']);
  });

  test('is the same for all callers and says where it is served', async () => {
    const { headers, body } = await service.get('/openapi.json/');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toEqual(document);
    expect(body.servers).toEqual([{ url: '/' }]);
  });
});

describe('the route table', () => {
  test('gives every route a scope, or opens it by name', () => {
    for (const route of routes) {
      const isOpen = open.includes(nameOf(route));
      expect(route.public === true, nameOf(route)).toBe(isOpen);
      if (!isOpen) expect(route.scope, nameOf(route)).not.toBeUndefined();
    }
  });

  test('requires no token where it is open, and one everywhere else', () => {
    for (const { name, operation } of operations()) {
      expect(operation.security, name).toEqual(open.includes(name) ? [] : [{ HTTPBearer: [] }]);
    }
  });

  test('bounds every list', () => {
    for (const { name, operation } of operations()) {
      const schema = operation.responses['200']?.content?.['application/json']?.schema;
      const pages = document.components.schemas[schema?.$ref?.split('/').at(-1)]?.properties?.data;
      if ((schema?.type ?? pages?.type) !== 'array' || [...registered, ...whole].includes(name)) continue;
      const [limit, page] = ['limit', 'page'].map((field) => fieldOf(operation, field));
      const isBounded = { minimum: 1, ...(!readInPieces.includes(name) && { maximum: expect.any(Number) }) };
      expect(limit, name).toMatchObject(isBounded);
      expect(page?.minimum, name).toBeOneOf([0, 1]);
    }
  });

  test('answers at every path without parameters', async () => {
    for (const { name, operation } of operations()) {
      const [method = '', path = ''] = name.split(' ');
      if (path.includes('{') || operation.requestBody?.required) continue;
      expect((await service.call(method, path)).status, name).toBeOneOf([200, 201]);
    }
  });
});

/** The schema of a field of the query or of the body. */
function fieldOf(operation: Body, field: string): Body {
  const parameter = operation.parameters?.find(({ name }: Body) => name === field);
  const body = operation.requestBody?.content['application/json']?.schema;
  const fields = body && named(body).properties;
  return parameter?.schema ?? fields?.[field] ?? fields?.meta?.anyOf[0].properties[field];
}

function operations(): { name: string; operation: Body }[] {
  return Object.entries<Body>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Body>(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

/** A schema, or the one that it names. */
function named(schema: Body): Body {
  return schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema;
}

function nameOf({ method, path }: RouteFacts): string {
  return `${method} ${pathTemplate(path)}`;
}
