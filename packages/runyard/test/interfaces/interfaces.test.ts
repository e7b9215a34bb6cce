import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { Runyard } from '../../src/index.js';
import { signedWithSecret } from '../support/clients/issuer.js';
import { adminScope, everydayScopes } from '../support/clients/tokens.js';
import { preparedSqlite } from '../support/databases.js';
import type { Body } from '../support/service.js';
import { essentials, type Scenario, type Stage, scenarios, traces } from './scenarios.js';
import type { Client, Person, Way } from './way.js';
import { a2aWays } from './ways/a2a.js';
import { agentosA2a } from './ways/a2a-agentos.js';
import { agui } from './ways/agui.js';
import { aiSdkWay } from './ways/ai-sdk.js';
import { mcp } from './ways/mcp.js';
import { openaiChat } from './ways/openai.js';
import { openaiResponses } from './ways/openai-responses.js';
import { rest } from './ways/rest.js';
import { slackDouble, slackInterfaces, slackWay } from './ways/slack.js';
import { sse } from './ways/sse.js';
import { webSocket } from './ways/websocket.js';
import { yard } from './yard.js';

/*
 * The same scenarios over every way into a service. What a client learns is checked in the scenario; what is stored is
 * compared with what the same scenario stores over REST.
 */
const ways: readonly Way[] = [
  rest,
  sse,
  webSocket,
  mcp,
  ...a2aWays,
  agentosA2a,
  openaiChat,
  openaiResponses,
  agui,
  aiSdkWay,
  slackWay,
];

const secret = 'a secret that the scenarios alone know of';
const dataDir = mkdtempSync(join(tmpdir(), 'runyard-interfaces-'));
const app = new Runyard({
  port: 0,
  dataDir,
  log: silentLog,
  authorization: true,
  jwtKeys: [secret],
  ...yard,
  interfaces: slackInterfaces,
});

let ada: Person;
let eve: Person;
let admin: Person;
beforeAll(async () => {
  writeFileSync(join(dataDir, 'runyard.db'), await preparedSqlite());
  const { url } = await app.listen();
  const person = async (sub: string, scopes: readonly string[]): Promise<Person> => {
    const token = await signedWithSecret(secret, { sub, scopes: [...scopes] });
    return { id: sub, url, headers: { authorization: `Bearer ${token}` } };
  };
  ada = await person('ada', everydayScopes);
  eve = await person('eve', everydayScopes);
  admin = await person('root', [adminScope]);
});
afterAll(async () => {
  await app.close({ graceMs: 0 });
  await slackDouble.close();
  expect(slackDouble.violations).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});

const overRest = new Map<Scenario, Promise<Body>>();

describe.each(ways.map((way) => [way.name, way] as const))('over %s', (_name, way) => {
  const clients: Client[] = [];
  let stage: Stage;
  let overRestStage: Stage;
  beforeAll(async () => {
    const [client, stranger] = await Promise.all([way.open(ada), way.open(eve)]);
    clients.push(client, stranger);
    const common = { rest: await rest.open(ada), lookers: { owner: ada, admin } };
    stage = { ...common, client, stranger, news: way.news };
    overRestStage = { ...common, client: common.rest, stranger: await rest.open(eve), news: rest.news };
  });
  afterAll(async () => {
    for (const client of clients) await client.close?.();
  });

  const played = Object.entries(scenarios).filter(
    ([title]) => (!way.isVariant || essentials.has(title)) && way.leavesOut?.[title] === undefined,
  );
  test.each(played)('%s', async (_title, scenario) => {
    const left = await traces(scenario, stage);
    if (way === rest) overRest.set(scenario, Promise.resolve(left));
    const wanted = overRest.get(scenario) ?? traces(scenario, overRestStage);
    overRest.set(scenario, wanted);
    const { common = (all) => all } = way;
    expect(common(left)).toEqual(common(await wanted));
  });
});
