import { useState } from 'react';
import { useClient } from '../../../connection/use-connection.js';
import { Button } from '../../../ui/button.js';
import { Time } from '../../../ui/format/time.js';
import { JsonField } from '../../../ui/forms/schema-form.js';
import { useChat } from '../chat-context.js';
import { textIn } from '../run/read-fields.js';
import type { Fields } from '../run/run-view.js';
import { PauseCard } from './pause-card.js';

/** A workflow waits for a time, or for an event that another program, or a person, sends to it. */
export function WaitingFor({ wait, runId }: { readonly wait: Fields; readonly runId: string }) {
  const client = useClient();
  const { componentId } = useChat();
  const [data, setData] = useState<unknown>();
  const step = textIn(wait.step_name);
  const name = textIn(wait.event_name);
  const where = step ? `Step “${step}” of the workflow` : 'The workflow';
  if (name === undefined)
    return (
      <PauseCard
        title={`${where} waits for a time`}
        detail={
          <>
            It continues <Time at={textIn(wait.until)} />.
          </>
        }
      />
    );
  return (
    <PauseCard
      title={`${where} waits for the event “${name}”`}
      detail={
        wait.timeout_at ? (
          <>
            Until <Time at={textIn(wait.timeout_at)} style="absolute" />.
          </>
        ) : (
          'Another program sends it, or you do.'
        )
      }
      onSubmit={() =>
        client.workflows.sendRunEvent(componentId, runId, {
          name,
          ...(data !== undefined && {
            // it was read from JSON
            data: data as NonNullable<Parameters<typeof client.workflows.sendRunEvent>[2]['data']>,
          }),
        })
      }
      actions={(busy) => (
        <Button type="submit" busy={busy}>
          Send the event
        </Button>
      )}
    >
      <JsonField label="Data of the event as JSON (optional)" value={data} onChange={setData} rows={2} />
    </PauseCard>
  );
}
