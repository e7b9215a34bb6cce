export type FilterField =
  | 'status'
  | 'user_id'
  | 'agent_id'
  | 'team_id'
  | 'workflow_id'
  | 'session_id'
  | 'run_id'
  | 'name'
  | 'trace_id'
  | 'duration_ms'
  | 'start_time'
  | 'end_time'
  | 'created_at';

export type FieldType = 'enum' | 'string' | 'number' | 'datetime';

/** A field as a user interface offers it. Searches take every operator for every field. */
export interface FieldDescription {
  readonly key: FilterField;
  readonly label: string;
  readonly type: FieldType;
  readonly operators: readonly string[];
  readonly values: readonly string[] | null;
}

const ofTexts = ['EQ', 'NEQ', 'CONTAINS', 'STARTSWITH', 'IN'];
const ofTimes = ['GT', 'GTE', 'LT', 'LTE'];

const text = (key: FilterField, label: string): FieldDescription => ({
  key,
  label,
  type: 'string',
  operators: ofTexts,
  values: null,
});

const time = (key: FilterField, label: string): FieldDescription => ({
  key,
  label,
  type: 'datetime',
  operators: ofTimes,
  values: null,
});

/** All fields that a filter may name. */
export const filterFields: readonly FieldDescription[] = [
  { key: 'status', label: 'Status', type: 'enum', operators: ['EQ', 'NEQ', 'IN'], values: ['OK', 'ERROR'] },
  text('user_id', 'User ID'),
  text('agent_id', 'Agent ID'),
  text('team_id', 'Team ID'),
  text('workflow_id', 'Workflow ID'),
  text('session_id', 'Session ID'),
  text('run_id', 'Run ID'),
  { ...text('name', 'Trace Name'), operators: ofTexts.filter((operator) => operator !== 'IN') },
  text('trace_id', 'Trace ID'),
  {
    key: 'duration_ms',
    label: 'Duration (ms)',
    type: 'number',
    operators: ['EQ', 'NEQ', ...ofTimes],
    values: null,
  },
  time('start_time', 'Start Time'),
  time('end_time', 'End Time'),
  time('created_at', 'Created At'),
];

export const filterSchema = { fields: filterFields, logical_operators: ['AND', 'OR'] } as const;

const types = new Map<string, FieldType>(filterFields.map(({ key, type }) => [key, type]));

export function isFilterField(key: string): key is FilterField {
  return types.has(key);
}

/** What kind of values the field is compared with. */
export function typeOfField(field: FilterField): FieldType {
  return types.get(field) ?? 'string';
}
