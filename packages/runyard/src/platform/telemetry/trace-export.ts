import { inNeutralContext } from '../../core/async/neutral-context.js';
import type { Log } from '../../core/log.js';
import type { EndedRun } from '../../core/runs/run.js';
import type { Span } from '../../core/traces/span.js';
import { parseTraceParent } from '../../core/traces/trace-parent.js';
import { type DeliveryOptions, NotDelivered, OtlpDelivery } from './otlp-delivery.js';
import { otlpOrigin } from './otlp-origin.js';
import { otlpSpan, spansSinceRest } from './otlp-spans.js';

export interface TraceExportOptions extends DeliveryOptions {
  /** The name of the service, as the collector is to know it. */
  readonly serviceName: string;
  /** Folds a journal into spans, with nothing in them that is not to be shown. */
  readonly spans: (rested: EndedRun) => readonly Span[] | Promise<readonly Span[]>;
  readonly log: Log;
}

/** How long spans wait for others to be sent with. */
const delayMs = 500;
const spansAtOnce = 512;
const charactersAtOnce = 2_000_000;

/** After so much the process does something else: each call of a model shows all that was said before it. */
const charactersInOneGo = 200_000;

/** How much may wait for a collector that is slow or away: runs, and what their journals hold. */
const waitingRuns = 2_000;
const waitingSteps = 20_000;

/**
 * Sends the spans of runs to an OpenTelemetry collector when they pause or end. Their journals wait as they are, and
 * are made into spans when it is their turn, so that a run that ends loses no time. What the collector does not take
 * is dropped, the oldest first, and no run ever waits for it.
 */
export class TraceExport {
  private readonly delivery: OtlpDelivery;
  private readonly envelope: readonly [string, string];
  private readonly waiting: EndedRun[] = [];
  private steps = 0;
  /** What is left of the run whose turn it is: a span is made into a line when there is room for it. */
  private rest: Iterator<string> = [].values();
  private sending: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private dropped = 0;
  private isFailing = false;
  private isClosed = false;

  constructor(private readonly options: TraceExportOptions) {
    this.delivery = new OtlpDelivery(options, 'traces');
    this.envelope = envelopeOf(options.serviceName);
  }

  /** A run has paused or ended. Returns at once, and never fails. */
  rested(run: EndedRun): void {
    if (this.isClosed || isUnwanted(run)) return;
    this.waiting.push(run);
    this.steps += run.steps.length;
    while (this.waiting.length > waitingRuns || (this.steps > waitingSteps && this.waiting.length > 1)) {
      this.steps -= this.waiting.shift()?.steps.length ?? 0;
      this.drop(1, 'the collector is too slow');
    }
    if (this.sending !== undefined) return;
    if (this.steps >= spansAtOnce) this.send();
    else this.sendSoon();
  }

  /** Sends what is left, for at most so long. */
  async close(withinMs: number): Promise<void> {
    this.isClosed = true;
    this.delivery.hurry();
    this.send();
    const timeUp = setTimeout(() => this.delivery.abort(), withinMs);
    await this.sending;
    clearTimeout(timeUp);
  }

  private sendSoon(): void {
    this.timer ??= setTimeout(() => this.send(), delayMs);
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    // of many runs: whichever came last has no part in it
    this.sending ??= inNeutralContext(() => this.sendAll()).finally(() => {
      this.sending = undefined;
      // one that came in the last moment of it
      if (this.waiting.length > 0) this.sendSoon();
    });
  }

  private async sendAll(): Promise<void> {
    const [before, after] = this.envelope;
    for (;;) {
      const { runs, spans } = await this.nextBatch();
      if (spans.length === 0) return;
      try {
        const { rejected } = await this.delivery.deliver(before + spans.join(',') + after);
        if (rejected > 0) this.options.log.warn({ spans: rejected }, 'the collector refused some spans');
        if (this.isFailing) this.recovered();
      } catch (error) {
        const reason = error instanceof NotDelivered ? error.message : String(error);
        this.drop(runs, reason);
      }
    }
  }

  /** As much as one request takes, and of how many runs. */
  private async nextBatch(): Promise<{ runs: number; spans: string[] }> {
    const spans: string[] = [];
    let characters = 0;
    let pausedAt = 0;
    let runs = 0;
    while (spans.length < spansAtOnce && characters <= charactersAtOnce) {
      const span = this.rest.next();
      if (!span.done) {
        characters += span.value.length;
        spans.push(span.value);
        if (characters - pausedAt < charactersInOneGo) continue;
        pausedAt = characters;
      } else {
        const next = this.waiting.shift();
        if (next === undefined) break;
        this.steps -= next.steps.length;
        runs += 1;
        this.rest = this.linesOf(next, await this.spansOf(next));
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { runs, spans };
  }

  private async spansOf(rested: EndedRun): Promise<readonly Span[]> {
    try {
      return await this.options.spans(rested);
    } catch (error) {
      this.unmade(rested, error);
      return [];
    }
  }

  private *linesOf(rested: EndedRun, all: readonly Span[]): Generator<string> {
    const { run, steps } = rested;
    try {
      const spans = [...spansSinceRest(run, steps, all)];
      // what a span has in it is let go with the span
      for (let span = spans.shift(); span !== undefined; span = spans.shift()) yield otlpSpan(span, run);
    } catch (error) {
      this.unmade(rested, error);
    }
  }

  private unmade({ run: { runId } }: EndedRun, error: unknown): void {
    this.options.log.error({ err: error, runId }, 'the trace of a run could not be made');
  }

  /** Said once, until the collector takes something again. */
  private drop(runs: number, reason: string): void {
    this.dropped += runs;
    if (this.isFailing) return;
    this.isFailing = true;
    const facts = { collector: this.delivery.place, reason };
    this.options.log.warn(facts, 'traces could not be sent to the collector and are dropped');
  }

  private recovered(): void {
    const facts = { collector: this.delivery.place, droppedRuns: this.dropped };
    this.options.log.info(facts, 'the collector takes traces again');
    this.isFailing = false;
    this.dropped = 0;
  }
}

/** The system that began the trace has decided that it is not recorded. */
function isUnwanted({ run: { traceParent } }: EndedRun): boolean {
  return traceParent !== null && parseTraceParent(traceParent)?.sampled === false;
}

/** What stands around the spans of a request: before them, and after them. */
function envelopeOf(serviceName: string): readonly [string, string] {
  const { resource, scope } = otlpOrigin(serviceName);
  const empty = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [] }] }] });
  const at = empty.lastIndexOf('[]') + 1;
  return [empty.slice(0, at), empty.slice(at)];
}
