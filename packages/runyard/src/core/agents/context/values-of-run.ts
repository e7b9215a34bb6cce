import type { JsonObject } from '../../json.js';
import type { RunContext } from '../../runs/context.js';
import type { RunValues } from './run-values.js';

/** What never changes about a run, for the functions of a definition. */
export function fixedValues({
  run,
  root,
}: RunContext): Pick<RunValues, 'runId' | 'sessionId' | 'userId' | 'input' | 'claims'> {
  const { runId, sessionId, userId, input } = run;
  // a run inside another one is a run of the same caller
  return { runId, sessionId, userId, input: input.content, claims: root.input.options.claims ?? null };
}

/** The same with what a run has now. */
export function currentValues(
  { settings }: { readonly settings: { readonly metadata?: JsonObject } },
  context: RunContext,
): Omit<RunValues, 'dependencies'> {
  const { options, state, signal } = context;
  const metadata = { ...options.metadata, ...settings.metadata };
  return { ...fixedValues(context), state: state.all(), metadata, signal };
}
