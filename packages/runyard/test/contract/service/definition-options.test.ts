import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ClearedCall } from '../../../src/core/tools/call/gate.js';
import { collectFixedTools } from '../../../src/core/tools/collect-tools.js';
import type { ToolContext } from '../../../src/core/tools/tool-context.js';
import * as evals from '../../../src/evals.js';
import * as guardrails from '../../../src/guardrails.js';
import * as runyard from '../../../src/index.js';
import * as interfaces from '../../../src/interfaces.js';
import * as knowledge from '../../../src/knowledge.js';
import * as models from '../../../src/models.js';
import * as testing from '../../../src/testing.js';
import * as tools from '../../../src/tools.js';

const entryPoints: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '.': runyard,
  './models': models,
  './tools': tools,
  './guardrails': guardrails,
  './knowledge': knowledge,
  './evals': evals,
  './interfaces': interfaces,
  './testing': testing,
};

const {
  Agent,
  AgentFactory,
  agent,
  agentFactory,
  Knowledge,
  Runyard,
  step,
  Team,
  team,
  tool,
  Toolkit,
  toolkit,
} = runyard;
const { condition, foreach, loop, parallel, router, stepOutput, steps, toolResult, Workflow, workflow } =
  runyard;
const { scriptedModel } = testing;

type Given = Readonly<Record<string, unknown>>;

const done = () => 'done';
const helper = agent({ id: 'helper', model: 'offline' });
const look = tool({ name: 'look', description: 'Looks', execute: done });
const languageModel = {
  specificationVersion: 'v3',
  provider: 'p',
  modelId: 'm',
  doGenerate: done,
  doStream: done,
} as never;

const scorer = { name: 'any', score: () => ({ score: 1, passed: true }) };

const embeddingModel = { specificationVersion: 'v3', provider: 'p', modelId: 'm', doEmbed: done } as never;

const trio = team({ id: 't', model: 'offline', members: [helper] });
const flow = workflow({ id: 'w', steps: [done] });

/** Each definition function with options that it takes, to which others are added. */
const definitions: Readonly<Record<string, (given: Given) => unknown>> = {
  agent: (given) => agent({ id: 'a', model: 'offline', ...given }),
  Agent: (given) => new Agent({ id: 'a', model: 'offline', ...given }),
  agentFactory: (given) => agentFactory({ id: 'f', build: () => helper, ...given }),
  AgentFactory: (given) => new AgentFactory({ id: 'f', build: () => helper, ...given }),
  teamFactory: (given) => runyard.teamFactory({ id: 'f', build: () => trio, ...given }),
  TeamFactory: (given) => new runyard.TeamFactory({ id: 'f', build: () => trio, ...given }),
  workflowFactory: (given) => runyard.workflowFactory({ id: 'f', build: () => flow, ...given }),
  WorkflowFactory: (given) => new runyard.WorkflowFactory({ id: 'f', build: () => flow, ...given }),
  team: (given) => team({ id: 't', model: 'offline', members: [helper], ...given }),
  Team: (given) => new Team({ id: 't', model: 'offline', members: [helper], ...given }),
  remoteAgent: (given) => runyard.remoteAgent({ url: 'http://127.0.0.1', id: 'a', ...given }),
  remoteWorkflow: (given) => runyard.remoteWorkflow({ url: 'http://127.0.0.1', id: 'w', ...given }),
  a2aAgent: (given) => runyard.a2aAgent({ url: 'http://127.0.0.1', id: 'a', ...given }),
  remoteTeam: (given) => runyard.remoteTeam({ url: 'http://127.0.0.1', id: 't', ...given }),
  mcp: (given) => interfaces.mcp({ oauth: {}, ...given }),
  a2a: (given) => interfaces.a2a({ ...given }),
  openaiApi: (given) => interfaces.openaiApi({ ...given }),
  agui: (given) => interfaces.agui({ ...given }),
  aiSdk: (given) => interfaces.aiSdk({ ...given }),
  slack: (given) => interfaces.slack({ agent: 'a', ...given }),
  workflow: (given) => workflow({ id: 'w', steps: [done], ...given }),
  Workflow: (given) => new Workflow({ id: 'w', steps: [done], ...given }),
  knowledge: (given) => runyard.knowledge({ name: 'k', ...given }),
  Knowledge: (given) => new Knowledge({ name: 'k', ...given }),
  liveEval: (given) => runyard.liveEval({ agent: 'a', scorers: [scorer], ...given }),
  LiveEval: (given) => new runyard.LiveEval({ agent: 'a', scorers: [scorer], ...given }),
  schedule: (given) => runyard.schedule({ name: 's', cron: '@daily', agent: 'a', message: 'm', ...given }),
  DefinedSchedule: (given) =>
    new runyard.DefinedSchedule({ name: 's', cron: '@daily', agent: 'a', message: 'm', ...given }),
  step: (given) => step({ name: 's', run: done, ...given }),
  steps: (given) => steps({ steps: [done], ...given }),
  loop: (given) => loop({ steps: [done], ...given }),
  parallel: (given) => parallel({ steps: [done], ...given }),
  foreach: (given) => foreach(done, given),
  condition: (given) => condition({ when: true, steps: [done], ...given }),
  router: (given) => router({ choices: [done], select: 'user', ...given }),
  stepOutput: (given) => stepOutput({ content: 'x', ...given }),
  tool: (given) => tool({ name: 'look', description: 'Looks', execute: done, ...given }),
  toolkit: (given) => toolkit({ name: 'kit', tools: [look], ...given }),
  Toolkit: (given) => new Toolkit({ name: 'kit', tools: [look], ...given }),
  toolResult: (given) => toolResult('x', { media: [], ...given }),
  Runyard: (given) => new Runyard({ agents: [helper], ...given }),
  aiSdkModel: (given) => models.aiSdkModel(languageModel, given),
  anthropic: (given) => models.anthropic({ id: 'm', apiKey: 'k', ...given }),
  gemini: (given) => models.gemini({ id: 'm', apiKey: 'k', ...given }),
  openAICompatible: (given) => models.openAICompatible({ id: 'm', baseUrl: 'http://127.0.0.1/v1', ...given }),
  openAIResponses: (given) => models.openAIResponses({ id: 'm', apiKey: 'k', ...given }),
  openAIEmbedder: (given) => models.openAIEmbedder({ id: 'm', ...given }),
  geminiEmbedder: (given) => models.geminiEmbedder({ id: 'm', ...given }),
  voyageEmbedder: (given) => models.voyageEmbedder({ id: 'm', ...given }),
  cohereEmbedder: (given) => models.cohereEmbedder({ id: 'm', ...given }),
  aiSdkEmbedder: (given) => models.aiSdkEmbedder(embeddingModel, given),
  offlineEmbedder: (given) => models.offlineEmbedder(given),
  cohereReranker: (given) => models.cohereReranker({ id: 'm', ...given }),
  voyageReranker: (given) => models.voyageReranker({ id: 'm', ...given }),
  jinaReranker: (given) => models.jinaReranker({ id: 'm', ...given }),
  clock: (given) => tools.clock(given),
  fileFolder: (given) => tools.fileFolder('/', given),
  mcpTools: (given) => tools.mcpTools({ url: 'http://127.0.0.1/mcp' }, given),
  sqlQuery: (given) => tools.sqlQuery('sqlite:///nowhere.db', given),
  webFetch: (given) => tools.webFetch(given),
  moderationGuardrail: (given) => guardrails.moderationGuardrail({ model: 'offline', ...given }),
  personalDataGuardrail: (given) => guardrails.personalDataGuardrail(given),
  promptInjectionGuardrail: (given) => guardrails.promptInjectionGuardrail(given),
  s3Source: (given) => knowledge.s3Source({ id: 's', bucket: 'b', ...given }),
  gcsSource: (given) => knowledge.gcsSource({ id: 's', bucket: 'b', ...given }),
  azureBlobSource: (given) =>
    knowledge.azureBlobSource({ id: 's', storageAccount: 'a', container: 'c', sasToken: 'sig=x', ...given }),
  sharePointSource: (given) =>
    knowledge.sharePointSource({
      id: 's',
      tenantId: 't',
      clientId: 'c',
      clientSecret: 'x',
      hostname: 'contoso.sharepoint.com',
      ...given,
    }),
  gitHubSource: (given) => knowledge.gitHubSource({ id: 's', repo: 'owner/repo', ...given }),
  dataset: (given) => evals.dataset({ name: 'd', cases: [{ input: 'x' }], ...given }),
  datasetFile: (given) => evals.datasetFile('cases.json', given),
  accuracy: (given) => evals.accuracy({ agent: helper, input: 'x', expectedOutput: 'y', ...given }),
  judge: (given) => evals.judge({ agent: helper, input: 'x', criteria: 'c', ...given }),
  performance: (given) => evals.performance({ agent: helper, input: 'x', ...given }),
  reliability: (given) => evals.reliability({ agent: helper, input: 'x', expectedToolCalls: [], ...given }),
  evaluate: (given) =>
    evals.evaluate({ name: 'e', agent: helper, cases: [{ input: 'x' }], scorers: [scorer], ...given }),
  accuracyScorer: (given) => evals.accuracyScorer(given),
  judgeScorer: (given) => evals.judgeScorer({ criteria: 'c', ...given }),
  reliabilityScorer: (given) => evals.reliabilityScorer(given),
  compareResults: (given) => evals.compareResults({ results: [] }, { results: [] }, given),
  exact: (given) => evals.exact(given),
  contains: (given) => evals.contains(given),
  regex: (given) => evals.regex({ pattern: 'x', ...given }),
  jsonSchema: (given) => evals.jsonSchema({ schema: { type: 'object' }, ...given }),
  similarity: (given) => evals.similarity({ embedder: 'offline', ...given }),
  maxCost: (given) => evals.maxCost({ usd: 1, ...given }),
  maxLatency: (given) => evals.maxLatency({ ms: 1, ...given }),
  maxTokens: (given) => evals.maxTokens({ tokens: 1, ...given }),
  scorer: (given) => evals.scorer({ name: 's', score: () => 1, ...given }),
  scriptedModel: (given) => scriptedModel(['x'], given),
};

/** Exported functions that have no options to refuse. */
const withoutOptions: Readonly<Record<string, string>> = {
  askUser: 'takes nothing',
  getUserInput: 'takes nothing',
  calculator: 'takes nothing',
  reasoningTools: 'takes nothing',
  offlineModel: 'takes nothing',
  webSocket: 'takes nothing',
  resolveEmbedder: 'takes a name',
  sentenceEmbedder: 'takes nothing',
  resolveReranker: 'takes a name',
  toolCallsOf: 'takes a list of tools',
  AnswerRejected: 'an error of the framework: a step function catches it',
  Eval: 'made by accuracy(), judge(), performance(), reliability() and evaluate()',
  costOf: 'computes; the prices of a service are checked where it is made',
  FactoryRefusal: 'an error: one that cannot be thrown would refuse nobody',
  GuardrailRefusal: 'an error: one that cannot be thrown would refuse nobody',
  ContentUnreadable: 'an error: one that cannot be thrown would hide the failure',
  ModelError: 'an error: one that cannot be thrown would hide the failure',
  RunOutputError: 'an error: one that cannot be thrown would hide the failure',
  RunyardError: 'an error: one that cannot be thrown would hide the failure',
  ToolRefused: 'an error: one that cannot be thrown would refuse nobody',
};

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, unknown>>;
};

test('every entry point of the package is looked at', () => {
  const published = Object.keys(manifest.exports).filter((path) => !path.endsWith('.json'));
  expect(Object.keys(entryPoints).sort()).toEqual(published.sort());
});

const exported = Object.values(entryPoints)
  .flatMap((entryPoint) => Object.entries(entryPoint))
  .filter(([, value]) => typeof value === 'function')
  .map(([name]) => name);

test.each(exported)('%s refuses an option that does not exist', (name) => {
  if (Object.hasOwn(withoutOptions, name)) return;
  const define = definitions[name];
  if (define === undefined) throw new Error(`Add ${name} to the definitions of this test.`);
  expect(() => define({})).not.toThrow();
  expect(() => define({ frobnicate: 1 })).toThrow(/frobnicate.* is not an? (option|setting)/);
  expect(() => define(JSON.parse('{"constructor": 1}'))).toThrow(/constructor.* is not an? (option|setting)/);
  // what is undefined counts as absent
  expect(() => define({ frobnicate: undefined })).not.toThrow();
  expect(() => define({ [Symbol('mine')]: 1 })).not.toThrow();
});

/** The first argument in place of an object of options. */
const constructors: Readonly<Record<string, (options: never) => unknown>> = {
  agent,
  agentFactory,
  teamFactory: runyard.teamFactory,
  workflowFactory: runyard.workflowFactory,
  team,
  workflow,
  step,
  loop,
  condition,
  router,
  tool,
  toolkit,
  stepOutput,
  Runyard: (options) => new Runyard(options),
};

test.each(Object.entries(constructors))('%s refuses a value that is no object of options', (_, define) => {
  for (const options of [undefined, null, 'options', 5, new Map(), Promise.resolve({})])
    expect(() => define(options as never)).toThrow(/takes an object of options, not/);
});

describe('the message names the option and what to give', () => {
  const run = done;
  test.each<[string, () => unknown, string]>([
    [
      'a misspelt gate',
      () => tool({ name: 'refund', description: 'x', execute: done, ...{ requireConfirmation: true } }),
      "Tool 'refund': requireConfirmation is not an option. Did you mean requiresConfirmation?",
    ],
    [
      'an agent with an empty model',
      () => agent({ name: 'Bank', model: '' }),
      "Agent 'Bank': model is ''. Give a model, or the name of one such as 'offline'",
    ],
    [
      'a model object without a provider',
      () => agent({ name: 'Bank', model: { ...scriptedModel(() => 'x'), provider: undefined } as never }),
      "Agent 'Bank': model.provider is undefined. Give a text that says who serves the model, such as 'OpenAI'.",
    ],
    [
      'a model object without the name of its adapter',
      () => agent({ name: 'Bank', model: { ...scriptedModel(() => 'x'), name: undefined } as never }),
      "Agent 'Bank': model.name is undefined. Give a text that names the adapter, such as 'OpenAICompatible'.",
    ],
    [
      'a model object that does not say what it can do',
      () => definitions.team!({ model: { ...scriptedModel(() => 'x'), capabilities: undefined } }),
      'model.capabilities is undefined. Give an object that says what the model can do.',
    ],
    [
      'a model of the AI SDK without its id',
      () => definitions.agent!({ model: Object.assign({}, languageModel, { modelId: undefined }) }),
      'model.modelId is undefined. Give a text that names the model',
    ],
    [
      'a model of the AI SDK with a provider that is no text',
      () => definitions.team!({ fallbackModels: [Object.assign({}, languageModel, { provider: {} })] }),
      'fallbackModels[0].provider is an object. Give a text',
    ],
    [
      'a back-off of NaN',
      () => definitions.tool!({ backoff: { delayMs: Number.NaN } }),
      'backoff.delayMs is NaN',
    ],
    ['a negative back-off', () => definitions.tool!({ backoff: { delayMs: -1 } }), 'backoff.delayMs is -1'],
    [
      'half a retry',
      () => definitions.tool!({ retries: 0.5 }),
      'retries is 0.5. Give a whole number, 0 or more.',
    ],
    ['endless time', () => definitions.tool!({ timeoutMs: Infinity }), 'timeoutMs is Infinity'],
    [
      'a shrinking factor',
      () => definitions.tool!({ backoff: { delayMs: 1, factor: 0 } }),
      'backoff.factor is 0',
    ],
    ['a cache of words', () => definitions.tool!({ cacheResults: { ttlms: 5 } }), 'Did you mean ttlMs?'],
    [
      'a gate in words',
      () => definitions.tool!({ requiresConfirmation: 'yes' }),
      "requiresConfirmation is 'yes'",
    ],
    [
      'an unknown approval',
      () => definitions.tool!({ approval: 'need' }),
      "approval is 'need'. Give 'required' or 'audit'",
    ],
    [
      'an option of another framework',
      () => definitions.agent!({ stopWhen: done }),
      'stopWhen is not an option. Runyard calls it limits.',
    ],
    [
      'an option of another framework that a tool does not have',
      () => tool({ name: 'refund', description: 'x', execute: done, ...{ stopWhen: done } }),
      "Tool 'refund': stopWhen is not an option.",
    ],
    ['no retries', () => definitions.agent!({ retries: null }), 'retries is null'],
    ['a misspelt model', () => definitions.agent!({ model: 'ofline' }), 'Did you mean offline?'],
    [
      'a misspelt provider',
      () => definitions.agent!({ model: 'antropic:claude-opus-5-5' }),
      'Did you mean anthropic:claude-opus-5-5?',
    ],
    ['a model without its provider', () => definitions.agent!({ model: 'gpt-5-mini' }), 'names no provider'],
    ['a provider without a model', () => definitions.team!({ model: 'openai:' }), 'Write openai:<model>.'],
    [
      'an unknown limit',
      () => definitions.agent!({ limits: { turn: 3 } }),
      'limits.turn is not an option. Did you mean turns?',
    ],
    ['a fraction of a run', () => definitions.agent!({ numHistoryRuns: 1.5 }), 'numHistoryRuns is 1.5'],
    [
      'a tool of no kind',
      () => definitions.agent!({ tools: [{ name: 'x', execute: done }] }),
      'tools[0] is an object',
    ],
    [
      'a required check that is misspelt',
      () => definitions.agent!({ preHooks: [{ name: 'check', requird: true, run }] }),
      'preHooks[0].requird is not an option. Did you mean required?',
    ],
    [
      'a learning of no kind',
      () => definitions.agent!({ learning: { decision: true } }),
      'learning.decision is not an option. Did you mean decisions?',
    ],
    [
      'a zod 3 schema',
      () => definitions.agent!({ outputSchema: { _def: {} } }),
      'Give a zod 4 schema or a JSON schema',
    ],
    [
      'an unknown choice',
      () => definitions.agent!({ toolChoice: { nmae: 'x' } }),
      'toolChoice.nmae is not an option',
    ],
    ['a member of no kind', () => definitions.team!({ members: [{}] }), 'members[0] is an object'],
    [
      'a misspelt review',
      () => definitions.step!({ review: { requireConfirmation: true } }),
      'review.requireConfirmation is not an option. Did you mean requiresConfirmation?',
    ],
    [
      'an unknown policy',
      () => definitions.step!({ onError: 'ignore' }),
      "onError is 'ignore'. Give 'fail', 'skip' or 'pause'",
    ],
    [
      'a step that waits NaN',
      () => definitions.step!({ backoff: { delayMs: Number.NaN } }),
      'backoff.delayMs is NaN',
    ],
    ['a success in words', () => definitions.stepOutput!({ success: 'no' }), "success is 'no'"],
    [
      'a misspelt setting',
      () => definitions.Runyard!({ authorisation: true }),
      'Did you mean "authorization"?',
    ],
    ['a misspelt list', () => definitions.Runyard!({ agent: [] }), 'Did you mean "agents"?'],
    [
      'a negative price',
      () => definitions.Runyard!({ prices: { 'x:y': { input: -1, output: 1 } } }),
      'prices.x:y.input is -1',
    ],
    [
      'a misspelt chunker',
      () => definitions.knowledge!({ chunker: 'SentenceChunkr' }),
      "Knowledge 'k': chunker is 'SentenceChunkr', which names no chunker. Did you mean SentenceChunker?",
    ],
    [
      'a chunk that repeats more than it has',
      () => definitions.knowledge!({ chunker: { key: 'FixedSizeChunker', chunkSize: 4, chunkOverlap: 4 } }),
      'chunker: chunkOverlap must be less than chunkSize.',
    ],
    [
      'half a chunker',
      () => definitions.knowledge!({ chunker: { key: 'own', chunk: done } }),
      'chunker is an object. Give a chunker with key, name, description, defaults and chunk.',
    ],
    [
      'a reader with an unknown chunker',
      () =>
        definitions.knowledge!({
          readers: [
            {
              id: 'r',
              name: 'R',
              description: '',
              types: [],
              chunkers: [],
              read: done,
              defaultChunker: 'Row',
            },
          ],
        }),
      "defaultChunker of the reader 'r' is 'Row', which names no chunker.",
    ],
    [
      'a misspelt embedder',
      () => definitions.knowledge!({ embedder: 'opnai:text-embedding-3-small' }),
      'Did you mean openai:text-embedding-3-small?',
    ],
    [
      'a reranker without a provider',
      () => definitions.knowledge!({ reranker: 'rerank-v3.5' }),
      'names no provider. Write <provider>:<model>. The providers are voyage, cohere, jina',
    ],
    [
      'a content of no kind',
      () => definitions.knowledge!({ contents: [{ from: { txt: 'a' } }] }),
      'contents[0].from.txt is not an option. Did you mean text?',
    ],
    [
      'a content with two origins',
      () => definitions.knowledge!({ contents: [{ from: { text: 'a', url: 'http://b' } }] }),
      'contents[0].from has text and url. Give one of { text }, { path }',
    ],
    [
      'a content of another scheme',
      () => definitions.knowledge!({ contents: [{ from: { url: ['http://a', 'ftp://b'] } }] }),
      "contents[0].from.url[1] is 'ftp://b'. Give an address that begins with http:// or https://.",
    ],
    [
      'a content of an unknown source',
      () => definitions.knowledge!({ contents: [{ from: { source: 's', path: 'a' } }] }),
      "contents[0].from.source is 's'. Its sources are: none.",
    ],
    [
      'metadata in words',
      () => definitions.knowledge!({ contents: [{ from: { text: 'a' }, metadata: 'en' }] }),
      "contents[0].metadata is 'en'. Give an object.",
    ],
    ['a log of no kind', () => definitions.Runyard!({ log: console.log }), 'log is a function'],
    ['an answer of a script', () => scriptedModel([{ txt: 'hi' } as never]), 'Did you mean text?'],
    [
      'a server of no kind',
      () => tools.mcpTools({ comand: 'npx' } as never),
      'comand is not an option. Did you mean command?',
    ],
    ['negative tokens', () => definitions.anthropic!({ maxTokens: -1 }), 'maxTokens is -1'],
    [
      'a key that is a number',
      () => definitions.gemini!({ apiKey: 123 }),
      'apiKey is a number. Give a text.',
    ],
  ])('%s', (_, define, message) => {
    expect(define).toThrow(message);
  });
});

test('inherited options count as well', () => {
  const shared = Object.create({
    name: 'refund',
    description: 'x',
    execute: done,
    requireConfirmation: true,
  });
  expect(() => tool(shared)).toThrow('Did you mean requiresConfirmation?');
});

describe('options that are an instance of a class', () => {
  class Refund {
    readonly name = 'refund';
    readonly description = 'x';
    readonly #desk = 'desk 7';
    get requiresConfirmation() {
      return true;
    }
    execute() {
      return this.#desk;
    }
    /** Of its own. */
    audit() {}
  }

  test('may compute an option and have methods of their own', () => {
    expect(tool(new Refund()).gate.requiresConfirmation).toBe(true);
  });

  test('keep their gate and their work under another name', async () => {
    const { tools: inside } = collectFixedTools('x', [
      toolkit({ name: 'kit', prefix: 'bank_', tools: [tool(new Refund())] }),
    ]);
    const renamed = inside.get('bank_refund')!;
    expect(renamed.gate.requiresConfirmation).toBe(true);
    const call = { argumentsFor: () => ({}) } as unknown as ClearedCall;
    expect(await renamed.run(call, {} as ToolContext)).toBe('desk 7');
  });

  test('are refused for a getter that is misspelt', () => {
    class Misspelt extends Refund {
      get requireConfirmation() {
        return true;
      }
    }
    expect(() => tool(new Misspelt())).toThrow('Did you mean requiresConfirmation?');
    const hidden = { value: true, enumerable: false };
    const options = { name: 'refund', description: 'x', execute: done };
    expect(() => tool(Object.defineProperty(options, 'requireConfirmation', hidden))).toThrow(
      'Did you mean requiresConfirmation?',
    );
  });

  test('configure a service', () => {
    class Given {
      get authorization() {
        return true;
      }
      get agents() {
        return [agent({ id: 'a', model: 'offline' })];
      }
    }
    for (const given of [new Given(), Object.create(new Given())])
      expect(new Runyard(given).settings.authorization).toBe(true);
    class Misspelt {
      get authorisation() {
        return true;
      }
    }
    expect(() => new Runyard(new Misspelt() as never)).toThrow('Did you mean "authorization"?');
  });
});

test('a tool keeps its gate under another name when its options are changed afterwards', () => {
  const options = { name: 'refund', description: 'x', execute: done, requiresConfirmation: true };
  const made = tool(options);
  options.requiresConfirmation = false;
  expect(made.named('bank_refund').gate.requiresConfirmation).toBe(true);
});

describe('a schema that would let every value through is refused', () => {
  const standard = { '~standard': { version: 1, vendor: 'other', validate: done } };
  test.each<[string, unknown, string]>([
    [
      'of another library',
      { kind: 'schema', type: 'object', ...standard },
      'of another library. Give a zod 4',
    ],
    ['that is a list of zod schemas by name', { city: z.string() }, 'such as z.object({ … })'],
    ['with a zod schema inside', { type: 'object', properties: { city: z.string() } }, 'such as z.object'],
  ])('%s', (_, schema, message) => {
    expect(() => definitions.tool!({ inputSchema: schema })).toThrow(message);
    expect(() => definitions.agent!({ outputSchema: schema })).toThrow(message);
  });

  test('and one that describes properties of such names is not', () => {
    const properties = {
      _zod: { type: 'string' },
      '~standard': { type: 'string' },
      _def: { type: 'string' },
    };
    expect(() => definitions.tool!({ inputSchema: { type: 'object', properties } })).not.toThrow();
  });
});

describe('a changed copy of a step', () => {
  const made = step({ name: 'pay', run: done });
  test('is refused for options that do not exist', () => {
    const review = { requireConfirmation: true } as never;
    expect(() => workflow({ id: 'w', steps: [{ ...made, review }] })).toThrow(
      "Workflow 'w': steps[0].review.requireConfirmation is not an option. Did you mean requiresConfirmation?",
    );
    expect(() => parallel([{ ...made, ...{ onEror: 'skip' } }])).toThrow('Did you mean onError?');
    expect(() => workflow({ id: 'w', steps: [{ type: 'Step', name: 'x', run: done } as never] })).toThrow(
      'steps[0].run is a function. Give the run of a step that step() made',
    );
  });

  test('is a step', () => {
    const groups = [
      loop({ steps: [done], until: 'current_iteration > 1' }),
      parallel([done]),
      condition({ when: 'input != ""', steps: [done] }),
      router({ choices: [done], select: 'user' }),
      steps([{ ...made, onError: 'skip' }]),
    ];
    const copies = groups.map((node, number) => ({ ...node, name: `copy ${number}` }));
    expect(() => workflow({ id: 'w', steps: [...groups, ...copies] })).not.toThrow();
  });
});

test('a misspelt name in a toolkit of toolkits is refused', () => {
  const inner = toolkit({ name: 'inner', prefix: 'a_', tools: [look] });
  expect(() => toolkit({ name: 'kit', tools: [inner], exclude: ['look'] })).toThrow(
    "Toolkit 'kit' has no tool 'look'. It has: a_look.",
  );
  expect(() => toolkit({ name: 'kit', tools: [inner], exclude: ['a_look'] })).not.toThrow();
});

test('a step without a name is named after what it runs', () => {
  expect(() => step({ run: done, ...{ maxRetrys: 1 } })).toThrow("Step 'done': maxRetrys is not an option.");
});

test('a hook that is an instance of a class may have fields of its own', () => {
  class Check {
    readonly name = 'check';
    readonly required = true;
    readonly threshold = 3;
    run = async () => undefined;
  }
  expect(() => agent({ id: 'a', model: 'offline', preHooks: [new Check()] })).not.toThrow();
});

test('all faults are named at once', () => {
  const define = () => agent({ id: 'a', model: 'offline', ...{ modle: 'x', retries: -1 } });
  expect(define).toThrow(/modle is not an option[\s\S]*retries is -1/);
});

describe('runs in code', () => {
  const flow = workflow({ id: 'w', steps: [done] });
  const desk = team({ id: 't', model: scriptedModel(() => 'x'), members: [helper] });
  const wrong = { sesionId: 'x' } as never;

  // they take different options; what is given here fits none of them
  test.each([
    ['agent', helper],
    ['team', desk],
    ['workflow', flow],
  ] as unknown as [string, runyard.Workflow][])(
    'of a %s refuse options that do not exist',
    async (kind, component) => {
      const message = `${kind}.run(): sesionId is not an option. Did you mean sessionId?`;
      await expect(component.run('hi', wrong)).rejects.toThrow(message);
      await expect(component.stream('hi', wrong).next()).rejects.toThrow(`${kind}.stream(): sesionId`);
      await expect(component.continue('x', { anwsers: {} } as never)).rejects.toThrow(
        'Did you mean answers?',
      );
      await expect(component.run(undefined as never)).rejects.toThrow(
        'the input is undefined. Give a text or an object',
      );
      expect(await component.run('hi', { userId: undefined } as never)).toMatchObject({
        status: 'completed',
      });
    },
  );

  test('of a workflow take no options of agents', async () => {
    const options = { outputSchema: z.object({}) } as never;
    await expect(flow.run('hi', options)).rejects.toThrow('outputSchema is not an option');
  });
});

test('the methods of a service refuse options that do not exist', async () => {
  const service = new Runyard({ agents: [helper] });
  expect(() => service.configure({ evn: {} } as never)).toThrow('Did you mean env?');
  await expect(service.listen({ ownProcess: true } as never)).rejects.toThrow('Did you mean ownsProcess?');
  expect(() => service.handler({ basepath: '/x' } as never)).toThrow('Did you mean basePath?');
  await expect(service.migrate({ too: 1 } as never)).rejects.toThrow('too is not an option');
  expect(() => service.replay({ run: [] } as never)).toThrow('Did you mean runs?');
  expect(() => service.close({ graceMs: Number.NaN })).toThrow('graceMs is NaN');
  await expect(service.toConfig(look as never)).rejects.toThrow('the component is an object. Give an agent');
});

test('what a service registers for configurations is checked', async () => {
  const registry = (given: Given) => () => new Runyard({ registry: given });
  expect(registry({ tool: [] })).toThrow('registry.tool is not an option. Did you mean tools?');
  expect(registry({ functions: { done: 'done' } })).toThrow("registry.functions.done is 'done'");
  expect(
    registry({
      hooks: [
        (
          () => () =>
            undefined
        )(),
      ],
    }),
  ).toThrow(
    'registry.hooks[0] is a function. Give a function with a name, { name, run } or { name, before, after }.',
  );
  const service = new Runyard({ agents: [helper], registry: { tools: [look], functions: { done } } });
  await expect(service.toConfig(helper)).resolves.toEqual({ model: 'offline' });
  expect(registry({ tools: [toolkit({ name: 'kit', tools: [look, look] })] })).toThrow(
    "The registry has two tools named 'look'",
  );
  // a configuration may use it: the service has to know where its contents are
  const base = new Knowledge({ name: 'base' });
  expect(new Runyard({ registry: { knowledge: [base] } }).knowledge).toEqual([base]);
});
