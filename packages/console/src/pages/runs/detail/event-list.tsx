import { useState } from 'react';
import { cx } from '../../../ui/class-names.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { Drawer } from '../../../ui/overlay/dialog.js';
import { EmptyState, ErrorLine } from '../../../ui/states.js';
import { useVisibleRows } from '../../../ui/table/visible-rows.js';
import type { EventEntry, FollowedRun } from './run-events.js';

const rowHeight = 30;

/** All events of a run. Only those that are visible are drawn. */
export function EventList({ followed: { entries, state, error } }: { readonly followed: FollowedRun }) {
  const [opened, setOpened] = useState<EventEntry>();
  const visible = useVisibleRows(entries.length, rowHeight);
  const first = entries[0]?.at ?? 0;
  if (entries.length === 0 && state === 'ended')
    return (
      <EmptyState title="No events are stored">
        The service keeps events for some time after a run has ended. The trace shows its steps.
      </EmptyState>
    );
  return (
    <>
      {error !== undefined && <ErrorLine error={error} />}
      <div
        ref={visible.ref}
        tabIndex={0}
        className="max-h-[36rem] overflow-x-hidden overflow-y-auto rounded-lg border border-line bg-surface focus-visible:-outline-offset-2"
      >
        <ol aria-label="Events" className="relative" style={{ height: visible.height }}>
          {entries.slice(visible.first, visible.end).map((entry, at) => (
            <li
              key={entry.index}
              className="absolute inset-x-0"
              style={{ top: (visible.first + at) * rowHeight, height: rowHeight }}
            >
              <button
                type="button"
                className="flex h-full w-full items-center gap-3 px-3 text-left hover:bg-hover focus-visible:-outline-offset-2"
                onClick={() => setOpened(entry)}
              >
                <span className="w-10 shrink-0 text-right font-mono text-xs text-muted">{entry.index}</span>
                <span className="w-16 shrink-0 text-right text-xs text-muted max-sm:hidden">
                  +{entry.at - first} s
                </span>
                <span
                  className={cx('shrink-0', /Error|Cancelled/.test(entry.name) && 'text-danger')}
                  style={{ paddingLeft: Math.min(entry.depth, 8) * 14 }}
                >
                  {entry.name}
                </span>
                <span className="min-w-0 flex-1 truncate text-muted">
                  {[entry.subject, entry.count > 1 && `${entry.count} parts`, entry.text]
                    .filter(Boolean)
                    .join(' · ')}
                </span>
              </button>
            </li>
          ))}
        </ol>
      </div>
      <Drawer
        open={opened !== undefined}
        title={opened?.name ?? 'Event'}
        onClose={() => setOpened(undefined)}
      >
        {opened && opened.count > 1 && <p className="pb-3 whitespace-pre-wrap">{opened.text}</p>}
        {opened && <JsonView value={opened.event} depth={2} />}
      </Drawer>
    </>
  );
}
