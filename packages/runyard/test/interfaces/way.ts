import type { JsonObject } from '../../src/index.js';
import type { Body } from '../support/service.js';

/** A component, by its path. */
export interface Place {
  readonly plural: 'agents' | 'teams' | 'workflows';
  readonly id: string;
}

/** A run that a client asks for. Its session is new, so the run can be found by it. */
export interface Asked extends Place {
  readonly message: string;
  readonly sessionId: string;
  /** For a component that a factory builds. */
  readonly factoryInput?: JsonObject;
}

/** What a client learns of a run that has ended or waits, in the words of a run body. */
export interface Seen {
  readonly runId: string;
  readonly status: string;
  readonly content: unknown;
  /** What a paused run waits for. */
  readonly requirements: readonly Body[];
}

/** What a client may learn of a run in progress. */
export type News = 'text' | 'tool';

/** A run that a client has asked for and follows. */
export interface Following {
  /** Resolves when the client has learned this. */
  receives(news: News): Promise<unknown>;
  readonly rested: Promise<Seen>;
  /** Cuts the connection without a word. */
  drop(): void;
  /** What the client presents when it returns. */
  last?(): string | undefined;
}

/** A client of one interface. It rejects when the service refuses. */
export interface Client {
  start(asked: Asked): Following;
  /** Sends back what a paused run waits for, with the answers in it. */
  answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen>;
  cancel(asked: Asked, runId: string): Promise<unknown>;
  /** Follows a run that it lost, or that another client started. */
  comeBack(asked: Asked, runId: string, lost?: Following): Promise<Seen>;
  close?(): Promise<void>;
}

/** A user of the service. */
export interface Person {
  readonly id: string;
  readonly url: string;
  /** With their token. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A way into the service. */
export interface Way {
  readonly name: string;
  /** What its clients learn before the run has ended. */
  readonly news: readonly News[];
  /** Another form of a way that plays all scenarios: it plays those that every client needs. */
  readonly isVariant?: boolean;
  /** Scenarios that it cannot play, and why. */
  readonly leavesOut?: Readonly<Record<string, string>>;
  /** What is stored, without what this way alone adds to it. */
  common?(left: Body): Body;
  open(person: Person): Client | Promise<Client>;
}

/** The service refused; the message is what the client received. */
export class Refused extends Error {}

/** The field of a form that a factory reads. */
export function factoryField({ factoryInput }: Asked): Record<string, string> {
  return factoryInput === undefined ? {} : { factory_input: JSON.stringify(factoryInput) };
}

/** The fields of a form, by what a run waits for. */
export function requirementsField({ plural }: Place): 'requirements' | 'step_requirements' {
  return plural === 'workflows' ? 'step_requirements' : 'requirements';
}

/** What a body or the last event of a run says. */
export function seenIn(said: Body, status: string = said.status): Seen {
  const requirements = said.requirements ?? said.step_requirements ?? [];
  return { runId: said.run_id, status, content: said.content, requirements };
}
