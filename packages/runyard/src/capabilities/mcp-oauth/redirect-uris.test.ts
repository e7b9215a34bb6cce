import { expect, test } from 'vitest';
import { isLocal, isRegistered, redirectFault, withAnswer } from './redirect-uris.js';

test.each([
  'https://app.example/callback?tab=1',
  'http://localhost/callback',
  'http://127.0.0.1:8123/callback',
  'http://[::1]:8123/',
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'com.example.app:/callback',
])('%s may be registered', (uri) => {
  expect(redirectFault(uri)).toBeUndefined();
});

test.each([
  'http://app.example/callback',
  'http://localhost.evil.example/',
  'http://127.0.0.1@evil.example/',
  'http://localhost:1@evil.example/',
  'https://user:password@app.example/',
  'https://app.example/#fragment',
  'https://app.example/#',
  'https://app.example\\@evil.example/',
  'https://app.example/\r\nset-cookie: a=b',
  'https://app.example/ x',
  'https://äpp.example/',
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'not a url',
  '/callback',
  '',
])('%s may not be registered', (uri) => {
  expect(redirectFault(uri)).toBeDefined();
});

test('the length of an address is bounded', () => {
  expect(redirectFault(`https://app.example/${'x'.repeat(2000)}`)).toContain('2000 characters');
});

test('an address is compared to the letter, but for the port of a loopback address', () => {
  const registered = ['https://app.example/callback', 'http://127.0.0.1/callback?a=1'];
  expect(isRegistered('https://app.example/callback', registered)).toBe(true);
  expect(isRegistered('http://127.0.0.1:5000/callback?a=1', registered)).toBe(true);
  for (const uri of [
    'https://app.example/callback/',
    'https://app.example:444/callback',
    'https://app.example/callback?x=1',
    'https://APP.example/callback',
    'https://app.example/a/../callback',
    'http://127.0.0.1:5000/callback',
    'http://127.0.0.1:5000/callback?a=1&b=2',
    'http://localhost:5000/callback?a=1',
    'https://127.0.0.1:5000/callback?a=1',
    'http://127.0.0.1:5000@evil.example/callback?a=1',
  ])
    expect(isRegistered(uri, registered), uri).toBe(false);
});

test('only a program on the own machine is local', () => {
  expect(['http://localhost:1/', 'cursor://x/'].map(isLocal)).toEqual([true, true]);
  expect(['https://app.example/', 'https://localhost.example/'].map(isLocal)).toEqual([false, false]);
});

test('an answer is added to the query that is there', () => {
  const answer = { code: 'a&b', state: undefined };
  expect(withAnswer('http://localhost/c', answer)).toBe('http://localhost/c?code=a%26b');
  expect(withAnswer('http://localhost/c?x=1', answer)).toBe('http://localhost/c?x=1&code=a%26b');
});
