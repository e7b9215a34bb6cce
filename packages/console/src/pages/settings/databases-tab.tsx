import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { KeyValue } from '../../ui/key-value.js';
import { Panel } from '../../ui/panel.js';
import { MigrateDialog } from './migrate-dialog.js';

const tones: Readonly<Record<string, Tone>> = { current: 'success', older: 'warning', newer: 'warning' };

/** The schema of each database, and its migrations. */
export function DatabasesTab() {
  const { client, address } = useConnection();
  const mayMigrate = useMay()('config:write');
  const [migrating, setMigrating] = useState<{ readonly id: string; readonly version: number }>();
  const databases = useQuery({
    queryKey: ['databases', address],
    queryFn: ({ signal }) => client.databases.list({ signal }),
  });
  return (
    <Loaded query={databases}>
      {(found) => (
        <div className="flex flex-col gap-4">
          {found.map(({ db_id, status, version, latest_version, pending, tables }) => (
            <Panel
              key={db_id}
              title={db_id}
              actions={
                mayMigrate && (
                  <Button
                    size="small"
                    variant={pending.length > 0 ? 'primary' : 'secondary'}
                    aria-label={`Migrate ${db_id}`}
                    onClick={() => setMigrating({ id: db_id, version: Number(latest_version) })}
                  >
                    Migrate…
                  </Button>
                )
              }
            >
              <KeyValue
                entries={[
                  [
                    'Schema',
                    <Badge key="status" tone={tones[status] ?? 'danger'}>
                      {status}
                    </Badge>,
                  ],
                  ['Version', `${version ?? 'unknown'} of ${latest_version}`],
                  [
                    'Pending',
                    pending.length > 0 ? (
                      <ol key="pending" className="list-inside">
                        {pending.map((step) => (
                          <li key={step.version}>
                            {step.version} {step.name}
                          </li>
                        ))}
                      </ol>
                    ) : undefined,
                  ],
                ]}
              />
              <details className="pt-3">
                <summary className="text-xs font-medium text-accent-text">{tables.length} tables</summary>
                <ul className="columns-1 gap-6 pt-2 text-xs sm:columns-2 lg:columns-3">
                  {tables.map((table) => (
                    <li key={table.name} className="flex justify-between gap-2">
                      <code className="truncate">{table.name}</code>
                      <span className="text-muted">since {table.version}</span>
                    </li>
                  ))}
                </ul>
              </details>
            </Panel>
          ))}
          {migrating && (
            <MigrateDialog
              databaseId={migrating.id}
              latest={migrating.version}
              onClose={() => setMigrating(undefined)}
            />
          )}
        </div>
      )}
    </Loaded>
  );
}
