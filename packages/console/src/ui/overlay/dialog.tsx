import X from 'lucide-react/icons/x';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { IconButton } from '../button.js';
import { cx } from '../class-names.js';

export interface DialogProps {
  readonly open: boolean;
  /** Left out: the dialog can only be left by what is in it. */
  readonly onClose?: (() => void) | undefined;
  readonly title: string;
  /** Whether the title is shown, or only read aloud. */
  readonly titleShown?: boolean;
  readonly footer?: ReactNode;
  readonly place?: 'center' | 'top' | 'left' | 'right';
  readonly size?: 'small' | 'medium' | 'large';
  readonly children: ReactNode;
}

const places = {
  center: 'm-auto max-h-[calc(100dvh-2rem)] rounded-xl',
  top: 'mx-auto mt-[10dvh] max-h-[70dvh] rounded-xl',
  left: 'my-0 mr-auto ml-0 h-dvh max-h-dvh rounded-none',
  right: 'my-0 mr-0 ml-auto h-dvh max-h-dvh rounded-none',
};

const sizes = { small: 'max-w-sm', medium: 'max-w-lg', large: 'max-w-3xl' };

/**
 * The browser's own modal dialog: it keeps the focus, closes with Escape, makes the page behind it inert, and needs no
 * style that the content security policy would refuse.
 */
export function Dialog({ open, ...rest }: DialogProps) {
  return open ? <OpenDialog {...rest} /> : null;
}

function OpenDialog({
  onClose,
  title,
  titleShown = true,
  footer,
  place = 'center',
  size = 'medium',
  children,
}: Omit<DialogProps, 'open'>) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const side = place === 'left' || place === 'right';
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too; a click beside it is a shortcut.
    <dialog
      ref={element}
      aria-labelledby={id}
      className={cx(
        'w-[calc(100vw-2rem)] overflow-hidden border border-line bg-raised p-0 text-text shadow-raised',
        places[place],
        sizes[size],
      )}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose?.();
      }}
    >
      <div className={cx('flex max-h-[inherit] flex-col', side && 'h-full')}>
        <header className={titleShown ? 'flex items-center gap-2 px-5 pt-4 pb-2' : 'sr-only'}>
          <h2 id={id} className="min-w-0 flex-1 text-base font-semibold">
            {title}
          </h2>
          {onClose && titleShown && (
            <IconButton size="small" label="Close" onClick={onClose}>
              <X aria-hidden className="size-4" />
            </IconButton>
          )}
        </header>
        <div className={cx('min-h-0 flex-1 overflow-y-auto', titleShown && 'px-5 pb-5')}>{children}</div>
        {footer && (
          <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
            {footer}
          </footer>
        )}
      </div>
    </dialog>
  );
}

/** A dialog at the side of the window, for details and for the navigation of small screens. */
export function Drawer({
  side = 'right',
  ...rest
}: Omit<DialogProps, 'place'> & { readonly side?: 'left' | 'right' }) {
  return <Dialog place={side} {...rest} />;
}
