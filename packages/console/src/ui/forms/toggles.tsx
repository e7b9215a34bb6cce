import { type InputHTMLAttributes, type ReactNode, useId } from 'react';
import { cx } from '../class-names.js';

interface ToggleProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'type' | 'onChange'> {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  onChange(checked: boolean): void;
}

export function Checkbox(props: ToggleProps) {
  return <Toggle {...props} className={cx('mt-0.5 size-4 shrink-0 accent-accent', props.className)} />;
}

/** For what takes effect at once. */
export function Switch(props: ToggleProps) {
  return (
    <Toggle
      {...props}
      role="switch"
      className={cx(
        'relative mt-0.5 h-[18px] w-8 shrink-0 appearance-none rounded-full border border-line-strong bg-sunken transition-colors',
        'before:absolute before:top-0.5 before:left-0.5 before:size-3 before:rounded-full before:bg-line-strong before:transition-transform',
        'checked:border-accent checked:bg-accent checked:before:translate-x-3.5 checked:before:bg-on-accent',
        props.className,
      )}
    />
  );
}

function Toggle({ label, hint, onChange, ...rest }: ToggleProps) {
  const id = useId();
  return (
    <label className="flex items-start gap-2">
      <input
        type="checkbox"
        aria-describedby={hint ? id : undefined}
        {...rest}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className="min-w-0">
        {label}
        {hint && (
          <span id={id} className="block text-xs text-muted">
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}
