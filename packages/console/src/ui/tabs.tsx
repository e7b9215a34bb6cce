import { type KeyboardEvent, type ReactNode, useId } from 'react';
import { cx } from './class-names.js';

export interface Tab {
  readonly id: string;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly value: string;
  onChange(id: string): void;
}

/** Only the content of the chosen tab is there. */
export function Tabs({ label, tabs, value, onChange }: TabsProps) {
  const id = useId();
  const chosen = tabs.findIndex((tab) => tab.id === value);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const last = tabs.length - 1;
    const places: Record<string, number> = {
      ArrowRight: chosen === last ? 0 : chosen + 1,
      ArrowLeft: chosen <= 0 ? last : chosen - 1,
      Home: 0,
      End: last,
    };
    const at = places[event.key];
    const next = at === undefined ? undefined : tabs[at];
    if (at === undefined || next === undefined) return;
    event.preventDefault();
    onChange(next.id);
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[at]?.focus();
  };
  return (
    <div>
      <div
        role="tablist"
        aria-label={label}
        className="flex gap-1 overflow-x-auto border-b border-line"
        onKeyDown={onKeyDown}
      >
        {tabs.map((tab, at) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={at === chosen}
            aria-controls={at === chosen ? `${id}-panel` : undefined}
            // with no chosen one, the first takes the focus
            tabIndex={at === Math.max(0, chosen) ? 0 : -1}
            className={cx(
              '-mb-px border-b-2 px-3 py-2 font-medium whitespace-nowrap focus-visible:-outline-offset-2',
              at === chosen
                ? 'border-accent-text text-text'
                : 'border-transparent text-muted hover:text-text',
            )}
            onClick={() => onChange(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {tabs[chosen] && (
        <div
          key={value}
          role="tabpanel"
          id={`${id}-panel`}
          aria-labelledby={`${id}-${value}`}
          tabIndex={0}
          className="pt-4"
        >
          {tabs[chosen].content}
        </div>
      )}
    </div>
  );
}
