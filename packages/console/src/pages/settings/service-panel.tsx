import { useQuery } from '@tanstack/react-query';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { Badge } from '../../ui/badge.js';
import { formatCount } from '../../ui/format/numbers.js';
import { KeyValue } from '../../ui/key-value.js';
import { Panel } from '../../ui/panel.js';

const authModes = {
  none: 'none: everyone may do everything',
  security_key: 'a security key',
  jwt: 'tokens (JWT)',
};

/** What the service is, and what is turned on. */
export function ServicePanel() {
  const { client, address } = useConnection();
  const mayConfig = useMay()('config:read');
  const info = useQuery({
    queryKey: ['info', address],
    queryFn: ({ signal }) => client.service.getInfo({ signal }),
  });
  const config = useQuery({
    queryKey: ['config', address],
    enabled: mayConfig,
    queryFn: ({ signal }) => client.service.getConfig({ signal }),
  });
  return (
    <Panel title="About this service">
      <Loaded query={info}>
        {(found) => (
          <KeyValue
            entries={[
              ['Name', found.name],
              ['Id', <code key="id">{found.os_id}</code>],
              ['Version', found.version],
              ['Authentication', authModes[found.auth_mode]],
              [
                'Runs',
                `${found.runs.executing} of ${found.runs.max_executing} in progress, ${found.runs.waiting} of ${found.runs.max_waiting} waiting`,
              ],
              [
                'Components',
                `${formatCount(found.agent_count)} agents, ${formatCount(found.team_count)} teams, ${formatCount(found.workflow_count)} workflows`,
              ],
              [
                'Runs without a component',
                found.orphaned_runs && found.orphaned_runs.count > 0
                  ? `${formatCount(found.orphaned_runs.count)}: ${found.orphaned_runs.components.map(({ type, id, count }) => `${type} ${id} (${count})`).join(', ')}`
                  : undefined,
              ],
              ['MCP', found.mcp.enabled ? <code key="mcp">{found.mcp.path}</code> : 'off'],
              [
                'Interfaces',
                config.data && (
                  <span className="flex flex-wrap gap-1">
                    {config.data.interfaces.length === 0 && 'none'}
                    {config.data.interfaces.map(({ type, route }) => (
                      <Badge key={`${type} ${route}`}>
                        {type} {route}
                      </Badge>
                    ))}
                  </span>
                ),
              ],
              ['Databases', config.data?.databases.join(', ')],
              ['Models', config.data?.available_models?.join(', ')],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
