import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { InProcessEvents } from '../../../src/core/runs/journal/in-process-events.js';
import { MemoryJournal } from '../../../src/core/runs/journal/memory-journal.js';
import type { RunJournal } from '../../../src/core/runs/journal/ports.js';
import { mostEvents, type ReceivedEvents } from '../../../src/core/runs/journal/received-events.js';
import type { Run } from '../../../src/core/runs/run.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, aStep, creation, resting } from '../builders.js';

interface Storage {
  readonly journal: RunJournal;
  readonly events: ReceivedEvents;
}

function define(open: () => Promise<Storage>): void {
  it('keeps events once, hands each to one wait, and finds the paused runs that they answer', async () => {
    const { journal, events } = await open();
    const paused = aRun({ ...resting, status: 'paused' });
    const running = aRun();
    const wait = (run: Run) =>
      aStep(run, 0, { key: 'wait:a', kind: 'wait', name: 'event:paid', status: 'running' });
    await journal.commit([
      { ...creation(paused), steps: [wait(paused)] },
      { ...creation(running), steps: [wait(running)] },
    ]);
    const found = async () => (await events.answerable(10, 0)).map(({ runId }) => runId);
    const event = (eventId: string, data = 1, name = 'paid') => ({ eventId, name, data });
    expect(await events.add(paused.runId, event('other', 1, 'shipped'))).toBe('added');
    expect(await found()).toEqual([]);
    expect(await events.add(paused.runId, event('1'))).toBe('added');
    expect(await events.add(paused.runId, event('1'))).toBe('known');
    expect(await events.add(paused.runId, event('1', 2))).toBe('differs');
    expect(await events.add(paused.runId, event('0', 3))).toBe('added');
    await events.add(running.runId, event('1'));
    expect(await found()).toEqual([paused.runId]);
    expect(await events.take(paused.runId, 'paid', 'wait:a')).toMatchObject(event('1'));
    // the answer was not stored: the same wait gets the same event
    expect(await found()).toEqual([paused.runId]);
    expect(await events.take(paused.runId, 'paid', 'wait:a')).toMatchObject(event('1'));
    expect(await events.take(paused.runId, 'paid', 'wait:b')).toMatchObject(event('0', 3));
    expect(await events.take(paused.runId, 'paid', 'wait:c')).toBeUndefined();
    expect(await events.answerable(10, 1)).toEqual([]);
  });
}

it('bounds how many a run receives', async () => {
  const events = new InProcessEvents(new MemoryJournal());
  for (let number = 0; number < mostEvents; number += 1)
    await events.add('run', { eventId: String(number), name: 'a', data: null });
  expect(await events.add('run', { eventId: 'more', name: 'a', data: null })).toBe('full');
});

define(async () => {
  const journal = new MemoryJournal();
  return { journal, events: new InProcessEvents(journal) };
});

forEachDatabase((_dialect, freshPlace) => {
  define(async () => {
    const journal = new RunStore(await (await freshPlace()).open());
    return { journal, events: journal.receivedEvents };
  });
});
