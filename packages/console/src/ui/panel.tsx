import type { ReactNode } from 'react';
import { cx } from './class-names.js';

export interface PanelProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  /** Without it the content reaches the border, as tables do. */
  readonly padded?: boolean;
  readonly children: ReactNode;
}

/** A part of a page with a border. */
export function Panel({ title, actions, className, padded = true, children }: PanelProps) {
  return (
    <section className={cx('min-w-0 rounded-lg border border-line bg-surface', className)}>
      {(title || actions) && (
        <header className="flex min-h-11 flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
          <h2 className="min-w-0 flex-1 text-sm font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      <div className={cx(padded && 'p-4')}>{children}</div>
    </section>
  );
}
