import { expect, onTestFinished, test, vi } from 'vitest';
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

test('another kind of failure is reported at once', () => {
  const { lines, availability } = watched();
  availability.refusal('busy');
  availability.begin('lost', new Error('read ECONNRESET'));
  expect(lines).toEqual(['the database is too busy; some callers get 503', lost]);
});

/** The clock of the outage, which the test sets. */
function heldClock() {
  const clock = { now: 5_000 };
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock.now);
  onTestFinished(() => spy.mockRestore());
  return clock;
}

const unwritable = 'the database does not accept writes; callers get 503 until it does';
const storesAgain = 'the database accepts writes again';

test('while some writes fail and others succeed the outage lasts, and ends a second after the last failure', () => {
  const clock = heldClock();
  const { lines, availability } = watched();
  for (let writes = 0; writes < 5; writes += 1) {
    availability.failure(new Error('disk full'), 'unwritable');
    clock.now += 900;
    availability.end('unwritable');
    expect(availability.outage).toBe('unwritable');
  }
  expect(lines).toEqual([unwritable]);
  clock.now += 100;
  availability.end('unwritable');
  expect(availability.outage).toBeUndefined();
  expect(lines).toEqual([unwritable, storesAgain]);
});

test('work is refused for a second after a write failed, unless one has succeeded since', () => {
  const clock = heldClock();
  const { availability } = watched();
  const refused = expect.objectContaining({ code: 'database_unavailable', status: 503 });
  availability.failure(new Error('disk full'), 'unwritable');
  clock.now += 999;
  expect(() => availability.assertWritable()).toThrow(refused);
  clock.now += 1;
  availability.assertWritable();
  availability.failure(new Error('disk full'), 'unwritable');
  expect(() => availability.assertWritable()).toThrow(refused);
  availability.end('unwritable');
  availability.assertWritable();
});

test('a database that is reached again is available at once', () => {
  heldClock();
  const { lines, availability } = watched();
  availability.failure(new Error('read ECONNRESET'), 'lost');
  availability.begin('lost', new Error('read ECONNRESET'));
  availability.end('lost');
  expect(availability.outage).toBeUndefined();
  expect(lines).toEqual([lost, 'the database is back']);
});
