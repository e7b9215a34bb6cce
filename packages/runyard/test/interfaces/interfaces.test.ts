import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gatehouse, type Holder } from '../support/clients/tokens.js';
import type { Body } from '../support/service.js';
import { essentials, type Scenario, type Stage, scenarios, traces } from './scenarios.js';
import type { Client, Way } from './way.js';
import { a2aWays } from './ways/a2a.js';
import { agentosA2a } from './ways/a2a-agentos.js';
import { rest } from './ways/rest.js';
import { sse } from './ways/sse.js';
import { webSocket } from './ways/websocket.js';
import { yard } from './yard.js';

/*
 * The same scenarios over every way into a service. What a client learns is checked in the scenario; what is stored is
 * compared with what the same scenario stores over REST.
 */
const ways: readonly Way[] = [rest, sse, webSocket, ...a2aWays, agentosA2a];

let house: Gatehouse;
let ada: Holder;
let eve: Holder;
let admin: Holder;
beforeAll(async () => {
  house = await Gatehouse.shared(yard);
  [ada, eve, admin] = await Promise.all([house.person('ada'), house.person('eve'), house.admin()]);
});
afterAll(() => house.service.stop());

const overRest = new Map<Scenario, Promise<Body>>();

describe.each(ways.map((way) => [way.name, way] as const))('over %s', (_name, way) => {
  const clients: Client[] = [];
  let stage: Stage;
  beforeAll(async () => {
    const opened = (holder: Holder, by = way) => by.open(house.service, holder);
    const [client, stranger, plain] = await Promise.all([opened(ada), opened(eve), opened(ada, rest)]);
    clients.push(client, stranger);
    const lookers = { owner: ada, admin };
    stage = { client, stranger, rest: plain, news: way.news, lookers };
  });
  afterAll(async () => {
    for (const client of clients) await client.close?.();
  });

  const played = Object.entries(scenarios).filter(([title]) => !way.isVariant || essentials.has(title));
  test.each(played)('%s', async (_title, scenario) => {
    const left = await traces(scenario, stage);
    const plain = {
      ...stage,
      client: stage.rest,
      stranger: await rest.open(house.service, eve),
      news: rest.news,
    };
    const wanted = overRest.get(scenario) ?? (way === rest ? left : traces(scenario, plain));
    overRest.set(scenario, Promise.resolve(wanted));
    expect(left).toEqual(await wanted);
  });
});
