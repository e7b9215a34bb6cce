import { cronInWords, nextTicks, readersZone, tickText } from './cron.js';

const shown = 5;

/** An expression in words, and its next ticks in the reader's zone. */
export function CronPreview({ cron, timezone }: { readonly cron: string; readonly timezone: string }) {
  const { ticks, fault } = nextTicks(cron, timezone, shown);
  if (fault !== undefined)
    return (
      <p role="alert" className="text-xs text-danger">
        {fault}
      </p>
    );
  if (ticks.length === 0) return null;
  return (
    <section aria-label="Next ticks" className="rounded-lg bg-sunken px-3 py-2 text-xs">
      <p className="font-medium">
        {cronInWords(cron)} <span className="font-normal text-muted">({timezone})</span>
      </p>
      <ol className="flex flex-wrap gap-x-4 text-muted">
        {ticks.map((tick) => (
          <li key={tick.getTime()}>
            <time dateTime={tick.toISOString()}>{tickText(tick)}</time>
          </li>
        ))}
      </ol>
      {timezone !== readersZone && <p className="text-muted">In your time zone, {readersZone}.</p>}
    </section>
  );
}
