import { expect, test } from 'vitest';
import { Places } from './place.js';

const reached = (host: string | undefined, basePath = '') => ({ headers: { host }, basePath });

test('a given address counts, whatever a request says', () => {
  const places = new Places('https://Example.com/agents/', '/mcp');
  for (const request of [reached('localhost:1'), reached('evil.example'), reached(undefined, '/other')])
    expect(places.of(request)).toEqual({
      base: 'https://example.com/agents',
      issuer: 'https://example.com/agents/',
      resource: 'https://example.com/agents/mcp',
      resourceMetadata: 'https://example.com/agents/.well-known/oauth-protected-resource/mcp',
      tokenEndpoint: 'https://example.com/agents/token',
      consentPath: '/agents/mcp-auth/consent',
      isSecure: true,
    });
});

test('without one, a request counts that names the own machine', () => {
  const places = new Places(undefined, '/mcp');
  expect(places.of(reached('LOCALHOST:7777', '/api')).resource).toBe('http://localhost:7777/api/mcp');
  expect(places.of(reached('[::1]:7777')).issuer).toBe('http://[::1]:7777/');
  for (const host of ['evil.example', 'localhost.evil.example', 'localhost@evil.example', 'localhost"x', ''])
    expect(() => places.of(reached(host)), host).toThrow(/publicUrl/);
  expect(() => places.of(reached(undefined))).toThrow(/publicUrl/);
});

test.each([
  'http://agents.example',
  'https://user:password@agents.example',
  'https://agents.example/?x=1',
  'https://agents.example/#x',
  'ftp://agents.example',
  'agents.example',
])('%s cannot be the address', (url) => {
  expect(() => new Places(url, '/mcp')).toThrow(/publicUrl/);
});

test('what is known without a request is said', () => {
  const places = new Places(undefined, '/mcp');
  expect(places.usual({ host: '127.0.0.1', port: 7777 })?.resource).toBe('http://127.0.0.1:7777/mcp');
  expect(places.usual({ host: '::1', port: 7777 })?.resource).toBe('http://[::1]:7777/mcp');
  expect(places.usual({ host: '127.0.0.1', port: 0 })).toBeUndefined();
});
