import { cx } from '../class-names.js';
import { CopyButton } from '../copy-button.js';

/** Text with its own lines, in a box that scrolls by itself. */
export function CodeBlock({
  code,
  language,
  wraps = false,
}: {
  readonly code: string;
  readonly language?: string | undefined;
  /** Prose has no lines of its own: long ones are broken. */
  readonly wraps?: boolean;
}) {
  return (
    <div className="group relative my-2 min-w-0 overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex h-8 items-center justify-between border-b border-line pr-1 pl-3 text-xs text-muted">
        <span className="truncate">{language || 'text'}</span>
        <CopyButton text={code} label="Copy code" />
      </div>
      <pre
        tabIndex={0}
        className={cx(
          'overflow-x-auto p-3 font-mono text-[0.8125rem] leading-relaxed',
          wraps && 'whitespace-pre-wrap [overflow-wrap:anywhere]',
        )}
      >
        <code>{code}</code>
      </pre>
    </div>
  );
}
