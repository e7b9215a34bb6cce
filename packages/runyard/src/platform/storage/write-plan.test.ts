import { expect, it } from 'vitest';
import { type Fields, PlanBuilder, type RowDelete, valuesOf } from './write-plan.js';

const removal = (name: string): RowDelete => ({
  does: 'delete',
  name,
  table: 'notes',
  columns: ['id'],
  where: 'stored.id = given.id',
});

it('leaves out what a plan does not change, and keeps the order of the rest', () => {
  const plan = new PlanBuilder<'gone'>();
  const [first, second] = [removal('first'), removal('second')];
  plan.guard(removal('none'), []);
  plan.guard(second, [['b']], 'gone');
  plan.guard(first, [['a']]);
  plan.effect(removal('nothing'), []);
  plan.effect(second, [['d']]);
  plan.effect(first, [['c']]);
  expect(plan.guards).toEqual([
    { write: second, rows: [['b']], reason: 'gone' },
    { write: first, rows: [['a']] },
  ]);
  expect(plan.effects).toEqual([
    { write: second, rows: [['d']] },
    { write: first, rows: [['c']] },
  ]);
});

it('has the values of each source in the order of the columns', () => {
  const fields: Fields<{ id: string; place: number }, [id: string, place: number]> = [
    ['place integer', (_id, place) => place],
    ['id', (id) => id],
  ];
  expect(valuesOf(fields, 'a', 1)).toEqual([1, 'a']);
  expect(valuesOf(fields, 'b', 2)).toEqual([2, 'b']);
});
