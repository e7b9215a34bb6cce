import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { Badge, StatusBadge } from '../../ui/badge.js';
import { Link } from '../../ui/link.js';
import { Panel } from '../../ui/panel.js';
import { EmptyState } from '../../ui/states.js';

/** What refers to a component: it cannot be deleted while a component uses it. */
export function UsersTab({ componentId }: { readonly componentId: string }) {
  const { client, address } = useConnection();
  const query = useQuery({
    queryKey: ['component-part', address, componentId, 'dependents'],
    queryFn: ({ signal }) => client.components.listDependents(componentId, { limit: 100 }, { signal }),
  });
  return (
    <Loaded query={query}>
      {({ data, schedules }) =>
        data.length + schedules.length === 0 ? (
          <EmptyState title="Nothing uses this component">
            Teams, workflows and schedules that name it appear here.
          </EmptyState>
        ) : (
          <div className="flex flex-col gap-4">
            {data.length > 0 && (
              <Panel title="Components" padded={false}>
                <ul className="divide-y divide-line">
                  {data.map((user) => (
                    <li
                      key={`${user.component_id}/${user.version}/${user.link_key}`}
                      className="flex flex-wrap items-center gap-2 px-4 py-2"
                    >
                      <Link to="/components/$componentId" params={{ componentId: user.component_id }}>
                        {user.name}
                      </Link>
                      <Badge>{user.component_type}</Badge>
                      <span className="text-muted">
                        version {user.version}
                        {user.is_current ? ', current' : ` (${user.stage})`}, {user.link_key}
                      </span>
                      <span className="ml-auto text-muted">
                        {user.child_version === undefined
                          ? 'takes the current version'
                          : `pins version ${user.child_version}`}
                      </span>
                    </li>
                  ))}
                </ul>
              </Panel>
            )}
            {schedules.length > 0 && (
              <Panel title="Schedules" padded={false}>
                <ul className="divide-y divide-line">
                  {schedules.map(({ id, name, endpoint, enabled, child_version }) => (
                    <li key={id} className="flex flex-wrap items-center gap-2 px-4 py-2">
                      <Link to="/schedules/$scheduleId" params={{ scheduleId: id }}>
                        {name}
                      </Link>
                      <StatusBadge status={enabled ? 'enabled' : 'disabled'} />
                      <code className="text-xs text-muted">{endpoint}</code>
                      {child_version !== undefined && (
                        <span className="ml-auto text-muted">pins version {child_version}</span>
                      )}
                    </li>
                  ))}
                </ul>
              </Panel>
            )}
          </div>
        )
      }
    </Loaded>
  );
}
