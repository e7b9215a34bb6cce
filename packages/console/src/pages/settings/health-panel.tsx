import { type Ready, UnavailableError } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { StatusBadge } from '../../ui/badge.js';
import { Time } from '../../ui/format/time.js';
import { KeyValue } from '../../ui/key-value.js';
import { Panel } from '../../ui/panel.js';

const refreshMs = 15_000;

/** Whether the service is there and ready, with each check. */
export function HealthPanel() {
  const { client, address } = useConnection();
  const health = useQuery({
    queryKey: ['health', address],
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => ({
      alive: await client.service.healthCheck({ signal }),
      ready: await readiness(() => client.service.readinessCheck({ signal, retries: 0 })),
    }),
  });
  return (
    <Panel title="Health">
      <Loaded query={health}>
        {({ alive, ready }) => (
          <KeyValue
            entries={[
              ['Responds', <StatusBadge key="alive" status={alive.status} />],
              ['Started', <Time key="started" at={alive.instantiated_at} />],
              ...checksOf(ready).map(
                ([name, status]) => [name, <StatusBadge key={name} status={status} />] as const,
              ),
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

/** A service that is not ready answers 503 with the same body. */
async function readiness(check: () => Promise<Ready>): Promise<Ready | undefined> {
  try {
    return await check();
  } catch (error) {
    // with the same body; a proxy may have sent another, which the reader of it expects
    if (error instanceof UnavailableError) return error.body as Ready;
    throw error;
  }
}

/** Each check by its name; the databases each on its own. */
function checksOf(ready: Ready | undefined): readonly (readonly [string, string])[] {
  if (ready === undefined || typeof ready.checks !== 'object') return [];
  return Object.entries(ready.checks).flatMap(([name, check]): (readonly [string, string])[] => {
    const { status } = Object(check);
    if (typeof status === 'string') return [[name === 'stopping' ? 'not stopping' : name, status]];
    return Object.entries(Object(check)).map(([id, one]) => [`${name}: ${id}`, String(Object(one).status)]);
  });
}
