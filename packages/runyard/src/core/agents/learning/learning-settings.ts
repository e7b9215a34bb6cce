import { errors } from '../../errors/errors.js';
import { privateNamespacePrefix } from '../../learnings/learnings.js';
import type { ModelLike } from '../../models/resolve.js';
import { keysOf } from '../../objects.js';

/** What an agent learns, and how. */
export interface LearningSettings {
  /**
   * `always`: a model looks at each run when it is done and keeps what is new: one more model call. `agentic`: the
   * agent has a tool and keeps what it finds worth it. Default `always`.
   */
  readonly mode?: 'always' | 'agentic';
  /** Facts about the user by name: what they are called, their language, their work. Default true. */
  readonly userProfile?: boolean;
  /** Sentences about the user: what they like, plan, have gone through. Default true. */
  readonly userMemory?: boolean;
  /** What the session is after and how far it has come. Default true. */
  readonly sessionContext?: boolean;
  /** Facts, events and relations of people, companies, projects and other things. Default false. */
  readonly entityMemory?: boolean;
  /** What was decided, and why. Default false. */
  readonly decisions?: boolean;
  /**
   * Who shares entities and decisions: all users of the agents with this namespace. Left out: they stay with the user
   * of the run.
   */
  readonly namespace?: string;
  /** Looks at the runs in mode `always`; the agent's own when left out. */
  readonly model?: ModelLike;
  /** What is worth learning, in words for that model or the agent. */
  readonly instructions?: string;
}

const defaults = {
  userProfile: true,
  userMemory: true,
  sessionContext: true,
  entityMemory: false,
  decisions: false,
} as const;

export type LearningKind = keyof typeof defaults;

export const learningKinds = keysOf(defaults);

/** The settings with what is left out filled in. */
export interface LearningPlan extends LearningSettings {
  readonly mode: 'always' | 'agentic';
  readonly kinds: ReadonlySet<LearningKind>;
}

/** Undefined for an agent that does not learn. */
export function learningPlan({
  learning,
}: {
  readonly learning?: boolean | LearningSettings;
}): LearningPlan | undefined {
  if (learning === undefined || learning === false) return undefined;
  const given = learning === true ? {} : learning;
  const kinds = new Set(learningKinds.filter((kind) => given[kind] ?? defaults[kind]));
  return { ...given, mode: given.mode ?? 'always', kinds };
}

/** Whether an agent looks up what it has learned: the rest it is shown anyway. */
export function looksUpLearnings({ kinds }: LearningPlan): boolean {
  return kinds.has('entityMemory') || kinds.has('decisions');
}

/** What can be learned in a run: nothing about a user when it has none. */
export function kindsFor({ kinds }: LearningPlan, userId: string | null): ReadonlySet<LearningKind> {
  if (userId !== null) return kinds;
  return new Set([...kinds].filter((kind) => kind !== 'userProfile' && kind !== 'userMemory'));
}

const longestNamespace = 100;

/** Refuses settings that would not do what they say. `owner` as in `Agent 'bank'`. */
export function checkLearning(
  owner: string,
  settings: { readonly learning?: boolean | LearningSettings },
): void {
  const plan = learningPlan(settings);
  if (plan === undefined) return;
  const { kinds, namespace } = plan;
  if (kinds.size === 0)
    throw errors.invalidConfig(
      `${owner} is to learn, but nothing: turn on one of ${learningKinds.join(', ')}, or leave learning out.`,
    );
  if (namespace === undefined) return;
  if (namespace.trim() === '' || namespace.length > longestNamespace)
    throw errors.invalidConfig(
      `${owner} has a learning.namespace of ${namespace.length} characters. Give a name of 1 to ${longestNamespace}.`,
    );
  if (namespace.startsWith(privateNamespacePrefix))
    throw errors.invalidConfig(
      `${owner} has learning.namespace: '${namespace}'. Names that begin with '${privateNamespacePrefix}' are for what belongs to one user; leave it out for that.`,
    );
}
