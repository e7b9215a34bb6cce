import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { isMoving } from '../measures.js';

const pollMs = 5_000;
const pauseMs = 300;

/** An eval. While it runs, its events say how far it is. */
export function useEval(evalId: string) {
  const { client, address } = useConnection();
  const queries = useQueryClient();
  const [message, setMessage] = useState<string>();
  const query = useQuery({
    queryKey: ['eval', address, evalId],
    queryFn: ({ signal }) => client.evals.get(evalId, {}, { signal }),
    refetchInterval: ({ state: { data } }) => (data && isMoving(data) ? pollMs : false),
  });
  const moving = query.data !== undefined && isMoving(query.data);
  useEffect(() => {
    if (!moving) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () => {
      timer = undefined;
      void queries.invalidateQueries({ queryKey: ['eval', address, evalId] });
    };
    const read = async () => {
      for await (const event of client.evals.followEvents(evalId, {}, { signal: controller.signal })) {
        if (event.event === 'JobProgress') setMessage(event.message);
        timer ??= setTimeout(load, pauseMs);
      }
      load();
    };
    // a failure of the stream leaves the slower way, which shows it if the service is gone
    read().catch(() => {});
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, queries, address, evalId, moving]);
  return { query, message: moving ? message : undefined };
}
