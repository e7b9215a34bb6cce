import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Services } from '../../../capabilities/capability.js';
import type { RunKind } from '../../../core/runs/run.js';
import { lazyObject } from '../../../core/schemas/lazy-schema.js';
import { asset, reply } from '../../../platform/http/response/results.js';
import { defineRoute, type Route, type RouteAccess } from '../../../platform/http/route.js';
import type { ComponentName } from '../../common/exposed-components.js';
import type { A2aConfig } from '../options.js';
import type { Cards, WantedCard } from './cards.js';

const kinds = ['agent', 'team', 'workflow'] as const;

/** How long a client may use a card without asking again. */
const maxAgeSeconds = 60;

const wellKnown = '/.well-known/agent-card.json';

const cardBody = z.looseObject({ name: z.string(), description: z.string(), version: z.string() });
const responses = {
  200: {
    description: 'The card. Its form depends on the header `A2A-Version`.',
    schema: cardBody,
    headers: { etag: 'Identifies what the card says.' },
  },
  304: { description: 'The client has this card already.' },
} as const;

const keySet = lazyObject(() => ({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) }));

/** The routes of cards and of the keys that verify them. */
export function cardRoutes(config: A2aConfig, cards: Cards): readonly Route<Services>[] {
  const { prefix, defaultComponent } = config;
  const name = prefix.slice(1).replaceAll(/\W/g, '_');
  return [
    ...kinds.map((kind) => componentCard(config, cards, kind, name)),
    ...(defaultComponent === undefined ? [] : [rootCard(config, cards, defaultComponent)]),
    defineRoute({
      method: 'GET',
      path: `${prefix}/.well-known/jwks.json`,
      operationId: `get_${name}_keys`,
      public: true,
      addition: true,
      tag: 'A2A',
      summary: 'Get the keys that verify cards and push notifications',
      responses: { 200: keySet },
      handler: async (services: Services) =>
        reply(
          200,
          { keys: await cards.publicKeys(services) },
          { 'cache-control': `public, max-age=${maxAgeSeconds}` },
        ),
    }),
  ];
}

function componentCard(config: A2aConfig, cards: Cards, kind: RunKind, name: string): Route<Services> {
  const parameter = `${kind}_id`;
  return defineRoute({
    method: 'GET',
    path: `${config.prefix}/${kind}s/:${parameter}${wellKnown}`,
    operationId: `get_${name}_${kind}_card`,
    ...access(config, kind),
    addition: true,
    tag: 'A2A',
    summary: `Get the A2A card of ${kind === 'agent' ? 'an' : 'a'} ${kind}`,
    params: z.object({ [parameter]: z.string() }),
    responses,
    handler: (services: Services, { params, caller, calledAddress, headers }) =>
      answer(config, cards, services, headers, {
        target: { kind, componentId: String(params[parameter]) },
        caller,
        calledAddress,
      }),
  });
}

/** Clients that know only the host look here. */
function rootCard(config: A2aConfig, cards: Cards, target: ComponentName): Route<Services> {
  return defineRoute({
    method: 'GET',
    path: wellKnown,
    operationId: 'get_agent_card',
    ...access(config, target.kind),
    addition: true,
    tag: 'A2A',
    summary: 'Get the A2A card of the default component',
    responses,
    // the path does not name the component whose scope is needed
    admit: (_services, request, usual) =>
      usual({ ...request, params: { [`${target.kind}_id`]: target.componentId } }),
    handler: (services: Services, { caller, calledAddress, headers }) =>
      answer(config, cards, services, headers, { target, caller, calledAddress }),
  });
}

function access({ publicCards }: A2aConfig, kind: RunKind): RouteAccess {
  return publicCards ? { public: true } : { scope: `${kind}s:read` };
}

async function answer(
  config: A2aConfig,
  cards: Cards,
  services: Services,
  headers: IncomingHttpHeaders,
  wanted: Omit<WantedCard, 'version'>,
) {
  const version = config.pureCards || speaksV1(headers) ? '1.0' : '0.3';
  const { card, tag } = await cards.make(services, { ...wanted, version });
  const caching = {
    etag: tag,
    'cache-control': `${config.publicCards ? 'public' : 'private'}, max-age=${maxAgeSeconds}`,
    vary: 'a2a-version',
  };
  if (isKnown(tag, headers['if-none-match'])) return reply(304, undefined, caching);
  return asset(JSON.stringify(card), 'application/json', caching);
}

/** A client that names no version speaks 0.3. */
function speaksV1({ 'a2a-version': given }: IncomingHttpHeaders): boolean {
  const version = /^(\d+)\./.exec(typeof given === 'string' ? given.trim() : '');
  return version !== null && Number(version[1]) >= 1;
}

function isKnown(tag: string, known: string | undefined): boolean {
  if (known === undefined) return false;
  const plain = tag.replace(/^W\//, '');
  return known.split(',').some((one) => ['*', plain].includes(one.trim().replace(/^W\//, '')));
}
