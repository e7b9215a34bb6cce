import RotateCw from 'lucide-react/icons/rotate-cw';
import X from 'lucide-react/icons/x';
import { IconButton } from '../../ui/button.js';
import { formatBytes } from '../../ui/format/numbers.js';
import { ProgressBar } from '../../ui/progress-bar.js';
import { explained } from '../../ui/states.js';
import { dropUpload, retryUpload, type Upload, useUploads } from './uploads.js';

/** Files that are being sent. Those that have arrived are in the list of documents. */
export function UploadsList({ baseId }: { readonly baseId: string | undefined }) {
  const uploads = useUploads(baseId);
  if (uploads.length === 0) return null;
  return (
    <ul aria-label="Uploads" className="mb-3 divide-y divide-line rounded-lg border border-line bg-surface">
      {uploads.map((upload) => (
        <Row key={upload.id} upload={upload} />
      ))}
    </ul>
  );
}

function Row({ upload: { id, file, state, percent, error } }: { readonly upload: Upload }) {
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <span className="min-w-0 truncate font-medium">{file.name}</span>
          <span className="shrink-0 text-xs text-muted">{formatBytes(file.size)}</span>
          <span className="ml-auto shrink-0 text-xs text-muted">
            {state === 'waiting' ? 'waiting' : state === 'sending' ? `${Math.round(percent)} %` : 'not sent'}
          </span>
        </div>
        {state === 'failed' ? (
          <p role="alert" className="text-xs text-danger [overflow-wrap:anywhere]">
            {explained(error).detail}
          </p>
        ) : (
          <ProgressBar className="mt-1.5" label={`Upload of ${file.name}`} percent={percent} />
        )}
      </div>
      {state === 'failed' && (
        <IconButton size="small" label={`Send ${file.name} again`} onClick={() => retryUpload(id)}>
          <RotateCw aria-hidden className="size-3.5" />
        </IconButton>
      )}
      <IconButton
        size="small"
        label={state === 'failed' ? `Remove ${file.name}` : `Stop the upload of ${file.name}`}
        onClick={() => dropUpload(id)}
      >
        <X aria-hidden className="size-3.5" />
      </IconButton>
    </li>
  );
}
