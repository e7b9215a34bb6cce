import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../connection/use-connection.js';

/** Whether requests name the user: where tokens do not. */
export function useNamesUser(): boolean {
  const { client, address } = useConnection();
  const { data } = useQuery({
    queryKey: ['info', address],
    queryFn: ({ signal }) => client.service.getInfo({ signal }),
    staleTime: 60_000,
  });
  return data !== undefined && data.auth_mode !== 'jwt';
}
