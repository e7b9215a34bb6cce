import { describe, expect, it } from 'vitest';
import { mergedPlaces, type ReadPlaces } from './merged-places.js';
import type { ApprovalPlace } from './store.js';

const place = (createdAt: number, approvalId = `at-${createdAt}`): ApprovalPlace => ({
  createdAt,
  approvalId,
});

/** A database that has these places, the newest first, and counts what is read of it. */
function source(places: readonly ApprovalPlace[]) {
  const reads: number[] = [];
  const read: ReadPlaces = async (limit, after) => {
    const from =
      after === undefined ? 0 : places.findIndex(({ approvalId }) => approvalId === after.approvalId) + 1;
    const some = places.slice(from, from + limit);
    reads.push(some.length);
    return some;
  };
  return { read, reads };
}

const everySecond = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => place(first - 2 * index));

describe('a page of a list from several databases', () => {
  it('has the newest of all of them first', async () => {
    const sources = [source(everySecond(10, 5)), source(everySecond(9, 5)), source([])];
    const page = await mergedPlaces(
      sources.map(({ read }) => read),
      { offset: 3, limit: 4 },
    );
    expect(page.map(({ createdAt, source: at }) => [createdAt, at])).toEqual([
      [7, 1],
      [6, 0],
      [5, 1],
      [4, 0],
    ]);
  });

  it('orders entries of the same time by id, as each database does', async () => {
    const sources = [source([place(1, 'd'), place(1, 'a')]), source([place(1, 'c'), place(1, 'b')])];
    const page = await mergedPlaces(
      sources.map(({ read }) => read),
      { offset: 0, limit: 10 },
    );
    expect(page.map(({ approvalId }) => approvalId)).toEqual(['d', 'c', 'b', 'a']);
  });

  it('reads only a part of each list, however late the page is', async () => {
    const sources = [source(everySecond(10_000, 4_000)), source(everySecond(9_999, 4_000))];
    const page = await mergedPlaces(
      sources.map(({ read }) => read),
      { offset: 7_000, limit: 3 },
    );
    expect(page.map(({ createdAt }) => createdAt)).toEqual([3_000, 2_999, 2_998]);
    for (const { reads } of sources) expect(Math.max(...reads)).toBe(1_000);
  });

  it('ends where the lists end', async () => {
    const sources = [source(everySecond(10, 3)), source(everySecond(9, 1))];
    const reads = sources.map(({ read }) => read);
    expect(await mergedPlaces(reads, { offset: 3, limit: 100 })).toHaveLength(1);
    expect(await mergedPlaces(reads, { offset: 4, limit: 100 })).toEqual([]);
  });
});
