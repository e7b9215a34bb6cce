import { createHash } from 'node:crypto';
import { errors } from '../errors/errors.js';
import {
  type RegisteredAgent,
  type RegisteredTeam,
  type RegisteredWorkflow,
  registeredAgent,
  registeredTeam,
  registeredWorkflow,
} from '../factories/registered.js';
import type { Model } from '../models/model.js';
import { model } from '../models/model-kind.js';
import { type ModelLike, resolveModel } from '../models/resolve.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import { amount, anyOf, count, listOf, name, objectOf, required } from '../options/kinds.js';
import type { Run, RunKind } from '../runs/run.js';
import type { Scorer } from './scorer.js';
import { type ScorerFunction, scorerKind, scorerOf } from './scorers/own-scorer.js';

/** Which finished runs of a service are graded in the background, and by what. One of the components is required. */
export interface LiveEvalOptions {
  /** Identifies it among the live evals of the service, and in the results. Left out: the id of the component. */
  readonly name?: string;
  /** A registered agent, or its id. */
  readonly agent?: string | RegisteredAgent;
  readonly team?: string | RegisteredTeam;
  readonly workflow?: string | RegisteredWorkflow;
  /** The share of the finished runs that is graded, from 0 to 1. Default: 0.1. */
  readonly sample?: number;
  readonly scorers: readonly (Scorer | ScorerFunction)[];
  /** The model of scorers that ask one. Left out: the model of the agent or team. */
  readonly judge?: ModelLike;
  /** At most so many runs are graded in an hour, over all processes. Default: 60. The others are counted as skipped. */
  readonly maxPerHour?: number;
}

const liveEvalOptions = objectOf<LiveEvalOptions>({
  name,
  agent: anyOf(name, registeredAgent),
  team: anyOf(name, registeredTeam),
  workflow: anyOf(name, registeredWorkflow),
  sample: amount('a number from 0 to 1', (value) => value >= 0 && value <= 1),
  scorers: required(listOf(scorerKind, 1)),
  judge: model,
  maxPerHour: count(1, 1_000_000),
});

const kinds: readonly RunKind[] = ['agent', 'team', 'workflow'];

/** An eval on live traffic. Made with `liveEval()`, registered with `new Runyard({ liveEvals })`. */
export class LiveEval {
  readonly name: string;
  readonly kind: RunKind;
  readonly componentId: string;
  readonly sample: number;
  readonly maxPerHour: number;
  readonly scorers: readonly Scorer[];
  readonly judge: Model | undefined;

  constructor(options: LiveEvalOptions) {
    checkOptions(ownerOf('Live eval', options), options, liveEvalOptions);
    const { sample = 0.1, maxPerHour = 60, judge } = options;
    const scorers = options.scorers.map(scorerOf);
    const [kind, ...others] = kinds.filter((one) => options[one] !== undefined);
    if (kind === undefined || others.length > 0)
      throw errors.invalidConfig(
        `${ownerOf('Live eval', options)}: give one of agent, team and workflow: whose runs it grades.`,
      );
    const component = options[kind];
    this.kind = kind;
    this.componentId = typeof component === 'string' ? component : (component?.id ?? '');
    this.name = options.name ?? this.componentId;
    this.sample = sample;
    this.maxPerHour = maxPerHour;
    this.scorers = scorers;
    this.judge = judge === undefined ? undefined : resolveModel(judge);
    const names = scorers.map((one) => one.name);
    const twice = names.find((one, position) => names.indexOf(one) !== position);
    if (twice !== undefined)
      throw errors.invalidConfig(`Live eval '${this.name}': two scorers have the name '${twice}'.`);
  }

  isOf({ kind, componentId }: Pick<Run, 'kind' | 'componentId'>): boolean {
    return this.kind === kind && this.componentId === componentId;
  }

  /** Whether it grades a run: the same answer in every process and every time. */
  samples(runId: string): boolean {
    if (this.sample >= 1) return true;
    const hash = createHash('sha256').update(`${this.name}\n${runId}`).digest();
    return hash.readUIntBE(0, 6) / 2 ** 48 < this.sample;
  }
}

/** Grades a share of the finished runs of a component in the background. */
export function liveEval(options: LiveEvalOptions): LiveEval {
  return new LiveEval(options);
}
