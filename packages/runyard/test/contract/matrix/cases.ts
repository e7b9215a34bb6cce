import type { Operation } from './operations.js';
import { isSafe, kindsOf, ownedIn } from './requests.js';
import type { Place } from './world.js';

/** A request that names something of another user. */
export interface Case {
  readonly operation: Operation;
  /** What it names. */
  readonly place: Place;
  /** The fields that do. */
  readonly named: ReadonlySet<string>;
  /** Whether it needs something of the caller's own besides. */
  readonly needsOwn: boolean;
}

/** Every request that an operation accepts about a user who has these places. */
export function casesOf(operation: Operation, places: readonly Place[]): Case[] {
  const owned = ownedIn(operation);
  const required = owned.filter((field) => field.required);
  return placesFor(operation, places).flatMap((place) =>
    namings(operation)
      .map((named) => ({
        ...{ operation, place, named },
        needsOwn: required.some(({ name }) => !named.has(name)),
      }))
      .filter(({ needsOwn }) => !needsOwn || place.state === 'completed'),
  );
}

/** The one with everything, each optional field by itself and with what the path names, and each part of a path. */
function namings(operation: Operation): Set<string>[] {
  const owned = ownedIn(operation);
  const inPath = owned.filter(({ place }) => place === 'path').map(({ name }) => name);
  const others = owned.filter(({ place }) => place !== 'path').map(({ name }) => name);
  // a header that was sent before with another body is a story of its own
  const inBody = owned.filter(({ place }) => place !== 'header').map(({ name }) => name);
  const sets = [
    inPath,
    ...inPath.map((name) => [name]),
    ...others.map((name) => [...inPath, name]),
    ...others.map((name) => [name]),
    inBody,
  ];
  const distinct = new Map(sets.map((names) => [[...names].sort().join(), new Set(names)]));
  distinct.delete('');
  return [...distinct.values()];
}

/** What each place has of its own. All else of a person is the same wherever. */
const ofPlaces = new Set(['session_id', 'session_ids', 'run_id', 'trace_id', 'span_id', 'filter']);

/** One of each kind, and one in each state where what is done to it may depend on that. */
function placesFor(operation: Operation, places: readonly Place[]): Place[] {
  const kinds = kindsOf(operation);
  const completed = places.filter(({ kind, state }) => kinds.includes(kind) && state === 'completed');
  const ofPlace = ownedIn(operation).filter(({ name }) => ofPlaces.has(name));
  if (ofPlace.length === 0) return completed.slice(0, 1);
  if (!ofPlace.some(({ place }) => place === 'path')) return completed;
  const others = places.filter(({ kind, state }) => kind === kinds[0] && state !== 'completed');
  return [...completed, ...others];
}

/** Whether it names all that it can, or only what it has to. */
export function isOutermost({ operation, named }: Case): boolean {
  const owned = ownedIn(operation);
  return (
    owned.every(({ name, place }) => named.has(name) || place === 'header') ||
    owned.every(({ name, required }) => named.has(name) === required)
  );
}

/** Those that only read, and those that change something. */
export function inPhases(cases: readonly Case[]): { reading: Case[]; changing: Case[] } {
  return {
    reading: cases.filter(({ operation }) => isSafe(operation)),
    changing: cases.filter(({ operation }) => !isSafe(operation)),
  };
}
