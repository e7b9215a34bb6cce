import { expect, test } from 'vitest';
import { Availability } from './availability.js';

function watched() {
  const lines: string[] = [];
  const note = (_: object, text: string) => void lines.push(text);
  const log = { debug: note, info: note, warn: note, error: note };
  return { lines, availability: new Availability('default', log) };
}

const lost = 'the database cannot be reached; callers get 503 until it is back';

test('an outage whose first sign was a failed call has one line, and the next outage one of its own', () => {
  const { lines, availability } = watched();
  availability.refusal('lost', new Error('Connection terminated unexpectedly'));
  availability.begin('lost', new Error('read ECONNRESET'));
  availability.refusal('lost');
  expect(lines).toEqual([lost]);
  availability.end('lost');
  availability.begin('lost', new Error('read ECONNRESET'));
  expect(lines).toEqual([lost, 'the database is back', lost]);
});

test('another kind of trouble is reported at once', () => {
  const { lines, availability } = watched();
  availability.refusal('busy');
  availability.begin('lost', new Error('read ECONNRESET'));
  expect(lines).toEqual(['the database is too busy; some callers get 503', lost]);
});
