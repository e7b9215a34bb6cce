import Search from 'lucide-react/icons/search';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../button.js';
import { Input } from './inputs.js';

/** Filters above a list. They wrap on narrow screens. */
export function FilterBar({
  children,
  onClear,
}: {
  readonly children: ReactNode;
  /** Left out while nothing is filtered. */
  readonly onClear?: (() => void) | undefined;
}) {
  return (
    <search className="flex flex-wrap items-center gap-2 pb-3 max-sm:[&>select]:max-w-none max-sm:[&>select]:flex-1 max-sm:[&>select]:basis-36">
      {children}
      {onClear && (
        <Button variant="ghost" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </search>
  );
}

const pauseMs = 250;

/** A text to search for. It is reported when a person pauses, not at every letter. */
export function SearchInput({
  value,
  onChange,
  label,
}: {
  readonly value: string;
  onChange(value: string): void;
  readonly label: string;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <div className="relative min-w-36 flex-1 sm:max-w-xs">
      <Search aria-hidden className="absolute top-2 left-2.5 size-4 text-muted" />
      <Input
        type="search"
        aria-label={label}
        placeholder={label}
        className="pl-8"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}
