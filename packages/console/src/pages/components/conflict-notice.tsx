import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Button } from '../../ui/button.js';
import { CodeBlock } from '../../ui/content/code-block.js';
import { Time } from '../../ui/format/time.js';
import { jsonText } from '../../ui/forms/json-text.js';
import { ErrorLine } from '../../ui/states.js';

export interface ConflictNoticeProps {
  readonly componentId: string;
  readonly version: number;
  /** What the person wrote. */
  readonly mine: string;
  onReload(): void;
  onOverwrite(revision: number): void;
}

/** Another editor was faster: a person sees both, and chooses. */
export function ConflictNotice({ componentId, version, mine, onReload, onOverwrite }: ConflictNoticeProps) {
  const { client } = useConnection();
  const [comparing, setComparing] = useState(false);
  const theirs = useQuery({
    queryKey: ['component-conflict', componentId, version, mine],
    staleTime: 0,
    queryFn: ({ signal }) => client.components.getConfig(componentId, version, { signal }),
  });
  return (
    <div role="alert" className="flex flex-col gap-3 rounded-lg bg-warning-soft px-4 py-3 text-warning">
      <p>
        <strong>Another editor saved this draft.</strong> {theirs.data?.updated_by}{' '}
        {theirs.data && <Time at={theirs.data.updated_at} />} Nothing of yours is stored yet.
      </p>
      {theirs.error && <ErrorLine error={theirs.error} />}
      <div className="flex flex-wrap gap-2">
        <Button size="small" aria-expanded={comparing} onClick={() => setComparing(!comparing)}>
          {comparing ? 'Hide both' : 'Compare'}
        </Button>
        <Button size="small" onClick={onReload}>
          Load theirs, drop mine
        </Button>
        {theirs.data && (
          <Button size="small" variant="danger" onClick={() => onOverwrite(theirs.data.revision)}>
            Overwrite with mine
          </Button>
        )}
      </div>
      {comparing && theirs.data && (
        <div className="grid grid-cols-1 gap-3 text-text lg:grid-cols-2">
          <CodeBlock language="Theirs" code={jsonText(theirs.data.config ?? {})} />
          <CodeBlock language="Yours" code={mine} />
        </div>
      )}
    </div>
  );
}
