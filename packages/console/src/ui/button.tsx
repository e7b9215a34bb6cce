import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { cx } from './class-names.js';
import { Spinner } from './spinner.js';
import { Tooltip } from './tooltip.js';

type Variant = 'primary' | 'secondary' | 'ghost' | 'danger';

const variants: Record<Variant, string> = {
  primary: 'bg-accent text-on-accent border-transparent hover:not-disabled:bg-accent-hover',
  secondary: 'bg-surface text-text border-line hover:not-disabled:bg-hover',
  ghost: 'bg-transparent text-text border-transparent hover:not-disabled:bg-hover',
  danger: 'bg-surface text-danger border-line hover:not-disabled:bg-danger-soft',
};

const common =
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none transition-colors disabled:cursor-not-allowed disabled:opacity-55';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: Variant;
  readonly size?: 'small' | 'medium';
  /** Shows that the work is in progress, and takes no further click. */
  readonly busy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({
  variant = 'secondary',
  size = 'medium',
  busy = false,
  className,
  children,
  disabled,
  type = 'button',
  ...rest
}: ButtonProps) {
  const sized = size === 'small' ? 'h-7 px-2 text-xs' : 'h-8 px-3 text-sm';
  return (
    <button
      type={type}
      className={cx(common, sized, variants[variant], className)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'aria-label'> {
  /** Read aloud, and shown as a tooltip. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A button that shows only an icon. */
export function IconButton({
  label,
  variant = 'ghost',
  size = 'medium',
  busy = false,
  className,
  children,
  disabled,
  type = 'button',
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip text={label}>
      <button
        type={type}
        aria-label={label}
        className={cx(common, size === 'small' ? 'size-7' : 'size-8', variants[variant], className)}
        disabled={disabled || busy}
        {...rest}
      >
        {busy ? <Spinner /> : children}
      </button>
    </Tooltip>
  );
}
