import type { Json } from '../../json.js';
import type { RunContext } from '../../runs/context.js';
import type { PastRun } from '../definition/functions.js';
import { textOf } from '../fold/group-content.js';
import { historyRecord } from '../journal-records.js';

/** Earlier runs of the session. Which ones is written down: a run that is executed again is shown the same. */
export async function pastRuns(context: RunContext, count: number): Promise<readonly PastRun[]> {
  const spec = { kind: 'decision', name: 'history', record: historyRecord } as const;
  const ids = await context.step('history', spec, async () => {
    return (await context.history(count)).map(({ run }) => run.runId);
  });
  const runs = await context.runs(ids);
  return runs.map(({ run }) => ({ input: run.input.content, output: run.result?.content ?? '' }));
}

/** The history as it stands in front of a message; empty without any. */
export function historyText(history: readonly PastRun[]): string {
  if (history.length === 0) return '';
  const runs = history.map(
    ({ input, output }: { input: string; output: Json }, position) =>
      `Run ${position + 1}\nInput: ${input}\nOutput: ${textOf(output)}`,
  );
  return `<earlier_runs>\n${runs.join('\n\n')}\n</earlier_runs>`;
}
