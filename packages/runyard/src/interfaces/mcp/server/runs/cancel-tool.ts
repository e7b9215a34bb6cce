import { z } from 'zod';
import { errors } from '../../../../core/errors/errors.js';
import { terminalStatuses } from '../../../../core/runs/run.js';
import { statusIn } from '../../../../platform/http/response/wire-format.js';
import { builtinTool, textBlock } from '../mcp-tool.js';
import { RunProblem } from '../tool-errors.js';
import { assertMayRun, componentArguments, given, namedComponent, sessionArgument } from './run-place.js';

export const cancelRunTool = builtinTool({
  name: 'cancel_run',
  tag: 'core',
  title: 'Cancel a run',
  description: 'Cancels a run that is pending, running or paused. Its output so far is kept.',
  annotations: { destructiveHint: true, idempotentHint: true },
  args: {
    run_id: z.string().meta({ description: 'The run to cancel.' }),
    session_id: sessionArgument,
    ...componentArguments,
  },
  output: { type: 'object', properties: { result: { type: 'string' } }, required: ['result'] },
  async execute({ site, caller, format }, args) {
    const component = namedComponent(args);
    assertMayRun(caller, component);
    const sessionId = given(args.session_id);
    const place = { ...component, runId: args.run_id, sessionId };
    const { runs } = site.services;
    const found = await runs.follow(caller, place, -1);
    if (found === undefined) throw errors.runNotFound();
    const { status, run } = found;
    // to cancel twice is the same as once; what has ended otherwise is not cancelled
    if (terminalStatuses.has(status) && status !== 'cancelled') {
      const problem = { run_id: run.runId, session_id: run.sessionId, status: statusIn(format, status) };
      throw new RunProblem(`Run ${run.runId} has ended (status=${status})`, problem);
    }
    await runs.cancel(caller, place);
    const result = `Run ${args.run_id} cancellation requested`;
    return { content: [textBlock(result)], structuredContent: { result }, isError: false };
  },
});
