import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { routes } from '../../src/capabilities/capabilities.js';
import {
  continueRunForm,
  continueWorkflowRunForm,
  createRunForm,
  createWorkflowRunForm,
} from '../../src/capabilities/runs/schema.js';
import { addSettingFlags } from '../../src/cli/setting-flags.js';
import { agentForm } from '../../src/core/configs/agent-form.js';
import type { ConfigForm, ConfigKey } from '../../src/core/configs/config-keys.js';
import { teamForm } from '../../src/core/configs/team-form.js';
import { knownProviders } from '../../src/core/models/providers.js';
import { compileExpression, type ExpressionPlace } from '../../src/core/workflows/definition/cel.js';
import { consoleRoutes } from '../../src/platform/http/console/routes.js';
import { documentationRoutes } from '../../src/platform/http/openapi/docs.js';
import { describeApi } from '../../src/platform/http/openapi/openapi.js';
import { pathTemplate, type RouteFacts } from '../../src/platform/http/route.js';
import { loadSettings, type SettingName, type SettingsSource } from '../../src/platform/settings/config.js';
import { readPage, repository, tableBelow, tableHeaded, tablesBelow } from './pages.js';
import { propertiesOf } from './sources.js';

/** A folder without a settings file; paths in the defaults are relative to it. */
const project = '/project';

describe('docs/configuration.md', () => {
  const rows = tableBelow(readPage('docs/configuration.md'), 'All settings');
  const { settings, origins } = loadSettings({ cwd: project });

  test('names every setting once, and nothing else', () => {
    expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(origins).sort());
  });

  test.each(rows.map((row) => [row[0] as SettingName, row[1]] as const))(
    'shows the default of %s',
    (name, shown) => {
      expect(shown).toBe(defaultText(settings[name]));
    },
  );

  test.each(rows.map((row) => [row[0] as SettingName, row[2]!.split(/,\s*/)] as const))(
    'names the variables of %s',
    (name, variables) => {
      const text = sample(name, settings[name]);
      expect(variables.map((variable) => originWith(name, { [variable]: text }))).toEqual(
        variables.map(() => 'environment'),
      );
    },
  );

  test('names the flags of the settings', () => {
    const flags = addSettingFlags(new Command()).options.filter(({ long }) => long !== '--config');
    const shown = rows.filter((row) => row[3] !== '').map((row) => [row[0], row[3]]);
    expect(shown.sort()).toEqual(flags.map((flag) => [flag.attributeName(), flag.long]).sort());
  });
});

describe('docs/changing-code.md', () => {
  const page = readPage('docs/changing-code.md');
  const rules = ['Workflows', 'Agents', 'Teams'].flatMap((part) => tableBelow(page, part));
  const tests = ['changed-code', 'changed-answers']
    .map((name) =>
      readFileSync(join(repository, `packages/runyard/test/heart/changed-code/${name}.test.ts`), 'utf8'),
    )
    .join('\n');

  test.each(rules.map(([rule]) => rule!))('has a test for the rule: %s', (rule) => {
    expect(tests).toContain(rule);
  });
});

test('docs/http-api.md lists every form field of a run', () => {
  const rows = tableBelow(readPage('docs/http-api.md'), 'Form fields');
  expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(createRunForm.shape).sort());
});

test('docs/http-api.md lists every form field of a continue', () => {
  const rows = tableBelow(readPage('docs/http-api.md'), 'Fields of a continue');
  expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(continueRunForm.shape).sort());
});

test('docs/http-api.md lists every form field that only workflows have', () => {
  const rows = tableHeaded(readPage('docs/http-api.md'), 'Field of workflows');
  const own = Object.keys(createWorkflowRunForm.shape).filter((name) => !(name in createRunForm.shape));
  expect(rows.map(([name]) => name)).toEqual(own);
});

test('docs/http-api.md lists every form field of the continue of a workflow', () => {
  const rows = tableBelow(readPage('docs/http-api.md'), "Fields of a workflow's continue");
  expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(continueWorkflowRunForm.shape).sort());
});

test('docs/http-api.md lists every error code with its status', () => {
  const folder = join(repository, 'packages/runyard/src/core/errors');
  const source = readdirSync(folder, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('-errors.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const catalogue = [
    ...source.matchAll(/(?:define(?:ForRun)?|new RunyardError)\(\s*['`]([a-z0-9_${}]+)['`],\s*(\d+)/g),
  ].map(([, code, status]) => `${code!.replace(/^\$\{kind\}/, 'agent')} ${status}`);
  const rows = tableBelow(readPage('docs/http-api.md'), 'Error codes');
  // one code may have several texts
  expect(rows.map(([code, status]) => `${code} ${status}`).sort()).toEqual([...new Set(catalogue)].sort());
});

describe('docs/security.md', () => {
  const page = readPage('docs/security.md');

  test('names the scope of every route', () => {
    const documentation = documentationRoutes(describeApi(routes, { title: 'Any', version: '1' }), true);
    const own = [...documentation, ...consoleRoutes];
    const shown = tableHeaded(page, 'Operation').flatMap(([operations, scope]) =>
      operations!.split(', ').map((operation) => `${operation}: ${scope}`),
    );
    expect(shown.sort()).toEqual([...routes, ...own].map(accessText).sort());
  });

  const { settings } = loadSettings({ cwd: project });
  const limits = tableHeaded(page, 'Limit').flatMap(([, shown, names]) =>
    names!.split(', ').flatMap((name) => (name === '' ? [] : [[name as SettingName, shown!] as const])),
  );

  test.each(limits)('shows the default of the limit %s', (name, shown) => {
    expect(shown).toMatch(new RegExp(`^${settings[name] ?? 'any number'}( bytes| ms)?$`));
  });
});

test('docs/models.md lists every provider with its key and address', () => {
  const rows = tableBelow(readPage('docs/models.md'), 'Names');
  const providers = Object.entries(knownProviders).map(
    ([prefix, { keyVariables, baseUrl, baseUrlVariable }]) => [
      `${prefix}:`,
      keyVariables.join(' or '),
      baseUrlVariable,
      baseUrl ?? '',
    ],
  );
  expect(rows.map((row) => row.slice(0, 4)).sort()).toEqual(providers.sort());
});

test('docs/http-api.md lists every event of an agent', () => {
  const rows = tableBelow(readPage('docs/http-api.md'), 'Streaming');
  expect(rows.flatMap(([names]) => names!.split(', ')).sort()).toEqual(propertiesOf('AgentEvents'));
});

test('docs/agents.md lists every setting of an agent once', () => {
  const rows = tablesBelow(readPage('docs/agents.md'), 'Settings of an agent');
  const settings = ['AgentSettings', 'KnowledgeUse'].flatMap(propertiesOf);
  expect(rows.map(([name]) => name).sort()).toEqual(settings.sort());
});

test.each([
  ['docs/models.md', 'Option of openAIResponses', 'OpenAIResponsesOptions'],
  ['docs/models.md', 'Option of openAICompatible', 'OpenAICompatibleOptions'],
  ['docs/models.md', 'Option of anthropic', 'AnthropicOptions'],
  ['docs/models.md', 'Option of gemini', 'GeminiOptions'],
  ['docs/models.md', 'Option of every adapter', 'ConnectionOptions'],
  ['docs/embeddings.md', 'Option of every adapter', 'ServiceOptions'],
  ['docs/embeddings.md', 'Option of every embedder', 'BatchOptions'],
  ['docs/embeddings.md', 'Option of aiSdkEmbedder', 'AiSdkEmbedderOptions'],
  ['docs/tools.md', 'Option', 'ToolOptions'],
  ['docs/tools.md', 'Option of cacheResults', 'CacheOptions'],
  ['docs/tools.md', 'Option of toolkit', 'ToolkitOptions'],
  ['docs/tools.md', 'Option of mcpTools', 'McpToolsOptions'],
  ['docs/tools.md', 'Option of webFetch', 'WebFetchOptions'],
  ['docs/tools.md', 'Option of fileFolder', 'FileFolderOptions'],
  ['docs/tools.md', 'Option of sqlQuery', 'SqlQueryOptions'],
  ['docs/teams.md', 'Option of team', 'TeamSettings'],
  ['docs/learnings.md', 'Option of learning', 'LearningSettings'],
  ['docs/workflows.md', 'Option of workflow', 'WorkflowSettings'],
  ['docs/workflows.md', 'Option of every step', 'NamedSettings'],
  ['docs/workflows.md', 'Option of parallel', 'ParallelSettings'],
  ['docs/workflows.md', 'Option of condition', 'ConditionSettings'],
  ['docs/workflows.md', 'Option of loop', 'LoopSettings'],
  ['docs/workflows.md', 'Option of router', 'RouterSettings'],
  ['docs/workflows.md', 'Option of review', 'ReviewSettings'],
  ['docs/workflows.md', 'Option of stepOutput', 'StepOutputSettings'],
  ['docs/workflows.md', 'Field of userInputSchema', 'UserInputField'],
  ['docs/workflows.md', 'Of the step', 'StepInput'],
  ['docs/workflows.md', 'Of a function', 'StepContext'],
  ['docs/workflows.md', 'Answer', 'GivenStepAnswer'],
])('%s, the table "%s" lists every property of %s', (page, table, type) => {
  const rows = tableHeaded(readPage(page), table);
  expect(namesOf(rows)).toEqual(propertiesOf(type));
});

describe('docs/components.md', () => {
  const page = readPage('docs/components.md');
  const pairs = (form: ConfigForm<unknown>) =>
    Object.entries<ConfigKey>(form.keys).map(([setting, { keys }]) => `${keys[0]} ${setting}`);
  const rowsOf = (heading: string) => tableBelow(page, heading).map(([key, setting]) => `${key} ${setting}`);

  test('lists every key with its setting', () => {
    const agentPairs = pairs(agentForm).filter((pair) => pair !== 'id id');
    expect(rowsOf('Keys of agents')).toEqual(agentPairs);
    expect(rowsOf('Keys of teams')).toEqual(
      pairs(teamForm).filter((pair) => !pairs(agentForm).includes(pair)),
    );
  });

  test('lists every key without a setting, and the names of the registry', () => {
    expect(namesOf(tableHeaded(page, 'Key without a setting'))).toEqual(
      Object.keys(teamForm.without ?? {}).sort(),
    );
    expect(namesOf(tableBelow(page, 'The registry'))).toEqual(propertiesOf('RegistrySettings'));
  });
});

test('docs/workflows.md lists the options of a single step', () => {
  const rows = tableHeaded(readPage('docs/workflows.md'), 'Option of step');
  expect(namesOf(rows)).toEqual(propertiesOf('CommonStepSettings'));
});

test.each(['condition', 'router', 'loop'] as const)(
  'docs/workflows.md lists every CEL variable of a %s',
  (place) => {
    const rows = tableHeaded(readPage('docs/workflows.md'), 'Variable');
    const shown = rows.filter(([, where]) => where === 'all' || where === place);
    expect(namesOf(shown)).toEqual(variablesOf(place));
  },
);

test('docs/workflows.md lists every event of a workflow', () => {
  const rows = tableHeaded(readPage('docs/workflows.md'), 'Event of workflows');
  expect(namesOf(rows)).toEqual(propertiesOf('WorkflowEvents'));
});

test('docs/teams.md lists every event that only teams have', () => {
  const rows = tableHeaded(readPage('docs/teams.md'), 'Event of tasks');
  expect(namesOf(rows)).toEqual(propertiesOf('TaskEvents').map((name) => `Team${name}`));
});

/** A route and who may call it, as the page says it. */
function accessText({ method, path, scope, public: isPublic }: RouteFacts): string {
  const needed = isPublic ? 'none, public' : scope === null ? 'any token' : [scope].flat().join(' or ');
  return `${method} ${pathTemplate(path)}: ${needed}`;
}

/** The names in the first column, where several may share a row, sorted. */
function namesOf(rows: readonly string[][]): string[] {
  return rows.flatMap(([names]) => names!.split(', ')).sort();
}

/** As the error for an invalid expression lists them. */
function variablesOf(place: ExpressionPlace): string[] {
  try {
    compileExpression('(', place, 'A step');
  } catch (error) {
    return /variables are: (.+)\.$/.exec(String(error))![1]!.split(', ').sort();
  }
  throw new Error('a text that is no expression was taken');
}

function defaultText(value: unknown): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value).replace(`//${project}/`, '').replace(`${project}/`, '');
}

/** A value that the setting takes, as a variable holds it. */
function sample(name: SettingName, value: unknown): string {
  if (name === 'database') return 'sqlite:other.db';
  if (name === 'redis') return 'redis://cache:6379/0';
  if (name === 'databaseDirectUrl' || name === 'databaseReplicaUrl') return 'postgres://db/name';
  if (['otlpEndpoint', 'jwksUrl', 'corsOrigins', 'mcpPublicUrl'].includes(name))
    return 'http://127.0.0.1:4318';
  if (name === 'mcpOauthSecret' || name === 'mcpOauthSigningKey') return 'something'.repeat(4);
  if (name === 'jwtAlgorithms') return 'RS256,ES256';
  if (name === 'publicPaths') return '/info';
  if (name === 'trustedProxies') return '10.0.0.0/8';
  if (name === 'rateLimit' || name === 'rateLimitBurst' || name === 'probePort') return '60';
  if (name.startsWith('maxRun')) return '60';
  if (name === 'maxBodiesBytes') return '100000000';
  return defaultText(value) || 'something';
}

function originWith(name: SettingName, env: Record<string, string>): SettingsSource {
  return loadSettings({ cwd: project, env }).origins[name];
}
