import type { Content } from '@runyard/client';
import { StatusBadge } from '../../ui/badge.js';
import { ProgressBar } from '../../ui/progress-bar.js';
import type { JobState } from './job-progress.js';

/** The state of a content with what there is to say about it: progress, or why it failed. */
export function ContentStatus({
  content: { name, id, status, status_message },
  job,
}: {
  readonly content: Content;
  readonly job: JobState | undefined;
}) {
  if (status === null) return null;
  const isProcessing = status === 'processing';
  const message = isProcessing ? job?.message : status_message;
  return (
    <div className="min-w-28">
      <StatusBadge status={status} />
      {isProcessing && (
        <ProgressBar className="mt-1.5" label={`Processing of ${name ?? id}`} percent={job?.percent} />
      )}
      {message && (
        <p className="mt-0.5 max-w-72 text-xs whitespace-normal text-muted [overflow-wrap:anywhere]">
          {message}
        </p>
      )}
    </div>
  );
}
