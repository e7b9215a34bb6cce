import { test } from 'vitest';
import { aRun, aStep } from '../conformance/builders.js';
import { spansOf } from '../../src/core/traces/spans-of-run.js';
import { redactSpans, traceRedaction } from '../../src/core/traces/redaction.js';
import { otlpSpan } from '../../src/platform/telemetry/otlp-spans.js';
test('cost', { timeout: 200_000 }, () => {
  for (const turns of [50, 50, 200]) {
    const run = aRun({ status: 'completed' });
    const steps = [aStep(run, 0, { key: 'context', kind: 'context', output: { system: 'x'.repeat(2000), user: 'hi', history: [] } })];
    let seq = 1;
    for (let t = 0; t < turns; t += 1) {
      steps.push(aStep(run, seq++, { key: `model:${t}`, output: { content: 'thinking', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, finishReason: 'stop', timeToFirstToken: 0, toolCalls: [{ id: `c${t}`, name: 'look', arguments: '{}' }] } }));
      steps.push(aStep(run, seq++, { key: `tool:${t}:0`, kind: 'tool', name: 'look', output: { callId: `c${t}`, content: `result ${t} `.repeat(200), error: false, args: {}, listed: true } }));
    }
    let at = performance.now();
    const lap = (name: string) => { console.log('LAP', turns, name, (performance.now() - at).toFixed()); at = performance.now(); };
    const plain = spansOf({ run, steps });
    for (const s of plain) void s.attributes;
    lap('attributes');
    const spans = redactSpans(traceRedaction('full', []), plain);
    for (const s of spans) void s.attributes;
    lap('redaction');
    let chars = 0;
    for (const s of spans) chars += otlpSpan(s, run).length;
    lap(`lines ${chars}`);
  }
});
