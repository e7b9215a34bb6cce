import { cx } from './class-names.js';

/** How far something is, from 0 to 100. Undefined: it is not known. */
export function ProgressBar({
  label,
  percent,
  className,
}: {
  readonly label: string;
  readonly percent: number | undefined;
  readonly className?: string;
}) {
  const known = percent === undefined ? undefined : Math.min(100, Math.max(0, percent));
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(known !== undefined && { 'aria-valuenow': Math.round(known) })}
      className={cx('h-1 overflow-hidden rounded-full bg-hover', className)}
    >
      <div
        className={cx('h-full rounded-full bg-accent-text', known === undefined && 'w-1/3 animate-pulse')}
        {...(known !== undefined && { style: { width: `${known}%` } })}
      />
    </div>
  );
}
