import type { ReactNode } from 'react';
import { cx } from '../../../ui/class-names.js';

/** A line about a turn, which is not part of the answer. */
export function Note({
  tone = 'muted',
  children,
}: {
  readonly tone?: 'muted' | 'warning' | 'danger';
  readonly children: ReactNode;
}) {
  const colours = { muted: 'text-muted', warning: 'text-warning', danger: 'text-danger' };
  return (
    <div className={cx('flex flex-wrap items-center gap-2 text-xs [overflow-wrap:anywhere]', colours[tone])}>
      {children}
    </div>
  );
}
