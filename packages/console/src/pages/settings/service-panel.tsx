import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { KeyValue } from '../../ui/key-value.js';
import { Panel } from '../../ui/panel.js';

export function ServicePanel() {
  const { client, address } = useConnection();
  const info = useQuery({
    queryKey: ['info', address],
    queryFn: ({ signal }) => client.service.getInfo({ signal }),
  });
  return (
    <Panel title="About this service">
      <Loaded query={info}>
        {(found) => (
          <KeyValue
            entries={[
              ['Name', found.name],
              ['Version', found.version],
              ['Authentication', found.auth_mode],
              ['Runs', `${found.runs.executing} in progress, ${found.runs.waiting} waiting`],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
