import {
  ApiError,
  ConflictError,
  type DatabaseMigrated,
  type DatabaseMigrationFailed,
} from '@runyard/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { StatusBadge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { CodeBlock } from '../../ui/content/code-block.js';
import { formatCount, formatDuration } from '../../ui/format/numbers.js';
import { Field } from '../../ui/forms/field.js';
import { Input } from '../../ui/forms/inputs.js';
import { Checkbox } from '../../ui/forms/toggles.js';
import { Dialog } from '../../ui/overlay/dialog.js';
import { ErrorLine } from '../../ui/states.js';

export interface MigrateDialogProps {
  readonly databaseId: string;
  readonly latest: number;
  onClose(): void;
}

/** Migrates a database: first the SQL, then the deed, then the report. */
export function MigrateDialog({ databaseId, latest, onClose }: MigrateDialogProps) {
  const { client } = useConnection();
  const queries = useQueryClient();
  const [version, setVersion] = useState(String(latest));
  const [force, setForce] = useState(false);
  const migrate = useMutation({
    mutationFn: (dryRun: boolean) =>
      client.databases.migrate(databaseId, { target_version: Number(version), dry_run: dryRun, force }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['databases'] }),
  });
  const { data, error } = migrate;
  const report = data ?? failedReport(error);
  const planned = data?.dry_run === true ? data : undefined;
  const losesData = (planned?.losses.length ?? 0) > 0 || isLoss(error);
  return (
    <Dialog
      open
      size="large"
      title={`Migrate ${databaseId}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button busy={migrate.isPending && migrate.variables} onClick={() => migrate.mutate(true)}>
            Show the SQL
          </Button>
          <Button
            variant={losesData ? 'danger' : 'primary'}
            busy={migrate.isPending && !migrate.variables}
            disabled={planned === undefined || planned.steps.length === 0 || (losesData && !force)}
            onClick={() => migrate.mutate(false)}
          >
            Migrate
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Field
          label="To version"
          hint={`The latest is ${latest}. A lower number goes back: make a backup first. Look at the SQL before you migrate.`}
        >
          <Input
            type="number"
            min={0}
            max={latest}
            className="max-w-32"
            value={version}
            onChange={(event) => {
              setVersion(event.target.value);
              setForce(false);
              migrate.reset();
            }}
          />
        </Field>
        {losesData && (
          <Checkbox
            label="Delete this data"
            hint="The rows below are gone after the downgrade. There is a backup of them."
            checked={force}
            onChange={setForce}
          />
        )}
        {error && <ErrorLine error={error} />}
        {report && <Report report={report} />}
      </div>
    </Dialog>
  );
}

type AnyReport = Pick<DatabaseMigrated, 'dry_run' | 'from_version' | 'to_version' | 'steps' | 'losses'>;

function Report({
  report: { dry_run, from_version, to_version, steps, losses },
}: {
  readonly report: AnyReport;
}) {
  return (
    <section aria-label="Report" className="flex flex-col gap-3">
      <p className="font-medium">
        {steps.length === 0
          ? `Nothing to do: the database has version ${from_version}.`
          : `Version ${from_version} → ${to_version}${dry_run ? ', nothing is executed yet' : ''}`}
      </p>
      {losses.length > 0 && (
        <ul
          aria-label="Data that is deleted"
          className="list-disc rounded-lg bg-danger-soft py-2 pl-8 text-danger"
        >
          {losses.map(({ table, column, rows, more }) => (
            <li key={`${table}.${column}`}>
              {formatCount(rows)}
              {more && ' or more'} {column === undefined ? 'rows' : `values of ${column}`} of {table}
            </li>
          ))}
        </ul>
      )}
      {steps.map(({ version, name, direction, status, ms, sql }) => (
        <div key={`${version} ${direction}`}>
          <p className="flex flex-wrap items-center gap-2">
            <StatusBadge status={status.replace('_', ' ')} />
            {version} {name} {direction === 'down' && '(down)'}
            {status === 'done' && <span className="text-muted">{formatDuration(ms)}</span>}
          </p>
          {sql && sql.length > 0 && <CodeBlock language="SQL" code={sql.join(';\n\n')} />}
        </div>
      ))}
    </section>
  );
}

/** A step that failed is reported with what was done before it. */
function failedReport(error: unknown): AnyReport | undefined {
  if (!(error instanceof ApiError)) return undefined;
  // a failed migration has the steps before the failure; another error does not
  const body = error.body as Partial<DatabaseMigrationFailed>;
  // as above
  return Array.isArray(body.steps) ? (body as DatabaseMigrationFailed) : undefined;
}

function isLoss(error: unknown): boolean {
  return error instanceof ConflictError && error.errorCode === 'downgrade_loses_data';
}
