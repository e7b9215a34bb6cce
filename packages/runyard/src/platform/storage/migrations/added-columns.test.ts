import { expect, it } from 'vitest';
import { withAddedColumns } from './added-columns.js';

it('creates a table with the columns that are added to it later, before what holds for the table', () => {
  const added = [
    "ALTER TABLE runs ADD COLUMN kind text DEFAULT ', UNIQUE ('",
    'ALTER TABLE runs ADD COLUMN turn bigint',
  ];
  expect(
    withAddedColumns([
      'CREATE TABLE runs (id text CHECK (id IN (1, 2)), at bigint, PRIMARY KEY (id, at))',
      'CREATE INDEX runs_by_time ON runs (at)',
      ...added,
      'CREATE INDEX runs_by_turn ON runs (turn)',
    ]),
  ).toEqual([
    "CREATE TABLE runs (id text CHECK (id IN (1, 2)), at bigint, kind text DEFAULT ', UNIQUE (', turn bigint, PRIMARY KEY (id, at))",
    'CREATE INDEX runs_by_time ON runs (at)',
    'CREATE INDEX runs_by_turn ON runs (turn)',
  ]);
});

it('leaves a column to its statement whose table is not created before, or has got its name or lost it', () => {
  const statements = [
    'ALTER TABLE older ADD COLUMN a text',
    'CREATE TABLE runs (id text)',
    'CREATE TABLE other_runs (id text)',
    'DROP TABLE runs',
    'ALTER TABLE other_runs RENAME TO runs',
    'ALTER TABLE runs ADD COLUMN b text',
    'ALTER TABLE other_runs ADD COLUMN c text',
  ];
  expect(withAddedColumns(statements)).toEqual(statements);
});

it.each([
  "CONSTRAINT named CHECK (id <> '')",
  'PRIMARY KEY (id)',
  'UNIQUE (id)',
  "CHECK (id <> ',')",
  'FOREIGN KEY (id) REFERENCES other (id)',
])('adds a column before %s, which must come last', (constraint) => {
  expect(
    withAddedColumns([`CREATE TABLE runs (id text, ${constraint})`, 'ALTER TABLE runs ADD COLUMN a text']),
  ).toEqual([`CREATE TABLE runs (id text, a text, ${constraint})`]);
});
