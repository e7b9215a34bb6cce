import { expect, test } from 'vitest';
import { agingMs, FairQueue, type InLine } from './fair-queue.js';

interface Named extends InLine {
  readonly name: string;
}

let arrivals = 0;

function item(name: string, given: Partial<InLine> = {}): Named {
  arrivals += 1;
  return { name, userId: null, component: 'agent a', level: 1, since: 0, order: arrivals, ...given };
}

function queueOf(...items: Named[]): FairQueue<Named> {
  const queue = new FairQueue<Named>(2);
  for (const one of items) queue.add(one);
  return queue;
}

function allOf(queue: FairQueue<Named>, now = 0): string[] {
  const names: string[] = [];
  for (let next = queue.take(now); next !== undefined; next = queue.take(now)) names.push(next.name);
  return names;
}

test('items of one user and component come in the order of their arrival', () => {
  expect(allOf(queueOf(item('1'), item('2'), item('3')))).toEqual(['1', '2', '3']);
});

test('users have turns, and within a user components have turns', () => {
  const many = Array.from({ length: 4 }, (_, index) => item(`ada ${index}`, { userId: 'ada' }));
  const other = item('ada other', { userId: 'ada', component: 'agent b' });
  const bob = [item('bob 0', { userId: 'bob' }), item('bob 1', { userId: 'bob' })];
  expect(allOf(queueOf(...many, other, ...bob))).toEqual([
    ...['ada 0', 'bob 0', 'ada other', 'bob 1', 'ada 1', 'ada 2', 'ada 3'],
  ]);
});

test('users have turns also when nothing else is in execution', () => {
  const ada = Array.from({ length: 4 }, (_, index) => item(`ada ${index}`, { userId: 'ada' }));
  const queue = queueOf(...ada);
  const takeOne = () => {
    const next = queue.take(0);
    if (next !== undefined) queue.ended(next);
    return next?.name;
  };
  expect([takeOne(), takeOne()]).toEqual(['ada 0', 'ada 1']);
  for (const name of ['bob 0', 'bob 1']) queue.add(item(name, { userId: 'bob' }));
  expect([takeOne(), takeOne(), takeOne(), takeOne()]).toEqual(['bob 0', 'ada 2', 'bob 1', 'ada 3']);
});

test('who has the fewest in execution comes first, until they end', () => {
  const queue = queueOf(item('ada', { userId: 'ada' }), item('bob', { userId: 'bob' }));
  queue.began({ userId: 'ada', component: 'agent b' });
  expect(queue.peek(0)?.name).toBe('bob');
  queue.ended({ userId: 'ada', component: 'agent b' });
  expect(queue.peek(0)?.name).toBe('ada');
});

test('what is more urgent comes first, until the others have waited long enough', () => {
  const urgent = item('urgent', { level: 2, since: agingMs });
  const old = item('old', { level: 1 });
  const older = item('low', { level: 0 });
  expect(allOf(queueOf(older, old, urgent), agingMs - 1)).toEqual(['urgent', 'old', 'low']);
  // by then all are as urgent, and those that have become so come first
  expect(allOf(queueOf(older, old, urgent), 2 * agingMs)).toEqual(['old', 'low', 'urgent']);
  const first = item('first', { level: 0, order: 0 });
  expect(allOf(queueOf(first, urgent), 2 * agingMs)).toEqual(['first', 'urgent']);
  expect(allOf(queueOf(first, urgent), 2 * agingMs - 1)).toEqual(['urgent', 'first']);
});

test('what leaves the line is not found, and nothing is kept of who has nothing in it', () => {
  const gone = item('gone', { userId: 'ada' });
  const queue = queueOf(gone);
  queue.delete(gone);
  queue.delete(gone);
  expect([queue.size, queue.peek(0)]).toEqual([0, undefined]);
  expect(queue).toEqual(new FairQueue(2));
});
