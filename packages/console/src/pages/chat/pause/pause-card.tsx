import type { FormEvent, ReactNode } from 'react';
import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { ErrorLine } from '../../../ui/states.js';

export interface PauseCardProps {
  readonly title: ReactNode;
  readonly detail?: ReactNode;
  readonly children?: ReactNode;
  /** The buttons. */
  readonly actions?: (busy: boolean) => ReactNode;
  /** When the form is submitted. The card stays until the run continues, and shows why it does not. */
  onSubmit?(): Promise<unknown> | undefined;
}

/** Something that a run waits for. */
export function PauseCard({ title, detail, children, actions, onSubmit }: PauseCardProps) {
  const { busy, error, run } = useBusy();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (onSubmit) run(onSubmit);
  };
  return (
    <form
      aria-label={typeof title === 'string' ? title : 'The run waits for an answer'}
      className="my-2 flex min-w-0 flex-col gap-3 rounded-lg border border-line border-l-2 border-l-warning bg-surface p-3"
      noValidate
      onSubmit={submit}
    >
      <div>
        <p className="font-medium [overflow-wrap:anywhere]">{title}</p>
        {detail && <div className="text-muted [overflow-wrap:anywhere]">{detail}</div>}
      </div>
      {children}
      {error !== undefined && <ErrorLine error={error} />}
      {actions && <div className="flex flex-wrap gap-2">{actions(busy)}</div>}
    </form>
  );
}

/** Work that takes time, once at a time, with the error that it ended with. */
export function useBusy() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (work: () => Promise<unknown> | undefined) => {
    const promise = work();
    if (promise === undefined) return;
    setBusy(true);
    setError(undefined);
    promise.catch(setError).finally(() => setBusy(false));
  };
  return { busy, error, run };
}

/** Any call can be left without what it asks for: it is then not executed. */
export function Decline({ isBusy, decline }: { readonly isBusy: boolean; decline(): Promise<unknown> }) {
  const { busy, run } = useBusy();
  return (
    <Button disabled={isBusy} busy={busy} onClick={() => run(decline)}>
      Decline
    </Button>
  );
}
