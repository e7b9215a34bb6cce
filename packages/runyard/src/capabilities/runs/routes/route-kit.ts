import { z } from 'zod';
import type { RunKind } from '../../../core/runs/run.js';
import { lazySchema } from '../../../core/schemas/lazy-schema.js';
import type { WireFormatSettings } from '../../../platform/http/response/wire-format.js';
import type { Route } from '../../../platform/http/route.js';
import type { listRunsQuery, runQuery } from '../schema.js';
import type { RunsService } from '../service.js';

export interface RunServices {
  readonly runs: RunsService;
  readonly settings: WireFormatSettings;
}

export type RunRoute = Route<RunServices>;

/** What one kind of component is called on the wire. */
export interface RunKindFacts {
  readonly kind: RunKind;
  /** In a sentence. */
  readonly inWords: string;
  /** The first part of its paths and of its scopes. */
  readonly plural: string;
  /** The parameter that names the component in a path. */
  readonly idName: string;
  readonly tag: string;
  /** What becomes of a run that is continued, in words. */
  readonly continueText: string;
  readonly runQuery: z.ZodType<z.output<typeof runQuery>>;
  readonly listQuery: z.ZodType<z.output<typeof listRunsQuery>>;
  readonly body: z.ZodType;
  /** A run in a list. */
  readonly listed: z.ZodType;
  /** A run as it was at a checkpoint; left out for a kind whose runs are no conversations. */
  readonly checkpoint?: z.ZodType;
  /** The last events of a stream, in words. */
  readonly lastEvents: string;
}

export function runsPath({ plural, idName }: RunKindFacts): string {
  return `/${plural}/:${idName}/runs`;
}

/** To start, to change, and to end a run. */
export function runScope({ plural }: RunKindFacts): string {
  return `${plural}:run`;
}

/** To read a run: callers who may start one may see its outcome. */
export function readScopes({ plural }: RunKindFacts): readonly string[] {
  return [`${plural}:read`, `${plural}:run`];
}

/** The parameters of a path, by the same names whatever the kind calls them. */
export function componentParams(facts: RunKindFacts) {
  return lazySchema(() =>
    z.object(componentField(facts)).transform((params) => ({ componentId: componentIn(facts, params) })),
  );
}

export function runParams(facts: RunKindFacts) {
  return lazySchema(() =>
    z.object({ ...componentField(facts), ...runField() }).transform((params) => ({
      componentId: componentIn(facts, params),
      runId: params.run_id,
    })),
  );
}

export function componentIn({ idName }: RunKindFacts, params: Readonly<Record<string, unknown>>): string {
  return String(params[idName]);
}

export function componentField({ kind, idName }: RunKindFacts): Record<string, z.ZodString> {
  return {
    [idName]: z.string().meta({ description: `The identifier of the ${kind}.`, examples: ['assistant'] }),
  };
}

/** How every stream of events ends whose reader lost the right to it. */
export const endedStreamText =
  'If the token expires or is revoked, a final frame named error (error, error_code) without an id ends the stream.';

/** The header that `runIdHeader` adds, for the description of the API. */
export const runIdHeaders = { 'x-run-id': 'The id of the run, percent-encoded.' };

export const runField = () => ({ run_id: z.string().meta({ description: 'The identifier of the run.' }) });
