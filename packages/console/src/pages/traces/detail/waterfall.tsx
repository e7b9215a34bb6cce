import type { TraceSpan } from '@runyard/client';
import ChevronRight from 'lucide-react/icons/chevron-right';
import CircleAlert from 'lucide-react/icons/circle-alert';
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { cx } from '../../../ui/class-names.js';
import { formatDuration } from '../../../ui/format/numbers.js';
import { useVisibleRows } from '../../../ui/table/visible-rows.js';
import { shortName, spaced } from '../trace-component.js';
import { type Period, type PlacedSpan, periodOf, shown } from './spans.js';

const rowHeight = 30;

const bars: Readonly<Record<string, string>> = {
  LLM: 'bg-accent',
  TOOL: 'bg-success',
  WAIT: 'bg-warning',
  GUARDRAIL: 'bg-muted',
};

const words: Readonly<Record<string, string>> = { LLM: 'model', WAIT: 'wait', GUARDRAIL: 'hook' };

/** The kind of a span for people. */
export function kindInWords({ type, name }: Pick<TraceSpan, 'type' | 'name'>): string {
  return /\.aexecute(?:_stream)?$/.test(name) ? 'step' : (words[type] ?? type.toLowerCase());
}

export interface WaterfallProps {
  readonly spans: readonly PlacedSpan[];
  readonly selected: string | undefined;
  onSelect(id: string): void;
  /** The person wants to read the selected span. */
  onOpen(): void;
}

/**
 * The tree of the spans with their times. One row has the focus of the whole tree, so that a trace of thousands of
 * spans draws only those that are visible.
 */
export function Waterfall({ spans, selected, onSelect, onOpen }: WaterfallProps) {
  const id = useId();
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => new Set());
  const [zoom, setZoom] = useState<Period>();
  const whole = useMemo(() => periodOf(spans), [spans]);
  const rows = useMemo(() => shown(spans, closed), [spans, closed]);
  const at = Math.max(
    0,
    rows.findIndex(({ span }) => span.id === selected),
  );
  const visible = useVisibleRows(rows.length, rowHeight);
  const period = zoom ?? whole;
  const current = rows[at];
  const { show } = visible;
  useEffect(() => show(at), [at, show]);

  const toggle = (span: string, open: boolean) => {
    const next = new Set(closed);
    if (open) next.delete(span);
    else next.add(span);
    setClosed(next);
  };
  const go = (row: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, row))];
    if (next) onSelect(next.span.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (current === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const { span, hasChildren, parent } = current;
    const isOpen = hasChildren && !closed.has(span.id);
    const page = Math.max(1, Math.floor((visible.ref.current?.clientHeight ?? rowHeight) / rowHeight) - 1);
    const moves = new Map([
      ['ArrowDown', at + 1],
      ['ArrowUp', at - 1],
      ['Home', 0],
      ['End', rows.length - 1],
      ['PageDown', at + page],
      ['PageUp', at - page],
    ]);
    const move = moves.get(event.key);
    if (move !== undefined) go(move);
    else if (event.key === 'ArrowRight' && isOpen) go(at + 1);
    else if (event.key === 'ArrowRight' && hasChildren) toggle(span.id, true);
    else if (event.key === 'ArrowLeft' && isOpen) toggle(span.id, false);
    else if (event.key === 'ArrowLeft' && parent !== undefined) onSelect(parent);
    else if (event.key === 'Enter') onOpen();
    else if (event.key === 'z') setZoom(zoom ? undefined : zoomTo(current));
    else return;
    event.preventDefault();
  };
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface">
      <Scale period={period} zoomed={zoom !== undefined}>
        {zoom ? (
          <Button size="small" variant="ghost" onClick={() => setZoom(undefined)}>
            Show all
          </Button>
        ) : (
          <Button
            size="small"
            variant="ghost"
            disabled={!current}
            onClick={() => current && setZoom(zoomTo(current))}
          >
            Zoom to span
          </Button>
        )}
      </Scale>
      <div
        ref={visible.ref}
        role="tree"
        aria-label="Spans"
        tabIndex={0}
        aria-activedescendant={current && `${id}-${current.span.id}`}
        className="group relative max-h-[max(20rem,calc(100dvh-17rem))] overflow-x-hidden overflow-y-auto rounded-b-lg focus-visible:-outline-offset-2"
        onKeyDown={onKeyDown}
      >
        <div role="presentation" className="relative" style={{ height: visible.height }}>
          {rows.slice(visible.first, visible.end).map((row, index) => (
            <Row
              key={row.span.id}
              id={`${id}-${row.span.id}`}
              row={row}
              top={(visible.first + index) * rowHeight}
              period={period}
              isSelected={row === current}
              isOpen={!closed.has(row.span.id)}
              onSelect={() => onSelect(row.span.id)}
              onToggle={() => toggle(row.span.id, closed.has(row.span.id))}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function zoomTo({ start, end }: PlacedSpan): Period {
  const room = Math.max(1, (end - start) * 0.05);
  return { start: start - room, end: end + room };
}

function Scale({
  period,
  zoomed,
  children,
}: {
  readonly period: Period;
  readonly zoomed: boolean;
  readonly children: React.ReactNode;
}) {
  const length = period.end - period.start;
  return (
    <div className="flex h-9 items-center border-b border-line pr-3 pl-1 text-xs text-muted">
      <div className="w-1/2 min-w-0 truncate sm:w-5/12">{children}</div>
      <div aria-hidden className="flex flex-1 justify-between gap-2">
        <span>{zoomed ? '' : '0'}</span>
        <span className="max-sm:hidden">{zoomed ? '' : formatDuration(length / 2)}</span>
        <span>{formatDuration(length)}</span>
      </div>
    </div>
  );
}

interface RowProps {
  readonly id: string;
  readonly row: PlacedSpan;
  readonly top: number;
  readonly period: Period;
  readonly isSelected: boolean;
  readonly isOpen: boolean;
  onSelect(): void;
  onToggle(): void;
}

function Row({ id, row, top, period, isSelected, isOpen, onSelect, onToggle }: RowProps) {
  const { span, depth, hasChildren, position, siblings, start, end } = row;
  const length = period.end - period.start;
  const percent = (time: number) => Math.max(0, Math.min(100, (100 * (time - period.start)) / length));
  const left = percent(start);
  const width = percent(end) - left;
  const bar = span.status === 'ERROR' ? 'bg-danger' : (bars[span.type] ?? 'bg-line-strong');
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the tree.
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      aria-level={depth + 1}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={isSelected}
      {...(hasChildren && { 'aria-expanded': isOpen })}
      className={cx(
        'absolute inset-x-0 flex cursor-pointer items-center pr-3 pl-1',
        isSelected ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
      style={{ top, height: rowHeight }}
      onClick={onSelect}
    >
      <div
        className="flex w-1/2 min-w-0 items-center gap-1 pr-2 sm:w-5/12"
        style={{ paddingLeft: Math.min(depth, 12) * 14 }}
      >
        <span
          aria-hidden
          className={cx('flex size-5 shrink-0 items-center justify-center', !hasChildren && 'invisible')}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <ChevronRight className={cx('size-4 transition-transform', isOpen && 'rotate-90')} />
        </span>
        <span className="truncate">{shortName(span.name)}</span>
        {span.status === 'ERROR' && (
          <>
            <CircleAlert aria-hidden className="size-3.5 shrink-0 text-danger" />
            <span className="sr-only">failed</span>
          </>
        )}
        <span className="truncate text-xs text-muted max-sm:hidden">{kindInWords(span)}</span>
      </div>
      <div className="relative h-full flex-1">
        <div
          className={cx(
            'absolute top-1/2 -mt-1.5 h-3 min-w-0.5 rounded-sm',
            bar,
            span.status === 'UNSET' && 'animate-pulse',
          )}
          style={{ left: `${left}%`, width: `${width}%` }}
        />
        <span
          className={cx(
            'absolute top-1/2 -translate-y-1/2 px-1.5 text-xs whitespace-nowrap text-muted',
            isSelected && 'text-text',
          )}
          style={left + width > 70 ? { right: `${100 - left}%` } : { left: `${left + width}%` }}
        >
          {left + width > 70 && left < 15 ? '' : spaced(span.duration)}
        </span>
      </div>
    </div>
  );
}
