import type { ReactNode } from 'react';
import { cx } from './class-names.js';

export type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger';

const tones: Record<Tone, string> = {
  neutral: 'bg-sunken text-muted',
  accent: 'bg-accent-soft text-accent-text',
  success: 'bg-success-soft text-success',
  warning: 'bg-warning-soft text-warning',
  danger: 'bg-danger-soft text-danger',
};

export function Badge({
  tone = 'neutral',
  className,
  children,
}: {
  readonly tone?: Tone;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={cx(
        'inline-flex h-5 items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap',
        tones[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}

/** The states of runs, evals, approvals, schedules, contents and traces. */
const statusTones: Readonly<Record<string, Tone>> = {
  pending: 'neutral',
  running: 'accent',
  processing: 'accent',
  reconnecting: 'warning',
  paused: 'warning',
  completed: 'success',
  approved: 'success',
  ok: 'success',
  success: 'success',
  enabled: 'success',
  published: 'success',
  error: 'danger',
  failed: 'danger',
  rejected: 'danger',
  cancelled: 'neutral',
  expired: 'neutral',
  regenerated: 'neutral',
  disabled: 'neutral',
  draft: 'neutral',
};

const moving = new Set(['running', 'processing', 'reconnecting']);

/** A state with its colour. The word says it too. */
export function StatusBadge({ status }: { readonly status: string }) {
  const name = status.toLowerCase();
  return (
    <Badge tone={statusTones[name] ?? 'neutral'}>
      <span
        aria-hidden
        className={cx('size-1.5 rounded-full bg-current', moving.has(name) && 'animate-pulse')}
      />
      {name === 'unset' ? 'running' : name}
    </Badge>
  );
}
