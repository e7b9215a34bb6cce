import { type DragEvent, type ReactNode, useState } from 'react';
import { cx } from '../../ui/class-names.js';

/** A part of the page that takes files that are dropped on it, and pasted into it. */
export function DropZone({
  enabled,
  onFiles,
  children,
}: {
  readonly enabled: boolean;
  onFiles(files: readonly File[]): void;
  readonly children: ReactNode;
}) {
  const [over, setOver] = useState(false);
  if (!enabled) return children;
  const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes('Files');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut; the button Add does the same.
    <div
      className={cx(
        'relative',
        over && 'rounded-lg outline-2 outline-offset-4 outline-accent-text outline-dashed',
      )}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        const { relatedTarget: to } = event;
        if (!(to instanceof Node && event.currentTarget.contains(to))) setOver(false);
      }}
      onDrop={(event) => {
        setOver(false);
        if (!hasFiles(event)) return;
        event.preventDefault();
        onFiles([...event.dataTransfer.files]);
      }}
      onPaste={(event) => {
        const files = [...event.clipboardData.files];
        if (files.length > 0) onFiles(files);
      }}
    >
      {children}
      {over && (
        <p className="pointer-events-none absolute inset-x-0 top-0 rounded-lg bg-accent px-3 py-2 text-center font-medium text-on-accent">
          Drop the files to add them
        </p>
      )}
    </div>
  );
}
