import type { Log } from '../../core/log.js';
import type { ModelPrices } from '../../core/models/prices.js';
import type { Run } from '../../core/runs/run.js';
import { redactSpans, traceRedaction } from '../../core/traces/redaction.js';
import { spansOf } from '../../core/traces/spans-of-run.js';
import { workflowFactsOf } from '../../core/traces/workflow-facts.js';
import { Workflow } from '../../core/workflows/workflow.js';
import type { Settings } from '../settings/config.js';
import { TraceExport } from './trace-export.js';

export interface OpenTraceExportOptions {
  readonly settings: Pick<Settings, 'name' | 'otlpEndpoint' | 'otlpHeaders' | 'traceContent' | 'traceRedact'>;
  readonly prices: ModelPrices;
  /** The workflow of a run, if it can be shown. */
  readonly workflow: (run: Run) => Promise<unknown>;
  readonly log: Log;
}

/** The export of what runs have in memory when they pause or end: nothing is read for it. */
export function openTraceExport({ settings, prices, workflow, log }: OpenTraceExportOptions): TraceExport {
  const { name: serviceName, otlpEndpoint: endpoint = '', otlpHeaders: headers } = settings;
  const redaction = traceRedaction(settings.traceContent, settings.traceRedact);
  const factsOf = async (run: Run) => {
    const found = await workflow(run);
    return found instanceof Workflow ? workflowFactsOf(found) : undefined;
  };
  return new TraceExport({
    endpoint,
    headers,
    serviceName,
    log,
    spans: async ({ run, steps, history: shown }) => {
      const facts = run.kind === 'workflow' ? await factsOf(run) : undefined;
      const source = { run, steps, shown, prices, ...(facts !== undefined && { workflow: facts }) };
      return redactSpans(redaction, spansOf(source));
    },
  });
}
