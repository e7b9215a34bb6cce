import type {
  ErrorRequirement,
  Kind,
  RequirementBody,
  Run,
  StepRequirement,
  ToolCallBody,
} from '@runyard/client';

/** A run as the chat shows it: made of its events, or of what the service has stored. It never changes. */
export interface RunView {
  readonly runId: string;
  readonly kind: Kind;
  /** Of the component that ran. */
  readonly name: string;
  readonly status: RunStatus;
  /** What happened, in its order. */
  readonly parts: readonly Part[];
  readonly model?: string | undefined;
  readonly metrics?: Metrics | undefined;
  readonly references?: readonly SearchReferences[] | undefined;
  readonly citations?: Citations | undefined;
  readonly followups?: readonly string[] | undefined;
  /** What the run made. The bytes are in the body of the run. */
  readonly media?: MediaLists | undefined;
  /** Why the model stopped, if it is worth saying. */
  readonly ending?: string | undefined;
  readonly error?: { readonly text: string; readonly type: string | undefined } | undefined;
  /** What it waits for. */
  readonly pause?: Pause | undefined;
}

export type RunStatus = Run['status'];

export interface Pause {
  readonly requirements: readonly RequirementBody[];
  readonly steps: readonly WaitingStep[];
  readonly errors: readonly ErrorRequirement[];
  /** Events and times that a workflow waits for: nobody can answer them here. */
  readonly waitingFor: readonly Fields[];
}

/** A step that waits for a person, or whose agent or team does. */
export type WaitingStep = StepRequirement & {
  readonly requires_executor_input?: boolean;
  readonly executor_name?: string | null;
  readonly executor_requirements?: readonly RequirementBody[];
  /** What is reviewed. */
  readonly step_output?: unknown;
};

export type Part =
  | { readonly type: 'text'; readonly id: string; readonly text: string }
  /** An answer that is an object. */
  | { readonly type: 'data'; readonly id: string; readonly value: unknown }
  | {
      readonly type: 'reasoning';
      readonly id: string;
      readonly title: string;
      readonly text: string;
      readonly steps: readonly Fields[];
      readonly isLive: boolean;
    }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly call: ToolCallBody;
      readonly error: string | undefined;
      readonly media: MediaLists | undefined;
      readonly isLive: boolean;
    }
  /** What a member of a team did. */
  | { readonly type: 'member'; readonly id: string; readonly run: RunView }
  | { readonly type: 'step'; readonly id: string; readonly step: StepView }
  /** An event of the application, or work of the service that is worth a line. */
  | { readonly type: 'note'; readonly id: string; readonly text: string; readonly data?: unknown };

export interface StepView {
  readonly id: string;
  readonly name: string;
  /** Step, Loop, Parallel, … */
  readonly type: string;
  readonly status: 'running' | 'completed' | 'error' | 'paused' | 'skipped';
  readonly output: unknown;
  readonly error: string | undefined;
  readonly seconds: number | undefined;
  /** Such as "2 of 3" for a loop, or the branch of a condition. */
  readonly detail: string | undefined;
  readonly steps: readonly StepView[];
  /** The runs of what executes it. */
  readonly runs: readonly RunView[];
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Metrics {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly cost: number | undefined;
  readonly seconds: number | undefined;
}

export interface Reference {
  readonly name: string | null;
  readonly content: string;
  readonly meta_data: Fields;
}

export interface SearchReferences {
  readonly query: string;
  readonly references: readonly Reference[];
}

export type Citations = NonNullable<Run['citations']>;

export const mediaKinds = ['images', 'audio', 'videos', 'files'] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** Descriptions of media, with or without their bytes. */
export type MediaLists = Readonly<Partial<Record<MediaKind, readonly Fields[]>>>;

export function isActive(status: RunStatus): boolean {
  return status === 'running' || status === 'pending';
}

/** The text of the answer, to be copied. */
export function answerText({ parts }: RunView): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'text') return part.text;
      return part.type === 'data' ? JSON.stringify(part.value, null, 2) : [];
    })
    .join('\n\n')
    .trim();
}
