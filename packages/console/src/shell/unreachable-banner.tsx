import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useConnection } from '../connection/use-connection.js';
import { reportReached, useReachable } from '../data/reachability.js';
import { Button } from '../ui/button.js';

const lookMs = 3_000;

/** Says that the service does not respond, and notices when it does again. What is on the page stays. */
export function UnreachableBanner() {
  return useReachable() ? null : <Banner />;
}

function Banner() {
  const { client, address } = useConnection();
  const queries = useQueryClient();
  useEffect(() => {
    const look = async () => {
      await client.service.healthCheck({ retries: 0 });
      reportReached();
      await queries.invalidateQueries();
    };
    const timer = setInterval(() => look().catch(() => undefined), lookMs);
    return () => clearInterval(timer);
  }, [client, queries]);
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-warning-soft px-4 py-2 text-warning"
    >
      <p className="min-w-0 flex-1">
        The service at {address || location.host} does not respond. The console tries again by itself.
      </p>
      <Button size="small" onClick={() => void queries.refetchQueries()}>
        Retry now
      </Button>
    </div>
  );
}
