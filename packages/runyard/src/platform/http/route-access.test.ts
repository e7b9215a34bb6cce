import { describe, expect, it } from 'vitest';
import { startServer } from '../../../test/support/clients/http-server.js';
import type { Route } from './route.js';

/** A route as it may come from where no types are checked. */
function routeWith(access: object): Route<unknown> {
  return {
    ...{ method: 'GET', path: '/thing', operationId: 'get_thing', tag: 'Things', summary: 'A thing' },
    ...{ responses: { 200: { contentType: 'application/json' } }, handler: () => ({}) },
    ...access,
  } as unknown as Route<unknown>;
}

describe('a route that does not say who may call it', () => {
  it.each([
    ['says nothing', {}],
    ['says undefined', { scope: undefined }],
    ['is not public', { public: false }],
    ['has an empty scope', { scope: '' }],
    ['has a scope without an action', { scope: 'things' }],
    ['has a scope with an empty part', { scope: 'things:' }],
    ['names an instance itself', { scope: 'agents:writer:run' }],
    ['has a list without a scope', { scope: [] }],
    ['has a list with something else', { scope: ['things:read', 'things'] }],
    ['is public and asks for a scope', { scope: 'things:read', public: true }],
  ])('does not start when it %s', async (_what, access) => {
    await expect(startServer([routeWith(access)])).rejects.toThrow(
      'The route GET /thing does not say who may call it',
    );
  });

  it.each([
    ['a scope', { scope: 'things:read' }],
    ['several of which one suffices', { scope: ['things:read', 'things:run'] }],
    ['any identity', { scope: null }],
    ['everybody', { public: true }],
  ])('starts once it is decided: %s', async (_what, access) => {
    const { url } = await startServer([routeWith(access)]);
    expect((await fetch(`${url}/thing`)).status).toBe(200);
  });
});
