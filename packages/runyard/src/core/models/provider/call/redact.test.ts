import { expect, it } from 'vitest';
import { redactor } from './redact.js';

it.each([
  ['the key itself', 'Key abc-123-def is wrong', 'Key *** is wrong'],
  ['the value of a header, with its scheme', 'got Bearer tok-456-en', 'got Bearer ***'],
  ['and without it', 'got tok-456-en', 'got ***'],
  ['a key of another account', 'Incorrect API key: sk-proj-4f8a9b7c6d.', 'Incorrect API key: ***'],
  ['a key that was masked in the middle', 'Incorrect API key: sk-pr***********6d', 'Incorrect API key: ***'],
  ['a key of Google', 'API key AIzaSyB4x9x8y7 not valid', 'API key *** not valid'],
  ['a key in an address', 'GET https://a.test/v1?key=hunter2&x=1', 'GET https://a.test/v1?key=***&x=1'],
  ['a password in an address', 'via http://me:hunter2@proxy.test/', 'via http://me:***@proxy.test/'],
  ['a foreign token', 'header "Bearer eyJhbGciOiJI.e30.c2ln0"', 'header "Bearer ***"'],
])('takes out %s', (_what, text, clean) => {
  expect(redactor(['abc-123-def', 'Bearer tok-456-en'])(text)).toBe(clean);
});

it.each(['Bearer authentication is required', 'task-oriented models only', 'no key', 'Ask for monkey=1'])(
  'leaves other words alone: %s',
  (text) => {
    expect(redactor(['abc', ''])(text)).toBe(text);
  },
);
