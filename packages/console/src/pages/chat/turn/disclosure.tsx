import ChevronRight from 'lucide-react/icons/chevron-right';
import { type ReactNode, useId, useState } from 'react';
import { cx } from '../../../ui/class-names.js';

export interface DisclosureProps {
  readonly summary: ReactNode;
  /** Open until a person closes it, or closed until a person opens it. */
  readonly isOpen?: boolean;
  readonly className?: string;
  /** Made when it is opened. */
  readonly children: () => ReactNode;
}

/** A line that opens. */
export function Disclosure({ summary, isOpen = false, className, children }: DisclosureProps) {
  const [chosen, choose] = useState<boolean>();
  const id = useId();
  const open = chosen ?? isOpen;
  return (
    <div className={cx('min-w-0', className)}>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        className="group flex min-h-7 w-full min-w-0 items-center gap-1.5 rounded-md px-1.5 py-0.5 text-left hover:bg-hover"
        onClick={() => choose(!open)}
      >
        <ChevronRight
          aria-hidden
          className={cx('size-3.5 shrink-0 text-muted transition-transform', open && 'rotate-90')}
        />
        {summary}
      </button>
      {open && (
        <div id={id} className="mt-1 mb-2 ml-3 min-w-0 border-l border-line pl-3">
          {children()}
        </div>
      )}
    </div>
  );
}
