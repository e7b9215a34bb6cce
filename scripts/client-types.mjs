import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { joinedDeclarations } from './lib/declarations.mjs';
import { comment, SchemaTypes } from './lib/schema-types.mjs';
import { root } from './lib/setup.mjs';

/*
 * Writes the types of the client from the route table and the events of the service, which have to be built.
 * With --check it writes nothing, and fails when the files are not those that it would write.
 */
const folder = `${root}packages/client/src/generated/`;
const compiled = `${root}packages/runyard/dist/`;
const header = '// Written by `npm run client-types` from the routes and events of the service.\n\n';

/** Where the operations are that are not found under the first word of their path. */
const resources = {
  'eval-runs': 'evals',
  memory_topics: 'memories',
  user_memory_stats: 'memories',
  'optimize-memories': 'memories',
  trace_session_stats: 'traces',
  registry: 'components',
  ...Object.fromEntries(['health', 'ready', '', 'info', 'config', 'models'].map((path) => [path, 'service'])),
};

/** What the names of operations call a resource: one, many. */
const nouns = {
  evals: ['eval_run|eval', 'eval_runs'],
  memories: ['memory', 'memories'],
  service: ['-', '-'],
};
nouns.knowledge = ['knowledge', '-'];

/** The client has methods of its own for these. */
const ownMethods = /^(create|continue|cancel|resume|follow)_(agent|team|workflow)_run(_stream|_events)?$/;

/** What runs contain that the description leaves open. */
const refined = {
  tools: { identified: 'tool_call_id', type: 'ToolCallBody[]' },
  requirements: { identified: 'tool_execution', type: 'RequirementBody[]' },
  step_requirements: { identified: 'step_id', type: 'StepRequirement[]' },
  error_requirements: { identified: 'step_id', type: 'ErrorRequirement[]' },
};

/** Types of the service that the client has too. */
const shared = {
  'core/events/run-event.js': ['AgentEvent', 'TeamEvent', 'WorkflowEvent', 'JobEvent'],
  'core/events/agent-event.js': ['ToolCallBody', 'RequirementBody'],
  'core/workflows/review/step-requirement.js': ['StepRequirement', 'ErrorRequirement'],
};

const { routes } = await import(`${compiled}capabilities/capabilities.js`);
const { describeApi } = await import(`${compiled}platform/http/openapi/openapi.js`);
const description = JSON.parse(describeApi(routes, { title: '', version: '' }).json());

const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => described(path, method, operation)),
);
const schemas = new SchemaTypes(description.components.schemas, refined);
for (const { body } of operations) schemas.markSent(body ?? {});

const files = {
  'api.ts': `${header}import type { EventStream } from '../event-stream.js';
import type { CallOptions } from '../transport.js';
import type { ErrorRequirement, JobEvent, RequirementBody, StepRequirement, ToolCallBody } from './events.js';

${[...schemas.declarations(), ...bodies()].join('\n\n')}

/** The operations of a service by resource. */
export interface Resources {
${Object.entries(byResource()).map(resourceType).join('')}}
`,
  'operations.ts': `${header}/** How each operation is called: what its last argument is (q: query, b: body, s: query of a stream), method and path. */
export const operations = {
${Object.entries(byResource()).map(resourceTable).join('')}};
`,
  'events.ts': `${header}${await eventTypes()}`,
};

if (process.argv.includes('--check')) {
  const stale = Object.keys(files).filter((name) => textOf(name) !== files[name]);
  for (const name of stale)
    console.log(`packages/client/src/generated/${name} is not what the service has now`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files))
    if (textOf(name) !== text) writeFileSync(folder + name, text);
}

function textOf(name) {
  try {
    return readFileSync(folder + name, 'utf8');
  } catch {
    return undefined;
  }
}

function described(
  path,
  method,
  { operationId, summary, description: text, parameters = [], requestBody, responses },
) {
  const first = path.split('/')[1];
  const resource = resources[first] ?? camelCase(first);
  const isStream = Object.values(responses).every(
    ({ content }) => !content || 'text/event-stream' in content || isProblem(content),
  );
  const query = parameters.filter(({ in: place }) => place === 'query');
  const hasStream = isStream && responses['200']?.content !== undefined;
  const kind = hasStream ? 's' : requestBody ? 'b' : query.length > 0 ? 'q' : '';
  return {
    id: operationId,
    resource,
    name: methodName(operationId, resource),
    call: `${kind} ${method.toUpperCase()} ${path}`,
    kind,
    text: [summary, text].filter(Boolean).join('. '),
    params: parameters.filter(({ in: place }) => place === 'path'),
    query,
    body: requestBody && bodyOf(requestBody.content),
    bodyRequired: requestBody?.required,
    responses,
  };
}

function isProblem(content) {
  return JSON.stringify(content).includes('Problem');
}

/** The fields as JSON, with the files that only a form can have. */
function bodyOf(content) {
  const { schema } = content['application/json'];
  const form = content['multipart/form-data']?.schema.properties ?? {};
  const files = Object.entries(form).filter(([, field]) =>
    [field, field.items].some((one) => one?.format === 'binary'),
  );
  if (schema.$ref) return schema;
  return {
    ...schema,
    additionalProperties: undefined,
    properties: { ...schema.properties, ...Object.fromEntries(files) },
  };
}

/** `get_sessions` is `sessions.list`, `rename_session` is `sessions.rename`, `get_session_runs` is `sessions.getRuns`. */
function methodName(id, resource) {
  const plural = resource.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const [one, many] = nouns[resource] ?? [plural.replace(/s$/, ''), plural];
  const found = new RegExp(`(?:^|_)(?:(${many})|${one})(?=_|$)`).exec(id);
  const rest = found ? id.replace(found[0], '') : id;
  const ofMany = { get: 'list', delete: 'delete_many' };
  if (found?.[1] && rest in ofMany) return camelCase(ofMany[rest]);
  return camelCase(rest === 'get_by_id' ? 'get' : rest);
}

function byResource() {
  const grouped = {};
  for (const operation of operations.filter(({ id }) => !ownMethods.test(id))) {
    const { id, resource, name } = operation;
    grouped[resource] ??= {};
    if (grouped[resource][name])
      throw new Error(`${id} and ${grouped[resource][name].id} are both ${resource}.${name}`);
    grouped[resource][name] = operation;
  }
  return grouped;
}

function resourceTable([resource, methods]) {
  const lines = Object.values(methods).map(({ name, call }) => `    ${name}: '${call}',\n`);
  return `  ${resource}: {\n${lines.join('')}  },\n`;
}

function resourceType([resource, methods]) {
  return `  ${resource}: {\n${Object.values(methods).map(methodType).join('')}  };\n`;
}

function methodType({ name, kind, text, params, query, body, bodyRequired, id, responses }) {
  const ids = params.map(
    ({ name, schema }) => `${camelCase(name)}: ${schema.type === 'string' ? 'string' : 'string | number'}`,
  );
  const queryType = schemas.type(
    {
      type: 'object',
      properties: Object.fromEntries(
        query.map(({ name, schema, description: about }) => [name, { ...schema, description: about }]),
      ),
      required: query.filter(({ required }) => required).map(({ name }) => name),
    },
    true,
    '    ',
  );
  const optional = query.some(({ required }) => required) ? '' : '?';
  const data = {
    '': [],
    q: [`query${optional}: ${queryType}`],
    s: [`query${optional}: ${queryType}`],
    b: [`body${bodyRequired ? '' : '?'}: ${body?.$ref ? schemas.type(body) : bodyName(id)}`],
  }[kind];
  const options = kind === 'b' && query.length > 0 ? `CallOptions<${queryType}>` : 'CallOptions';
  const result = kind === 's' ? 'EventStream<JobEvent>' : `Promise<${resultType(responses)}>`;
  return `${comment(text, '    ')}    ${name}(${[...ids, ...data, `options?: ${options}`].join(', ')}): ${result};\n`;
}

function resultType(responses) {
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => Object.values(content ?? {})[0]?.schema);
  return [
    ...new Set(contents.map((schema) => (schema ? schemas.type(schema, false, '    ') : 'undefined'))),
  ].join(' | ');
}

function bodies() {
  return operations
    .filter(({ body }) => body && !body.$ref)
    .map(({ id, body }) => `export interface ${bodyName(id)} ${schemas.type(body, true, '')}`);
}

function bodyName(id) {
  const name = camelCase(id);
  return `${name[0].toUpperCase()}${name.slice(1)}Body`;
}

async function eventTypes() {
  const place = mkdtempSync(join(tmpdir(), 'runyard-types-'));
  const lines = Object.entries(shared).map(
    ([file, names]) => `export type { ${names.join(', ')} } from ${JSON.stringify(compiled + file)};\n`,
  );
  writeFileSync(join(place, 'events.d.ts'), lines.join(''));
  try {
    const [{ code }] = await joinedDeclarations({ events: join(place, 'events.d.ts') });
    return usedDeclarations(code, Object.values(shared).flat());
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Joined modules are whole: keeps what the named declarations refer to. */
function usedDeclarations(code, names) {
  const declared = new Map();
  let end = 0;
  for (const statement of parseSync('events.d.ts', code).program.body) {
    const name = statement.id?.name ?? statement.declarations?.[0].id.name;
    if (name !== undefined)
      declared.set(
        name,
        code
          .slice(end, statement.end)
          .replace(/^\/\/#.*\n/gm, '')
          .trim(),
      );
    end = statement.end;
  }
  // the same words; there they come from the definitions of all nodes, which a client does not know
  declared.set('NodeType', "type NodeType = StepOutput['step_type'];");
  const used = new Set(names);
  const others = /\/\*[\s\S]*?\*\/|'[^']*'|\w+\??:/g;
  for (const name of used)
    for (const [word] of declared
      .get(name)
      .replace(others, '')
      .matchAll(/\b[A-Za-z]\w*/g))
      if (declared.has(word)) used.add(word);
  const exported = (name, text) =>
    names.includes(name) ? text.replace(/^(type|interface) /m, 'export $1 ') : text;
  const kept = [...declared].filter(([name]) => used.has(name));
  return `${kept.map(([name, text]) => exported(name, text)).join('\n\n')}\n`;
}

function camelCase(name) {
  return name.replace(/[-_]+(\w)/g, (_all, letter) => letter.toUpperCase());
}
