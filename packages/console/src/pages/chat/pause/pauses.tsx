import { useCallback } from 'react';
import { Button } from '../../../ui/button.js';
import { ErrorLine } from '../../../ui/states.js';
import { useChat } from '../chat-context.js';
import type { Turn } from '../conversation/turn.js';
import { Note } from '../turn/note.js';
import { useBusy } from './pause-card.js';
import { isOpen, stepKey } from './requirement.js';
import { RequirementCard } from './requirement-card.js';
import { FailedStepCard, StepCard } from './step-card.js';
import { WaitingFor } from './waiting-for.js';

/** All that a paused run waits for. Each is answered on its own. */
export function Pauses({ turn }: { readonly turn: Turn }) {
  const { store } = useChat();
  const { key, view } = turn;
  const proceed = useCallback(() => store.continue(key, {}), [store, key]);
  if (view.status !== 'paused' || view.pause === undefined) return null;
  const { requirements, steps, errors, waitingFor } = view.pause;
  const open = requirements.filter(isOpen);
  if (open.length + steps.length + errors.length + waitingFor.length === 0)
    return <Note>The run waits, but the service does not say for what.</Note>;
  return (
    <>
      {open.map((requirement) => (
        <RequirementCard
          key={requirement.id}
          requirement={requirement}
          answer={(answer) => store.continue(key, { requirements: [answer] })}
          proceed={proceed}
        />
      ))}
      {steps.map((step) => (
        <StepCard
          key={stepKey(step)}
          step={step}
          answer={(answer) => store.continue(key, { step_requirements: [answer] })}
          proceed={proceed}
        />
      ))}
      {errors.map((requirement) => (
        <FailedStepCard
          key={stepKey(requirement)}
          requirement={requirement}
          answer={(answer) => store.continue(key, { error_requirements: [answer] })}
        />
      ))}
      {waitingFor.map((wait, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a workflow may wait for the same thing twice.
        <WaitingFor key={at} wait={wait} runId={view.runId} />
      ))}
      <CancelRun cancel={() => store.cancel(key)} />
    </>
  );
}

function CancelRun({ cancel }: { cancel(): Promise<void> }) {
  const { busy, error, run } = useBusy();
  return (
    <div className="flex items-center gap-2">
      <Button size="small" variant="ghost" className="text-muted" busy={busy} onClick={() => run(cancel)}>
        Cancel the run
      </Button>
      {error !== undefined && <ErrorLine error={error} />}
    </div>
  );
}
