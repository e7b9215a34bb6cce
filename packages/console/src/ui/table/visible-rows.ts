import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';

export interface VisibleRows {
  /** Of the element that scrolls. */
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly first: number;
  /** Behind the last one. */
  readonly end: number;
  readonly height: number;
  show(row: number): void;
}

/** Rows around the visible ones are drawn too, so that scrolling shows no gap. */
const around = 12;

/** Which rows of a long list are visible. All rows have the same height; only those are drawn. */
export function useVisibleRows(count: number, rowHeight: number): VisibleRows {
  const ref = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, end: 60 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows may be visible when their number changes.
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = () => {
      const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - around);
      const end = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + around;
      setRange((before) => (before.first === first && before.end === end ? before : { first, end }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [rowHeight, count]);
  const show = useCallback(
    (row: number) => {
      const element = ref.current;
      if (element === null) return;
      const top = row * rowHeight;
      const bottom = top + rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (bottom > element.scrollTop + element.clientHeight)
        element.scrollTop = bottom - element.clientHeight;
    },
    [rowHeight],
  );
  return { ref, first: range.first, end: Math.min(count, range.end), height: count * rowHeight, show };
}
