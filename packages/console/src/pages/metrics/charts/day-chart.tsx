import 'uplot/dist/uPlot.min.css';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { formatTokens } from '../../../ui/format/numbers.js';
import type { Day } from '../days.js';

export interface Series {
  readonly label: string;
  /** A colour of the style sheet, such as `--accent`. */
  readonly color: string;
  of(day: Day): number;
}

export interface DayChartProps {
  readonly title: string;
  readonly days: readonly Day[];
  /** From the bottom to the top of each bar. */
  readonly series: readonly Series[];
}

const height = 200;
const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Stacked bars by day. The arrow keys move through the days; the table of the page has the same numbers. */
export function DayChart({ title, days, series }: DayChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const [at, setAt] = useState<number>();
  const theme = useTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are those of the theme.
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const plot = new uPlot(
      options(series, element.clientWidth, (index) => setAt(index)),
      stacked(days, series),
      element,
    );
    chart.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
      chart.current = undefined;
    };
  }, [days, series, theme]);
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const move = moves[event.key];
    const plot = chart.current;
    if (move === undefined || !plot) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(days.length - 1, (at ?? (move > 0 ? -1 : days.length)) + move));
    const time = plot.data[0][next];
    if (time !== undefined) plot.setCursor({ left: plot.valToPos(time, 'x'), top: 0 });
    setAt(next);
  };
  const day = at === undefined ? undefined : days[at];
  return (
    <figure className="min-w-0">
      <figcaption className="flex min-h-6 flex-wrap items-center gap-x-4 gap-y-1 pb-2 text-xs">
        {series.map(({ label, color, of }) => (
          <span key={label} className="inline-flex items-center gap-1.5">
            <span aria-hidden className="size-2.5 rounded-sm" style={{ background: `var(${color})` }} />
            {label}
            {day && <strong>{formatTokens(of(day))}</strong>}
          </span>
        ))}
        <span aria-live="polite" className="text-muted">
          {day ? dayFormat.format(Date.parse(day.date)) : ''}
        </span>
      </figcaption>
      <div
        ref={holder}
        role="img"
        tabIndex={0}
        aria-label={`${title} by day, as bars. The left and right arrow keys move through the days; the table below has the numbers.`}
        className="min-w-0 overflow-hidden rounded focus-visible:outline-2"
        style={{ height }}
        onKeyDown={onKeyDown}
      />
    </figure>
  );
}

/** Each series begins where the one below it ends. The highest is drawn first, so that the others cover it. */
function stacked(days: readonly Day[], series: readonly Series[]): uPlot.AlignedData {
  const sums = series.map((_, at) =>
    days.map((day) => series.slice(0, at + 1).reduce((total, { of }) => total + of(day), 0)),
  );
  return [days.map(({ date }) => Date.parse(date) / 1_000), ...sums.toReversed()];
}

function options(
  series: readonly Series[],
  width: number,
  onDay: (index: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
  };
  return {
    width,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    // days are those of UTC
    tzDate: (time) => uPlot.tzDate(new Date(time * 1_000), 'Etc/UTC'),
    scales: {
      // half a day on each side, so that the first and the last bar are whole
      x: { range: (_plot, low, high) => [low - 43_200, high + 43_200] },
      y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 60,
        incrs: [1, 2, 7, 14, 30, 61, 91, 182, 365].map((count) => count * 86_400),
        values: (_plot, times) => times.map((time) => dayFormat.format(time * 1_000)),
      },
      {
        ...axis,
        size: 52,
        values: (_plot, values) => values.map((value) => (value % 1 === 0 ? formatTokens(value) : '')),
      },
    ],
    series: [
      {},
      ...series.toReversed().map(
        ({ label, color: name }): uPlot.Series => ({
          label,
          fill: color(name),
          stroke: color(name),
          width: 0,
          points: { show: false },
          ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.7, 28] }) }),
        }),
      ),
    ],
    hooks: { setCursor: [({ cursor }) => onDay(cursor.idx ?? undefined)] },
  };
}

/** Charts take their colours when they are made: they are made again when the theme changes. */
function useTheme(): string {
  const [theme, setTheme] = useState(themeNow);
  useEffect(() => {
    const observer = new MutationObserver(() => setTheme(themeNow()));
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => observer.disconnect();
  }, []);
  return theme;
}

function themeNow(): string {
  return document.documentElement.dataset.theme ?? '';
}
