import { NetworkError } from '@runyard/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { reportReached, reportUnreachable } from './reachability.js';

/** The client of the service repeats what failed in the network, so queries do not. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticed, onSuccess: reportReached }),
  mutationCache: new MutationCache({ onError: noticed, onSuccess: reportReached }),
  defaultOptions: {
    queries: { retry: false, staleTime: 5_000, gcTime: 300_000, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

function noticed(error: unknown): void {
  if (error instanceof NetworkError) reportUnreachable();
}
