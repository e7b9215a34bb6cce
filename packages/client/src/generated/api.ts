// Written by `npm run client-types` from the routes and events of the service.

import type { EventStream } from '../event-stream.js';
import type { CallOptions } from '../transport.js';
import type { ErrorRequirement, JobEvent, RequirementBody, StepRequirement, ToolCallBody } from './events.js';

/** An agent that can be run. */
export interface Agent {
  id: string;
  name: string;
  /** The database that holds its sessions. */
  db_id?: string;
  description?: string;
  role?: string;
  model?: {
    name?: string;
    model?: string;
    provider?: string;
  };
  tools?: { [name: string]: unknown };
  sessions?: { [name: string]: unknown };
  knowledge?: { [name: string]: unknown };
  memory?: { [name: string]: unknown };
  reasoning?: { [name: string]: unknown };
  default_tools?: { [name: string]: unknown };
  system_message?: { [name: string]: unknown };
  response_settings?: { [name: string]: unknown };
  introduction?: string;
  streaming?: { [name: string]: unknown };
  /** The limits that the definition sets for a run; null: no limit. */
  limits?: {
    turns?: number | null;
    steps?: number | null;
    tool_calls?: number | null;
    tokens?: number | null;
    cost?: number | null;
    time_ms?: number | null;
    bytes?: number | null;
  };
  metadata?: { [name: string]: unknown };
  input_schema?: { [name: string]: unknown };
  /** Whether it is built anew for each request. */
  is_factory: boolean;
  factory_input_schema?: { [name: string]: unknown };
  /** Whether it comes from the component store. */
  is_component: boolean;
  /** The published version that runs when a request names none. Only in lists. */
  current_version?: number;
  /** Whether this version is a draft or published. */
  stage?: string;
  /** The version of the stored component that is shown. */
  version?: number;
  /** Why a stored component cannot run. Only in lists: other requests are refused with the reason. */
  degraded?: string;
  extra_messages?: { [name: string]: unknown };
}

/** A tool call that waits for a decision or has one. */
export interface Approval {
  id: string;
  run_id: string;
  session_id: string;
  /** pending, approved, rejected, expired or cancelled. */
  status: string;
  /** agent, team or workflow. */
  source_type: string;
  /** required or audit. */
  approval_type: string;
  /** confirmation, user_input or external_execution. */
  pause_type: string;
  tool_name: string;
  /** The arguments of the call. */
  tool_args: { [name: string]: unknown };
  expires_at: number | null;
  agent_id: string | null;
  team_id: string | null;
  workflow_id: string | null;
  /** The requester: the user that the run belongs to. */
  user_id: string | null;
  schedule_id: string | null;
  schedule_run_id: string | null;
  source_name: string | null;
  requirements: { [name: string]: unknown }[] | null;
  context: { [name: string]: unknown };
  resolution_data: { [name: string]: unknown } | null;
  resolved_by: string | null;
  resolved_at: number | null;
  /** Seconds since 1970, UTC. */
  created_at: number;
  /** Seconds since 1970, UTC. */
  updated_at: number;
  /** The current status of the run; null when the run is deleted. */
  run_status: string | null;
}

/** How many approvals wait for a decision. */
export interface ApprovalCount {
  count: number;
}

/** A decision on an approval. */
export interface ApprovalResolve {
  /** approved: the call may be executed; rejected: it is not. */
  status: string;
  /** Who decides. The identity in the token of the caller overrides it. */
  resolved_by?: string | null;
  /** Data of the decision: for user_input, values by field name (also under values); for external_execution, the result. */
  resolution_data?: { [name: string]: unknown } | null;
}

/** The status of an approval. */
export interface ApprovalStatus {
  approval_id: string;
  status: string;
  run_id: string;
  resolved_at: number | null;
  resolved_by: string | null;
}

/** A page of a list. */
export interface ApprovalsPage {
  data: Approval[];
  meta: PageMeta;
}

/** A point in the conversation from which a run can continue. */
export interface Checkpoint {
  checkpoint_id: string | null;
  run_id: string;
  session_id: string;
  message_index: number;
  continue_from: number;
  status: string;
  reason: "checkpoint" | "end" | "snapshot";
  created_at: number;
  message_id: string | null;
  message_role: string | null;
  message_preview: string | null;
  is_latest: boolean;
}

/** A run as it was at a checkpoint. */
export interface CheckpointSnapshot {
  checkpoint: Checkpoint;
  snapshot: Run;
}

/** The checkpoints of a run, in the order of the conversation. */
export interface Checkpoints {
  run_id: string;
  session_id: string;
  checkpoints: Checkpoint[];
}

/** One case of two evals, by one scorer. */
export interface ComparedCase {
  case_id: string;
  scorer: string;
  /** better, worse, same, added, removed, or unscored: one of the evals has no score, although the run completed. */
  change: string;
  before: ScoreStatistics;
  after: ScoreStatistics;
  /** The mean of this eval minus that of the other, with its confidence interval at 1 - level. The bounds are null where the values do not say how precise the mean is. */
  difference: {
    mean: number;
    /** The lower bound of the confidence interval. */
    low: number | null;
    /** The upper bound of the confidence interval. */
    high: number | null;
  } | null;
  /** The probability of a difference at least this large if nothing had changed. */
  p_value: number | null;
  significant: boolean;
}

/** An agent, a team or a workflow that is stored as data. */
export interface Component {
  component_id: string;
  component_type: ComponentType;
  name?: string;
  description?: string;
  /** The version that runs. A component with drafts alone has none. */
  current_version?: number;
  metadata?: { [name: string]: unknown };
  /** Seconds since 1970, UTC. */
  created_at: number;
  /** Seconds since 1970, UTC. */
  updated_at?: number;
  /** Seconds since 1970, UTC. */
  deleted_at?: number;
  /** Send it as expected_revision with a change. */
  revision: number;
  /** The user or service account. */
  created_by?: string;
  /** The user or service account. */
  updated_by?: string;
  /** In the answer to a change: why the component cannot run as it is now. */
  degraded?: string;
}

/** An entry of the history of a component. */
export interface ComponentChange {
  number: number;
  /** created, changed, deleted, restored, version_created, version_saved, version_published, version_deleted or current_set. */
  action: string;
  version?: number;
  revision?: number;
  /** The changed fields. Long values are left out: compare the versions. */
  fields: {
    field: string;
    before?: unknown;
    after?: unknown;
  }[];
  changed_by?: string;
  /** Seconds since 1970, UTC. */
  changed_at: number;
}

/** A version of a component. */
export interface ComponentConfig {
  component_id: string;
  version: number;
  label?: string;
  /** draft or published. */
  stage: string;
  /** Left out with include_config=false. */
  config?: { [name: string]: unknown };
  notes?: string;
  /** Seconds since 1970, UTC. */
  created_at: number;
  /** Seconds since 1970, UTC. */
  updated_at?: number;
  /** Send it as expected_revision with a change. */
  revision: number;
  /** The user or service account. */
  created_by?: string;
  /** The user or service account. */
  updated_by?: string;
  /** In the answer to a change: why the component cannot run as it is now. */
  degraded?: string;
}

/** The pinned versions of a version. */
export interface ComponentConfigLinks {
  component_id: string;
  version: number;
  revision: number;
  links: {
    link_kind: string;
    link_key: string;
    child_component_id: string;
    child_version: number;
    position: number;
    meta?: { [name: string]: unknown };
  }[];
}

/** A component as data. */
export interface ComponentCopy {
  component_id: string;
  component_type: "agent" | "team" | "workflow";
  name: string;
  /** Of a stored component. */
  version?: number;
  revision?: number;
  stage?: string;
  config: { [name: string]: unknown };
}

/** A component to create, with its first version. */
export interface ComponentCreate {
  /** The name of the component. */
  name: string;
  component_type: ComponentType;
  /** The id in URLs: letters, digits, '-', '_', '.' and '~'. Default: the name in lower case, with '-' for blanks. */
  component_id?: string | null;
  /** What it is for. */
  description?: string | null;
  /** Facts of your own. They must hold no secrets. */
  metadata?: { [name: string]: unknown } | null;
  config?: { [name: string]: unknown } | null;
  /** A name for this version that no other version of the component has. */
  label?: string | null;
  /** draft, which can be changed, or published, which never changes. */
  stage?: string;
  /** What is new in this version. */
  notes?: string | null;
  /** Whether a published version becomes the current one. A draft never does. Default: true. */
  set_current?: boolean | null;
}

/** A version of a component that refers to another one. */
export interface ComponentDependent {
  component_id: string;
  component_type: ComponentType;
  name: string;
  version: number;
  stage: string;
  /** Whether that is the current version of the dependent. */
  is_current: boolean;
  link_kind: string;
  link_key: string;
  /** The pinned version. Left out where the dependent takes the current one. */
  child_version?: number;
}

/** A schedule that runs or evaluates a component. */
export interface ComponentDependentSchedule {
  id: string;
  name: string;
  endpoint: string;
  enabled: boolean;
  /** The pinned version. Left out where the schedule takes the current one. */
  child_version?: number;
}

/** A page of a list. */
export interface ComponentDependentsPage {
  data: ComponentDependent[];
  meta: PageMeta;
  /** On each page: the newest 100 schedules that the caller may see and that name the component. */
  schedules: ComponentDependentSchedule[];
}

/** What differs between two versions, field by field. */
export interface ComponentDiff {
  component_id: string;
  from: {
    version: number;
    revision: number;
    stage: string;
    label?: string;
  };
  to: {
    version: number;
    revision: number;
    stage: string;
    label?: string;
  };
  changes: {
    path: string;
    /** added, removed or changed. */
    kind: string;
    before?: unknown;
    after?: unknown;
    /** Of a changed text of several lines: removed lines begin with '- ', added ones with '+ '. */
    lines?: string[];
  }[];
  /** Whether there are more than 1,000 changes. */
  truncated: boolean;
}

/** A page of a list. */
export interface ComponentHistoryPage {
  data: ComponentChange[];
  meta: PageMeta;
}

/** Pins a version of a component that a configuration names. */
export interface ComponentLink {
  /** member, step_agent, step_team or step_workflow. */
  link_kind: string;
  /** member_0 for the first member; the name of a step. */
  link_key: string;
  child_component_id: string;
  /** The version that is pinned. */
  child_version?: number | null;
  position?: number;
  meta?: { [name: string]: unknown } | null;
}

/** What a component runs as. */
export type ComponentType = "agent" | "team" | "workflow";

/** What to change. Fields that are left out stay as they are; null removes the description and the metadata. */
export interface ComponentUpdate {
  name?: string | null;
  /** What it is for. */
  description?: string | null;
  component_type?: string | null;
  /** Facts of your own. They must hold no secrets. */
  metadata?: { [name: string]: unknown } | null;
  /** A published version that becomes the current one. */
  current_version?: number | null;
  /** The revision that you have read. 409 if another editor changed it since. */
  expected_revision?: number | null;
}

/** A page of a list. */
export interface ComponentsPage {
  data: Component[];
  meta: PageMeta;
}

/** The components, databases and interfaces of the service. */
export interface Config {
  os_id: string;
  name?: string;
  description?: string;
  os_database?: string;
  databases: string[];
  chat?: {
    quick_prompts: { [name: string]: string[] };
  };
  manifest?: { [name: string]: {
    description?: string;
    labels?: string[];
    quick_prompts?: string[];
  } };
  knowledge?: {
    display_name?: string;
    dbs?: {
      db_id: string;
      domain_config?: {
        display_name?: string;
      };
      tables?: string[];
    }[];
    knowledge_instances?: {
      id: string;
      name: string;
      description?: string;
      db_id: string;
      table: string;
    }[];
  };
  evals?: {
    display_name?: string;
    dbs?: {
      db_id: string;
      domain_config?: {
        display_name?: string;
      };
      tables?: string[];
    }[];
  };
  interfaces: {
    type: string;
    version: string;
    route: string;
  }[];
  session?: {
    display_name?: string;
    dbs?: {
      db_id: string;
      domain_config?: {
        display_name?: string;
      };
      tables?: string[];
    }[];
  };
  memory?: {
    display_name?: string;
    dbs?: {
      db_id: string;
      domain_config?: {
        display_name?: string;
      };
      tables?: string[];
    }[];
  };
  learning?: {
    display_name?: string;
    dbs?: {
      db_id: string;
      domain_config?: {
        display_name?: string;
      };
      tables?: string[];
    }[];
  };
  traces?: {
    display_name?: string;
    dbs?: {
      db_id: string;
      domain_config?: {
        display_name?: string;
      };
      tables?: string[];
    }[];
  };
  metrics?: {
    display_name?: string;
    dbs?: {
      db_id: string;
      domain_config?: {
        display_name?: string;
      };
      tables?: string[];
    }[];
  };
  available_models?: string[];
  agents: {
    id: string;
    name?: string;
    description?: string;
    db_id?: string;
    model?: Model;
    metadata?: { [name: string]: unknown };
  }[];
  teams: {
    id: string;
    name?: string;
    description?: string;
    db_id?: string;
    mode?: string;
    model?: Model;
  }[];
  workflows: {
    id: string;
    name?: string;
    description?: string;
    db_id?: string;
    is_factory?: boolean;
    factory_input_schema?: { [name: string]: unknown };
    is_component?: boolean;
    current_version?: number;
    stage?: string;
  }[];
}

/** A version to add. */
export interface ConfigCreate {
  /** The settings, by the keys of the configuration reference. A secret in it is refused. */
  config: { [name: string]: unknown };
  /** A number above all that the component ever had. Default: the next one. */
  version?: number | null;
  /** A name for this version that no other version of the component has. */
  label?: string | null;
  /** draft, which can be changed, or published, which never changes. */
  stage?: string;
  /** What is new in this version. */
  notes?: string | null;
  /** The pinned versions of other components. They replace all links of the version. */
  links?: ComponentLink[] | null;
  /** Whether a published version becomes the current one. A draft never does. Default: true. */
  set_current?: boolean | null;
  /** The revision that you have read. 409 if another editor changed it since. */
  expected_revision?: number | null;
}

/** What to change of a draft. Fields that are left out stay as they are; null removes the label and the notes. The configuration is replaced as a whole, and so are the links. */
export interface ConfigUpdate {
  config?: { [name: string]: unknown } | null;
  /** A name for this version that no other version of the component has. */
  label?: string | null;
  stage?: string | null;
  /** What is new in this version. */
  notes?: string | null;
  /** The pinned versions of other components. They replace all links of the version. */
  links?: ComponentLink[] | null;
  /** The revision that you have read. 409 if another editor changed it since. */
  expected_revision?: number | null;
}

/** A content of a knowledge base. */
export interface Content {
  id: string;
  name: string | null;
  description: string | null;
  /** manual for a text, url, the type of the source, or a MIME type. */
  type: string | null;
  /** Bytes; 0 if unknown. */
  size: string | null;
  /** Always null. */
  linked_to: string | null;
  /** Under _agno: where the content comes from. */
  metadata: { [name: string]: unknown } | null;
  /** Always null. */
  access_count: number | null;
  status: "processing" | "completed" | "failed" | null;
  status_message: string | null;
  created_at: string | null;
  updated_at: string | null;
  /** In lists with include_definition. */
  definition?: ContentDefinition;
}

/** What a content was added from, and how it is indexed. Bytes that a caller sent are not kept. */
export interface ContentDefinition {
  from: {
    url: string | string[];
  } | {
    source: string;
    path: string;
    parameters?: { [name: string]: string };
  } | {
    file: string;
  } | {
    text: true;
  };
  reader_id?: string;
  chunker?: string;
  chunk_size?: number;
  chunk_overlap?: number;
}

/** A page of a list. */
export interface ContentPage {
  data: Content[];
  meta: PageMeta;
}

/** A place that contents can be added from. */
export interface ContentSource {
  id: string;
  name: string;
  type: string;
  metadata: { [name: string]: unknown } | null;
  prefix: string | null;
}

/** How far the processing of a content is. */
export interface ContentStatus {
  id: string;
  status: "processing" | "completed" | "failed";
  status_message: string;
}

export interface CreateSession {
  /** If omitted or empty, the service generates one. */
  session_id?: string | null;
  /** If omitted, the first message becomes the name. */
  session_name?: string | null;
  session_state?: { [name: string]: unknown } | null;
  metadata?: { [name: string]: unknown } | null;
  /** Whose session it is. An authenticated caller's own. */
  user_id?: string | null;
  agent_id?: string | null;
  team_id?: string | null;
  workflow_id?: string | null;
}

/** What was done to the schema of a database. */
export interface DatabaseMigrated {
  message: string;
  dry_run: boolean;
  from_version: number;
  /** The version after the migration; after a dry run, the planned one. */
  to_version: number;
  steps: {
    version: number;
    name: string;
    direction: "up" | "down";
    /** failed: it was rolled back. not_run: an earlier step failed. planned: a dry run. */
    status: "done" | "failed" | "not_run" | "planned";
    /** How long it took. */
    ms: number;
    /** The statements, in a dry run. */
    sql?: string[];
  }[];
  /** What the downgrade deletes. */
  losses: {
    table: string;
    /** Set if only the values of this column are deleted. */
    column?: string;
    /** The number of rows, counted up to 1,000,000. */
    rows: number;
    /** true: there are more rows. */
    more: boolean;
  }[];
}

/** A step failed and was rolled back. */
export interface DatabaseMigrationFailed {
  detail: string;
  error_code: string;
  request_id: string;
  dry_run: boolean;
  from_version: number;
  /** The version after the migration; after a dry run, the planned one. */
  to_version: number;
  steps: {
    version: number;
    name: string;
    direction: "up" | "down";
    /** failed: it was rolled back. not_run: an earlier step failed. planned: a dry run. */
    status: "done" | "failed" | "not_run" | "planned";
    /** How long it took. */
    ms: number;
    /** The statements, in a dry run. */
    sql?: string[];
  }[];
  /** What the downgrade deletes. */
  losses: {
    table: string;
    /** Set if only the values of this column are deleted. */
    column?: string;
    /** The number of rows, counted up to 1,000,000. */
    rows: number;
    /** true: there are more rows. */
    more: boolean;
  }[];
}

/** What was done to the schemas of all databases. */
export interface DatabasesMigrated {
  message: string;
  /** By the id of the database. */
  databases: { [name: string]: {
    dry_run: boolean;
    from_version: number;
    /** The version after the migration; after a dry run, the planned one. */
    to_version: number;
    steps: {
      version: number;
      name: string;
      direction: "up" | "down";
      /** failed: it was rolled back. not_run: an earlier step failed. planned: a dry run. */
      status: "done" | "failed" | "not_run" | "planned";
      /** How long it took. */
      ms: number;
      /** The statements, in a dry run. */
      sql?: string[];
    }[];
    /** What the downgrade deletes. */
    losses: {
      table: string;
      /** Set if only the values of this column are deleted. */
      column?: string;
      /** The number of rows, counted up to 1,000,000. */
      rows: number;
      /** true: there are more rows. */
      more: boolean;
    }[];
  } };
}

/** Some databases were not migrated. */
export interface DatabasesPartlyMigrated {
  message: string;
  /** By the id of the database. */
  databases: { [name: string]: {
    dry_run: boolean;
    from_version: number;
    /** The version after the migration; after a dry run, the planned one. */
    to_version: number;
    steps: {
      version: number;
      name: string;
      direction: "up" | "down";
      /** failed: it was rolled back. not_run: an earlier step failed. planned: a dry run. */
      status: "done" | "failed" | "not_run" | "planned";
      /** How long it took. */
      ms: number;
      /** The statements, in a dry run. */
      sql?: string[];
    }[];
    /** What the downgrade deletes. */
    losses: {
      table: string;
      /** Set if only the values of this column are deleted. */
      column?: string;
      /** The number of rows, counted up to 1,000,000. */
      rows: number;
      /** true: there are more rows. */
      more: boolean;
    }[];
  } };
  /** Why a database was not migrated, by its id. */
  failed: { [name: string]: string };
}

/** A named list of cases for evals. */
export interface Dataset {
  id: string;
  /** The user that the dataset belongs to. */
  user_id: string | null;
  name: string;
  description: string | null;
  metadata: { [name: string]: unknown } | null;
  /** Counts the changes of the cases. */
  revision: number;
  case_count: number;
  created_at: string;
  updated_at: string;
}

/** A case of a dataset. */
export interface DatasetCase {
  id: string;
  /** The message; JSON text if it was given as an object. */
  input: string;
  expected_output: string | null;
  expected_tool_calls: {
    name: string;
    arguments?: { [name: string]: unknown };
  }[] | null;
  metadata: { [name: string]: unknown } | null;
  session_state: { [name: string]: unknown } | null;
  dependencies: { [name: string]: unknown } | null;
  created_at: string;
  updated_at: string;
}

/** Changes to a case. Omitted fields keep their values; null clears them, except input. */
export interface DatasetCaseUpdate {
  /** The message for the component; an object if it has an input schema. */
  input?: string | { [name: string]: unknown } | null;
  /** A text, or a JSON value if the component has an output schema. */
  expected_output?: unknown | null;
  /** Names of tools, or objects with name and a part of the arguments that a call must have. */
  expected_tool_calls?: (string | {
    name: string;
    arguments?: { [name: string]: unknown } | null;
  })[] | null;
  metadata?: { [name: string]: unknown } | null;
  /** The session state that the run starts with. */
  session_state?: { [name: string]: unknown } | null;
  /** The dependencies of the run. */
  dependencies?: { [name: string]: unknown } | null;
}

/** Cases to add: one by its fields, several, or one made of a run. */
export interface DatasetCasesAdd {
  /** Identifies the case within the dataset. Default: made from the input, or the id of the run. A stored case with this id is replaced. */
  id?: string | null;
  /** The message for the component; an object if it has an input schema. */
  input?: string | { [name: string]: unknown } | null;
  /** A text, or a JSON value if the component has an output schema. */
  expected_output?: unknown | null;
  /** Names of tools, or objects with name and a part of the arguments that a call must have. */
  expected_tool_calls?: (string | {
    name: string;
    arguments?: { [name: string]: unknown } | null;
  })[] | null;
  metadata?: { [name: string]: unknown } | null;
  /** The session state that the run starts with. */
  session_state?: { [name: string]: unknown } | null;
  /** The dependencies of the run. */
  dependencies?: { [name: string]: unknown } | null;
  /** Several cases, in place of the fields of one. */
  cases?: {
    /** Default: made from the input, with a number if it is repeated. */
    id?: string | null;
    /** The message for the component; an object if it has an input schema. */
    input?: string | { [name: string]: unknown } | null;
    /** A text, or a JSON value if the component has an output schema. */
    expected_output?: unknown | null;
    /** Names of tools, or objects with name and a part of the arguments that a call must have. */
    expected_tool_calls?: (string | {
      name: string;
      arguments?: { [name: string]: unknown } | null;
    })[] | null;
    metadata?: { [name: string]: unknown } | null;
    /** The session state that the run starts with. */
    session_state?: { [name: string]: unknown } | null;
    /** The dependencies of the run. */
    dependencies?: { [name: string]: unknown } | null;
  }[] | null;
  /** Makes a case of this run, which has ended and which the caller may read. Fields that are given take the place of those of the run; the metadata names the run. */
  run_id?: string | null;
  /** With run_id: whether the output of a completed run is the expected output. */
  take_output?: boolean;
  /** With run_id: whether the tool calls that succeeded are the expected ones. */
  take_tool_calls?: boolean;
}

/** The cases as they are stored. */
export interface DatasetCasesAdded {
  added: number;
  /** Stored cases that were replaced by a case with the same id. */
  updated: number;
  /** The revision of the dataset after the change. */
  revision: number;
  cases: {
    id: string;
    /** The message; JSON text if it was given as an object. */
    input: string;
    expected_output: string | null;
    expected_tool_calls: {
      name: string;
      arguments?: { [name: string]: unknown };
    }[] | null;
    metadata: { [name: string]: unknown } | null;
    session_state: { [name: string]: unknown } | null;
    dependencies: { [name: string]: unknown } | null;
  }[];
}

/** A page of a list. */
export interface DatasetCasesPage {
  data: DatasetCase[];
  meta: PageMeta;
}

/** A dataset to create. Cases are added afterwards. */
export interface DatasetCreate {
  /** Unique among the datasets of its owner. */
  name: string;
  description?: string | null;
  metadata?: { [name: string]: unknown } | null;
}

/** Cases as a file or as text: exactly one of file and text_content is required. */
export interface DatasetImport {
  /** A file that ends in .json (an array of cases), .jsonl, .ndjson, .csv or .tsv (with a header). The fields of a case are id, input, expected_output, expected_tool_calls, metadata, session_state and dependencies. */
  file?: Blob[];
  /** The cases as JSON Lines, in place of a file. */
  text_content?: string;
  /** true: the cases of the file replace all cases. Default: they are added. */
  replace?: boolean;
}

/** What an import changed. */
export interface DatasetImported {
  added: number;
  /** Stored cases that were replaced by a case with the same id. */
  updated: number;
  /** The revision of the dataset after the change. */
  revision: number;
  /** Cases that the file replaced. */
  removed: number;
}

/** Changes to a dataset. Omitted fields keep their values. */
export interface DatasetUpdate {
  /** Unique among the datasets of its owner. */
  name?: string;
  /** null clears it. */
  description?: string | null;
  /** Replaces the metadata; null clears it. */
  metadata?: { [name: string]: unknown } | null;
}

/** A page of a list. */
export interface DatasetsPage {
  data: Dataset[];
  meta: PageMeta;
}

/** The metrics of a day. */
export interface DayMetrics {
  id: string;
  agent_runs_count: number;
  agent_sessions_count: number;
  /** Includes the runs of members. */
  team_runs_count: number;
  team_sessions_count: number;
  workflow_runs_count: number;
  workflow_sessions_count: number;
  /** Distinct users with a run or a new session. */
  users_count: number;
  token_metrics: TokenMetrics;
  model_metrics: ModelMetrics[];
  /** The results of live evals, if there are any. */
  eval_metrics?: EvalMetrics[];
  /** Midnight UTC at the start of the day. */
  date: string;
  created_at: string;
  updated_at: string;
}

export interface DeleteSessions {
  session_ids: string[];
  /** One type per id. Sessions are found by id alone. */
  session_types: ("agent" | "team" | "workflow")[];
}

/** A deleted content: its id alone. */
export interface DeletedContent {
  id: string;
  name?: string | null;
  description?: string | null;
  /** manual for a text, url, the type of the source, or a MIME type. */
  type?: string | null;
  /** Bytes; 0 if unknown. */
  size?: string | null;
  /** Always null. */
  linked_to?: string | null;
  /** Under _agno: where the content comes from. */
  metadata?: { [name: string]: unknown } | null;
  /** Always null. */
  access_count?: number | null;
  status?: "processing" | "completed" | "failed" | null;
  status_message?: string | null;
  created_at?: string | null;
  updated_at?: string | null;
  /** In lists with include_definition. */
  definition?: ContentDefinition;
}

/** Done. */
export interface Empty { [name: string]: unknown }

/** Two evals, by scorer and case by case. `data` holds a page of the cases. */
export interface EvalComparison {
  eval_run_id: string;
  with: string;
  level: number;
  /** Why the difference may have other reasons, such as a dataset that changed meanwhile. */
  warnings: string[];
  /** Runs that did not complete. A failed run has not passed. */
  failed_runs: {
    before: number;
    after: number;
  };
  scorers: {
    name: string;
    lower_is_better: boolean;
    changes: {
      better: number;
      worse: number;
      same: number;
      added: number;
      removed: number;
      unscored: number;
    };
    before: ScoreStatistics;
    after: ScoreStatistics;
    /** The mean of this eval minus that of the other, with its confidence interval at 1 - level. The bounds are null where the values do not say how precise the mean is. */
    difference: {
      mean: number;
      /** The lower bound of the confidence interval. */
      low: number | null;
      /** The upper bound of the confidence interval. */
      high: number | null;
    } | null;
    /** The probability of a difference at least this large if nothing had changed. */
    p_value: number | null;
    significant: boolean;
  }[];
  data: ComparedCase[];
  meta: PageMeta;
}

/** What a live eval found out about the runs of a day. */
export interface EvalMetrics {
  eval: string;
  type: "agent" | "team" | "workflow";
  component_id: string;
  /** Runs with a score of each scorer. */
  graded: number;
  /** Runs with a scorer that failed. */
  incomplete: number;
  /** Runs that wait to be graded. */
  pending: number;
  /** Runs that failed. They are not graded. */
  failed: number;
  /** Runs beyond the hourly limit of the eval. */
  skipped: number;
  scorers: {
    scorer: string;
    count: number;
    mean_score: number | null;
    /** In percent. */
    pass_rate: number | null;
  }[];
}

/** What to evaluate, and how. */
export interface EvalRequest {
  /** The agent to evaluate. Exactly one of agent_id, team_id and workflow_id. */
  agent_id?: string | null;
  /** The team to evaluate. Exactly one of agent_id, team_id and workflow_id. */
  team_id?: string | null;
  /** The workflow to evaluate. Exactly one of agent_id, team_id and workflow_id. */
  workflow_id?: string | null;
  /** The version of a stored component, a draft included. Left out: the current one. All runs of the eval have this version, also when another one is published in the meantime. */
  version?: number | null;
  /** accuracy: a judge compares the output with expected_output. agent_as_judge: a judge decides by criteria. performance: time and memory of runs. reliability: which tools were called. custom: the given scorers. */
  eval_type: "accuracy" | "agent_as_judge" | "performance" | "reliability" | "custom";
  /** The message to the component. Exactly one of input, dataset_id, dataset and run_ids. */
  input?: string;
  /** Evaluates all cases of this stored dataset. */
  dataset_id?: string | null;
  /** The same, by the name of the caller's dataset. */
  dataset?: string | null;
  /** Grades these stored runs that the caller may read, and executes nothing. */
  run_ids?: string[] | null;
  /** A name for lists. */
  name?: string | null;
  /** With model_provider: a copy of the component runs on this model, and its own model judges. */
  model_id?: string | null;
  /** The provider of model_id, such as openai. */
  model_provider?: string | null;
  /** How often each case is executed and judged. */
  num_iterations?: number;
  /** Runs before those that are measured. Only for performance. */
  warmup_runs?: number;
  /** What the judge has to observe. */
  additional_guidelines?: string | null;
  /** What the judge has to know. Only for accuracy. */
  additional_context?: string | null;
  /** Required for accuracy, unless each case of the dataset has its own. */
  expected_output?: string | null;
  /** Required for agent_as_judge. */
  criteria?: string | null;
  /** numeric: a score from 1 to 10; binary: passed or not. For agent_as_judge. */
  scoring_strategy?: "numeric" | "binary" | null;
  /** The least numeric score with which a case passes. */
  threshold?: number | null;
  /** Required for reliability, unless each case of the dataset has its own. An empty list: no tool may be called. */
  expected_tool_calls?: string[] | null;
  /** Whether other tools may be called. For reliability. */
  allow_additional_tool_calls?: boolean;
  /** By tool: a part of the arguments that one of its calls must have. */
  expected_tool_call_arguments?: { [name: string]: { [name: string]: unknown } | { [name: string]: unknown }[] } | null;
  /** For custom: names of scorers, or objects with name and options. Ready scorers, and those that the service registers. */
  scorers?: (string | {
    name: string;
    options?: { [name: string]: unknown };
  })[] | null;
  /** The state that the session of each run begins with. */
  session_state?: { [name: string]: unknown } | null;
  /** Values that each run is given. */
  dependencies?: { [name: string]: unknown } | null;
  /** For a component that a factory builds for each run; others ignore it. */
  factory_input?: { [name: string]: unknown } | null;
  /** How many runs are executed at once. Default: 1 for one input and for performance, else 4. */
  concurrency?: number | null;
  /** true: the answer is 202 with the eval as it is now; poll it, or follow its events. false: the answer comes with the result, and the eval is cancelled when the client disconnects. */
  background?: boolean | null;
}

/** One execution of one case. */
export interface EvalResult {
  case_id: string;
  /** From 1. */
  iteration: number;
  input: string;
  expected_output: string | null;
  output: string | null;
  /** Of the run; failed: it could not be started. */
  status: "completed" | "paused" | "error" | "cancelled" | "failed";
  /** By the name of the scorer. */
  scores: { [name: string]: {
    score: number | null;
    passed: boolean | null;
    reason?: string;
    details?: unknown;
  } };
  /** Why there is no score, or not from every scorer. */
  error: string | null;
  run_id: string | null;
  session_id: string | null;
  /** How long the run was executed, in seconds. */
  duration: number | null;
  usage: {
    input_tokens: number;
    output_tokens: number;
    total_tokens: number;
    /** In US dollars; null where a price is not known. */
    cost: number | null;
  } | null;
  /** ISO 8601, UTC, whole seconds. */
  created_at: string;
}

/** A page of a list. */
export interface EvalResultsPage {
  data: EvalResult[];
  meta: PageMeta;
}

/** An eval and what came out. */
export interface EvalRun {
  id: string;
  agent_id: string | null;
  /** The model of the component; of agent_as_judge that of the judge, null for the default judge. */
  model_id: string | null;
  model_provider: string | null;
  team_id: string | null;
  workflow_id: string | null;
  name: string | null;
  evaluated_component_name: string | null;
  eval_type: "accuracy" | "agent_as_judge" | "performance" | "reliability" | "custom";
  /** What came out, in a form that depends on eval_type. errors lists executions without a verdict, which no statistic counts. */
  eval_data: { [name: string]: unknown };
  /** What was asked for. */
  eval_input: { [name: string]: unknown } | null;
  created_at: string | null;
  updated_at: string | null;
  status: "pending" | "running" | "completed" | "error" | "cancelled";
  /** Why the eval as a whole failed. */
  error: string | null;
  progress: {
    /** How many results there are. */
    done: number;
    /** How many there will be: cases times iterations. */
    total: number;
    /** How many of them have no complete verdict. */
    failed: number;
  };
  dataset_id: string | null;
  /** Who started it. */
  user_id: string | null;
}

/** A page of a list. */
export interface EvalRunsPage {
  data: EvalRun[];
  meta: PageMeta;
}

export interface EvalsToDelete {
  /** The evals to delete; unknown ids are skipped. */
  eval_run_ids: string[];
  /** Whether the sessions that the evals created are deleted with them. */
  delete_sessions?: boolean;
}

export interface EventReceipt {
  run_id: string;
  event_id: string;
  /** delivered: the run continues with the event. kept: the run gets it when it waits for it. */
  status: "delivered" | "kept";
}

/** The copy of a session. */
export interface ForkedSession {
  session_id: string;
  forked_from_session_id: string;
}

/** A chunk that a search found. */
export interface FoundChunk {
  /** The identifier of the chunk. */
  id: string;
  content: string;
  /** The name of the content when it was added. */
  name: string | null;
  /** The metadata of the chunk; similarity_score, from 0 to 1, if vectors were compared. */
  meta_data: { [name: string]: unknown } | null;
  /** What the embedder reported, or null. */
  usage: unknown;
  reranking_score: number | null;
  content_id: string | null;
  /** Always null. */
  content_origin: string | null;
  /** Always null. */
  size: number | null;
}

/** A page of a list. */
export interface FoundChunkPage {
  data: FoundChunk[];
  meta: PageMeta;
}

/** A memory to write. */
export interface GivenMemory {
  /** The text to remember. */
  memory: string;
  /** The user that the memory belongs to. Default: the authenticated caller. */
  user_id?: string | null;
  /** The topics of the memory. Default: none. */
  topics?: string[] | null;
}

/** The service responds. */
export interface Health {
  status: string;
  /** When the process started. */
  instantiated_at: string;
}

/** The name and version of the service. */
export interface Home {
  name: string;
  id: string;
  version: string;
}

/** Information that a client needs before authentication. */
export interface Info {
  os_id: string;
  name: string | null;
  product: "Runyard";
  /** The version of Runyard. */
  version: string;
  /** The version of Runyard, for older clients. */
  agno_version: string;
  mcp: {
    enabled: boolean;
    path: string | null;
    oauth: {
      authorization_servers?: string[];
      resource?: string;
    } | null;
  };
  auth_mode: "none" | "security_key" | "jwt";
  /** The run counts of this process. */
  runs: {
    /** Runs in progress. */
    executing: number;
    /** Runs in the queue. */
    waiting: number;
    /** The setting maxConcurrentRuns. */
    max_executing: number;
    /** The setting maxWaitingRuns. */
    max_waiting: number;
  };
  agent_count: number;
  team_count: number;
  workflow_count: number;
  /** Runs that no process executes and whose component is not registered in this process. Only for callers who see the runs of all users. */
  orphaned_runs?: {
    count: number;
    components: {
      type: "agent" | "team" | "workflow";
      id: string;
      /** At most 10,000 of each status are counted. */
      count: number;
    }[];
  };
}

/** What contents can be indexed and searched with. */
export interface KnowledgeConfig {
  readers: { [name: string]: {
    id: string;
    name: string;
    description: string;
    chunkers: string[];
  } };
  /** The readers of each type, preferred ones first. */
  readersForType: { [name: string]: string[] };
  chunkers: { [name: string]: {
    key: string;
    name: string;
    description: string;
    metadata: {
      chunk_size?: number;
      chunk_overlap?: number;
    };
  } };
  /** The metadata keys of the contents. */
  filters: string[];
  vector_dbs: {
    id: string;
    name: string;
    description: string;
    search_types: string[];
  }[];
  remote_content_sources: ContentSource[] | null;
  embedder: {
    name: string;
    /** Contents that were embedded with another embedder: vectors cannot find them until `runyard knowledge reembed` has run. */
    changed: {
      embedder: string;
      dimensions: number;
      contents: number;
    }[];
  };
}

/** A structured record that agents keep. */
export interface Learning {
  learning_id: string;
  learning_type: string;
  namespace: string | null;
  /** The user that the learning belongs to; null: every user can read it. */
  user_id: string | null;
  agent_id: string | null;
  team_id: string | null;
  session_id: string | null;
  entity_id: string | null;
  entity_type: string | null;
  content: { [name: string]: unknown };
  metadata: { [name: string]: unknown } | null;
  /** Seconds since 1970, UTC. */
  created_at: number;
  /** Seconds since 1970, UTC. */
  updated_at: number;
}

/** A learning to store. */
export interface LearningCreate {
  /** user_profile, user_memory, session_context and entity_memory exist once for each identity; any other name is a custom type. */
  learning_type: string;
  /** The content, a JSON object of any shape. */
  content: { [name: string]: unknown };
  /** Default: global. */
  namespace?: string | null;
  /** The user that the learning belongs to. If omitted, every user can read it. */
  user_id?: string | null;
  agent_id?: string | null;
  team_id?: string | null;
  session_id?: string | null;
  entity_id?: string | null;
  entity_type?: string | null;
  metadata?: { [name: string]: unknown } | null;
}

/** Changes to a learning. Omitted fields keep their values. */
export interface LearningUpdate {
  /** Replaces the content. */
  content?: { [name: string]: unknown } | null;
  /** Replaces the metadata; null clears it. */
  metadata?: { [name: string]: unknown } | null;
}

/** A user with learnings. */
export interface LearningUser {
  user_id: string;
  /** Seconds since 1970, UTC. */
  last_learning_updated_at: number;
}

/** A page of a list. */
export interface LearningUsersPage {
  data: LearningUser[];
  meta: PageMeta;
}

/** A page of a list. */
export interface LearningsPage {
  data: Learning[];
  meta: PageMeta;
}

/** A run in a list. */
export interface ListedRun {
  run_id: string;
  status: string;
  /** The input; an object as JSON text. */
  run_input: string;
  content?: unknown;
  metrics?: { [name: string]: unknown } | null;
  /** The events of a streamed run; content deltas only for workflows. Null or absent if the run was not streamed. */
  events?: { [name: string]: unknown }[] | null;
  created_at: string;
  reasoning_content?: string | null;
  reasoning_steps?: { [name: string]: unknown }[] | null;
  reasoning_messages?: { [name: string]: unknown }[] | null;
  references?: { [name: string]: unknown }[] | null;
  /** Why the model that wrote the content stopped; tool_calls if a tool ended the run. */
  finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "other" | null;
  /** The explanation of the provider. */
  finish_message?: string | null;
  /** The sources that the content cites, in the same format for all providers. */
  citations?: {
    urls?: {
      url: string;
      title?: string;
    }[];
    documents?: {
      document_title?: string;
      cited_text?: string;
      file_name?: string;
    }[];
    search_queries?: string[];
    sources?: {
      url?: string;
      title?: string;
      cited_text?: string;
      file_id?: string;
      file_name?: string;
      document_index?: number;
      start_index?: number;
      end_index?: number;
    }[];
  } | null;
  images?: { [name: string]: unknown }[] | null;
  videos?: { [name: string]: unknown }[] | null;
  audio?: { [name: string]: unknown }[] | null;
  files?: { [name: string]: unknown }[] | null;
  response_audio?: { [name: string]: unknown } | null;
  /** Empty if the run has no user. */
  user_id: string;
  /** Empty if the run has no parent. */
  parent_run_id: string;
  /** text, or json for an object. */
  run_response_format?: string | null;
  messages?: { [name: string]: unknown }[] | null;
  tools?: { [name: string]: unknown }[] | null;
  /** The state at the end of the run. */
  session_state?: { [name: string]: unknown } | null;
  input_media?: { [name: string]: unknown } | null;
  followups?: string[] | null;
  forked_from_run_id?: string | null;
  forked_from_message_index?: number | null;
  forked_from_session_id?: string | null;
  regenerated_from?: string | null;
  last_checkpoint_at_message_index?: number | null;
  agent_id: string;
}

/** A session in a list. */
export interface ListedSession {
  session_id: string;
  session_name: string;
  session_state?: { [name: string]: unknown };
  session_type: "agent" | "team" | "workflow";
  user_id?: string;
  agent_id?: string;
  team_id?: string;
  workflow_id?: string;
  session_summary?: {
    summary: string;
    topics?: string[];
    updated_at?: string;
  };
  metrics?: SessionUsage;
  total_tokens?: number;
  metadata?: { [name: string]: unknown };
  created_at: string;
  updated_at: string;
}

/** A run of a team in a list. */
export interface ListedTeamRun {
  run_id: string;
  status: string;
  /** The input; an object as JSON text. */
  run_input: string;
  content?: unknown;
  metrics?: { [name: string]: unknown } | null;
  /** The events of a streamed run; content deltas only for workflows. Null or absent if the run was not streamed. */
  events?: { [name: string]: unknown }[] | null;
  created_at: string;
  reasoning_content?: string | null;
  reasoning_steps?: { [name: string]: unknown }[] | null;
  reasoning_messages?: { [name: string]: unknown }[] | null;
  references?: { [name: string]: unknown }[] | null;
  /** Why the model that wrote the content stopped; tool_calls if a tool ended the run. */
  finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "other" | null;
  /** The explanation of the provider. */
  finish_message?: string | null;
  /** The sources that the content cites, in the same format for all providers. */
  citations?: {
    urls?: {
      url: string;
      title?: string;
    }[];
    documents?: {
      document_title?: string;
      cited_text?: string;
      file_name?: string;
    }[];
    search_queries?: string[];
    sources?: {
      url?: string;
      title?: string;
      cited_text?: string;
      file_id?: string;
      file_name?: string;
      document_index?: number;
      start_index?: number;
      end_index?: number;
    }[];
  } | null;
  images?: { [name: string]: unknown }[] | null;
  videos?: { [name: string]: unknown }[] | null;
  audio?: { [name: string]: unknown }[] | null;
  files?: { [name: string]: unknown }[] | null;
  response_audio?: { [name: string]: unknown } | null;
  /** Empty if the run has no user. */
  user_id: string;
  /** Empty if the run has no parent. */
  parent_run_id: string;
  /** text, or json for an object. */
  run_response_format?: string | null;
  messages?: { [name: string]: unknown }[] | null;
  tools?: { [name: string]: unknown }[] | null;
  /** The state at the end of the run. */
  session_state?: { [name: string]: unknown } | null;
  input_media?: { [name: string]: unknown } | null;
  followups?: string[] | null;
  forked_from_run_id?: string | null;
  forked_from_message_index?: number | null;
  forked_from_session_id?: string | null;
  regenerated_from?: string | null;
  last_checkpoint_at_message_index?: number | null;
  team_id: string;
}

/** A run of a workflow in a list. */
export interface ListedWorkflowRun {
  run_id: string;
  status: string;
  /** The input; an object as JSON text. */
  run_input: string;
  content?: unknown;
  metrics?: { [name: string]: unknown } | null;
  /** The events of a streamed run; content deltas only for workflows. Null or absent if the run was not streamed. */
  events?: { [name: string]: unknown }[] | null;
  created_at: string;
  reasoning_content?: string | null;
  reasoning_steps?: { [name: string]: unknown }[] | null;
  reasoning_messages?: { [name: string]: unknown }[] | null;
  references?: { [name: string]: unknown }[] | null;
  /** Why the model that wrote the content stopped; tool_calls if a tool ended the run. */
  finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "other" | null;
  /** The explanation of the provider. */
  finish_message?: string | null;
  /** The sources that the content cites, in the same format for all providers. */
  citations?: {
    urls?: {
      url: string;
      title?: string;
    }[];
    documents?: {
      document_title?: string;
      cited_text?: string;
      file_name?: string;
    }[];
    search_queries?: string[];
    sources?: {
      url?: string;
      title?: string;
      cited_text?: string;
      file_id?: string;
      file_name?: string;
      document_index?: number;
      start_index?: number;
      end_index?: number;
    }[];
  } | null;
  images?: { [name: string]: unknown }[] | null;
  videos?: { [name: string]: unknown }[] | null;
  audio?: { [name: string]: unknown }[] | null;
  files?: { [name: string]: unknown }[] | null;
  response_audio?: { [name: string]: unknown } | null;
  workflow_id: string;
  user_id: string;
  content_type?: string | null;
  step_results: {
    content: unknown;
    step_name: string;
    step_id: string;
    success: boolean;
  }[];
  step_executor_runs?: { [name: string]: unknown }[] | null;
  step_requirements?: { [name: string]: unknown }[] | null;
  pause_kind?: string | null;
  paused_step_name?: string | null;
  paused_step_index?: number | null;
}

/** A page of a list. */
export interface MemoriesPage {
  data: Memory[];
  meta: PageMeta;
}

export interface MemoriesToDelete {
  /** The memories to delete; unknown ids are skipped. */
  memory_ids: string[];
  /** Deletes only memories of this user. */
  user_id?: string | null;
}

/** A fact about a user. */
export interface Memory {
  memory_id: string;
  memory: string;
  topics: string[] | null;
  /** The agent that wrote it. */
  agent_id: string | null;
  /** The team that wrote it. */
  team_id: string | null;
  /** The user that the memory belongs to. */
  user_id: string;
  /** ISO 8601, UTC, whole seconds. */
  updated_at: string;
  /** ISO 8601, UTC, whole seconds. */
  created_at: string;
}

/** Daily metrics, earliest day first. */
export interface MetricsList {
  metrics: DayMetrics[];
  /** When any day was last counted. */
  updated_at: string | null;
}

/** Whether a refresh was started. */
export interface MetricsRefreshStarted {
  status: "started" | "already_running";
  message: string;
}

/** The status of the last refresh. */
export interface MetricsRefreshStatus {
  status: "idle" | "running" | "completed" | "failed";
  started_at: string | null;
  finished_at: string | null;
  error: string | null;
}

/** What to migrate to, if the query does not name it. */
export type MigrateRequest = {
  /** The version to migrate to, up or down; the latest if omitted. 0 removes all tables. The versions 2.0.0, 2.3.0, 2.5.0 and 2.5.6 of other implementations are accepted and change nothing. */
  target_version?: string | number | null;
  /** true: nothing is executed, and the response has the SQL of each step. */
  dry_run?: boolean | null;
  /** true: also if a downgrade deletes data. */
  force?: boolean | null;
} | null;

/** A model that an agent or the leader of a team uses. */
export interface Model {
  id: string;
  provider: string;
}

/** How often a model was the main model of a run. */
export interface ModelMetrics {
  model_id: string;
  model_provider: string;
  /** The number of runs with this main model. */
  count: number;
}

/** A service account with its token. */
export interface NewServiceAccount {
  id: string;
  name: string;
  /** The user id that the account acts under: sa:<name>. */
  principal: string;
  /** The user who is responsible for the account. */
  user_id: string | null;
  /** The first characters of the token, to recognise it. */
  token_prefix: string;
  scopes: ServiceAccountScope[];
  /** Seconds since 1970, UTC. */
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  created_by: string | null;
  /** Shown only in this response; the service stores only its hash. */
  token: string;
}

export interface OptimizeMemories {
  /** The user whose memories are merged. */
  user_id: string;
  /** The model that merges them, as provider:model_id. Default: the setting defaultModel, else the model of the first agent. */
  model?: string | null;
  /** true: the memories are replaced; false: nothing is stored, and the response shows the result. */
  apply?: boolean;
}

/** The result of merging the memories of a user. */
export interface OptimizedMemories {
  /** The memory that replaces all others, or the unchanged memories if merging saves nothing. */
  memories: Memory[];
  memories_before: number;
  memories_after: number;
  tokens_before: number;
  tokens_after: number;
  tokens_saved: number;
  /** 0 to 100. */
  reduction_percentage: number;
}

/** The position of a page in its list. */
export interface PageMeta {
  /** The number of this page, starting at 1. */
  page: number;
  limit: number;
  /** 0 for an empty list. */
  total_pages: number;
  total_count: number;
  search_time_ms: number;
}

/** What went wrong and how to fix it. */
export interface Problem {
  /** The message for people. */
  detail: string;
  /** The stable name of the error, in snake case. */
  error_code: string;
  /** The id of the request, also in the header x-request-id and in the log. */
  request_id: string;
  /** The available alternatives, if the caller may see them. */
  hint?: string;
  /** The run that the error concerns, if any. */
  run_id?: string;
  /** The session of that run. */
  session_id?: string;
  /** The agent of that run. */
  agent_id?: string;
  /** The team of that run. */
  team_id?: string;
  /** The workflow of that run. */
  workflow_id?: string;
}

/** Whether this process is ready for requests, and if not, why. */
export interface Ready {
  status: "ready" | "not_ready";
  checks: {
    database: {
      status: "ok" | "failed" | "unknown";
      /** By the id of the database. */
      databases: { [name: string]: "ok" | "unavailable" | "read_only" | "unknown" };
      /** The connections to each PostgreSQL database, by the name of the pool. */
      pools?: { [name: string]: { [name: string]: {
        /** Connections in use. */
        in_use: number;
        /** Open connections. */
        open: number;
        /** How many connections may be open. */
        size: number;
        /** Calls that wait for a connection. */
        waiting: number;
      } } };
    };
    /** Whether each database has the schema of this version. */
    migrations: {
      status: "ok" | "failed" | "unknown";
      /** By the id of the database. */
      databases: { [name: string]: "current" | "older" | "newer" | "unknown" };
    };
    engine: {
      status: "ok" | "failed" | "unknown";
      /** By the id of the database. */
      databases: { [name: string]: "ok" | "closed" | "leases_overdue" | "recovery_stuck" | "unknown" };
      runs?: {
        /** Runs in progress. */
        executing: number;
        /** Runs in the queue. */
        waiting: number;
        /** The setting maxConcurrentRuns. */
        max_executing: number;
        /** The setting maxWaitingRuns. */
        max_waiting: number;
      };
    };
    /** failed: the service is stopping. */
    stopping: {
      status: "ok" | "failed" | "unknown";
    };
    /** Whether the Redis beside each database can be used, where there is one. A service without it is ready. */
    redis?: {
      status: "ok" | "failed" | "unknown";
      /** By the id of the database. */
      databases: { [name: string]: "ok" | "unavailable" };
    };
  };
}

/** Something that stored configurations can refer to by its name. */
export interface RegistryEntry {
  /** What configurations refer to it by. */
  name: string;
  type: "tool" | "model" | "db" | "vector_db" | "schema" | "function" | "agent" | "team" | "knowledge" | "memory_manager" | "session_summary_manager" | "hook" | "guardrail" | "embedder";
  id?: string;
  description?: string;
  /** What is known about it: for a tool its parameters, for a schema the JSON schema, for a model its provider. */
  metadata?: { [name: string]: unknown };
}

/** A page of a list. */
export interface RegistryPage {
  data: RegistryEntry[];
  meta: PageMeta;
}

export interface RenameEval {
  name: string;
}

export interface RenameSession {
  session_name: string;
}

/** A run of an agent. */
export interface Run {
  run_id: string;
  session_id: string;
  user_id: string | null;
  /** The identifier of the agent, team or workflow. */
  agent_id: string;
  /** The version of the stored component that ran. */
  version?: number;
  /** How urgent the run is while it waits for a free slot, if it or its component says so. */
  priority?: "low" | "normal" | "high";
  /** Lower case; upper case with `agentos` compatibility. */
  status: "pending" | "running" | "completed" | "error" | "cancelled" | "paused" | "regenerated" | (string & {});
  /** The answer: text, or an object if the request has a schema. Empty until the run has an answer. */
  content: unknown;
  content_type?: string;
  /** Why the model that wrote the content stopped; tool_calls if a tool ended the run. */
  finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "other" | null;
  /** The explanation of the provider. */
  finish_message?: string | null;
  /** The sources that the content cites, in the same format for all providers. */
  citations?: {
    urls?: {
      url: string;
      title?: string;
    }[];
    documents?: {
      document_title?: string;
      cited_text?: string;
      file_name?: string;
    }[];
    search_queries?: string[];
    sources?: {
      url?: string;
      title?: string;
      cited_text?: string;
      file_id?: string;
      file_name?: string;
      document_index?: number;
      start_index?: number;
      end_index?: number;
    }[];
  } | null;
  created_at: string | number;
  /** The kind of failure, for status error. */
  error_type?: string;
  error_id?: string;
  additional_data?: unknown;
  metrics?: { [name: string]: unknown };
  session_state?: { [name: string]: unknown };
  metadata?: { [name: string]: unknown };
  events?: {
    event: string;
  }[];
  agent_name?: string;
  model?: string;
  model_provider?: string;
  input: {
    input_content: string;
  };
  messages?: {
    id: string;
    role: string;
  }[];
  tools?: ToolCallBody[];
  /** What the run waits for or has waited for. */
  requirements?: RequirementBody[];
  forked_from_run_id?: string;
  forked_from_message_index?: number;
  forked_from_session_id?: string;
  regenerated_from?: string;
  last_checkpoint_at_message_index?: number;
}

/** Calls a route of the service at given times. */
export interface Schedule {
  id: string;
  name: string;
  description: string | null;
  method: string;
  endpoint: string;
  payload: { [name: string]: unknown } | null;
  cron_expr: string;
  timezone: string;
  timeout_seconds: number;
  max_retries: number;
  retry_delay_seconds: number;
  /** skip, queue or allow. */
  overlap: string;
  /** skip, once or all. */
  missed: string;
  jitter_seconds: number;
  enabled: boolean;
  /** Why the service disabled it; null when a caller did. */
  disabled_reason: string | null;
  /** api, or code when the code of the service defines it. */
  source: string;
  /** The user with whose rights it calls the endpoint; null when nobody is known. */
  created_by: string | null;
  /** The next tick, in seconds since 1970, UTC. */
  next_run_at: number | null;
  /** Seconds since 1970, UTC. */
  created_at: number;
  updated_at: number | null;
}

/** A schedule to create. */
export interface ScheduleCreate {
  /** A name that no other schedule has. */
  name: string;
  /** When it is executed: five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly, @monthly or @yearly. There are no seconds. */
  cron_expr: string;
  /** The path of this service that it calls. You need the scope of that route. */
  endpoint: string;
  /** GET, POST, PUT, PATCH, DELETE, in any case. */
  method?: string;
  /** What it is for. */
  description?: string | null;
  /** The fields of the request: a form for a run, JSON for other routes. */
  payload?: { [name: string]: unknown } | null;
  /** The time zone of the cron expression: a name of the IANA database. */
  timezone?: string;
  /** After so many seconds an attempt is cancelled. */
  timeout_seconds?: number;
  /** How often a failed attempt is repeated. */
  max_retries?: number;
  /** Seconds between attempts. */
  retry_delay_seconds?: number;
  /** What happens at a tick while an earlier one is being executed: skip (leave it out), queue (execute it afterwards) or allow (execute both). */
  overlap?: "skip" | "queue" | "allow";
  /** What happens with ticks while no process was there: skip (none is executed), once (one for all of them) or all. */
  missed?: "skip" | "once" | "all";
  /** Each tick is executed up to so many seconds later. */
  jitter_seconds?: number;
  /** Whether it is executed at its times. */
  enabled?: boolean;
}

/** One attempt to execute a schedule. */
export interface ScheduleRun {
  id: string;
  schedule_id: string;
  /** From 1; each retry is an attempt. */
  attempt: number;
  /** cron, or manual for one that a caller triggered. */
  trigger: string;
  /** Seconds since 1970, UTC. */
  tick_at: number;
  triggered_at: number | null;
  completed_at: number | null;
  /** running, success, paused (the run waits for a person), failed, cancelled or timeout. */
  status: string;
  /** The HTTP status of the endpoint. */
  status_code: number | null;
  run_id: string | null;
  session_id: string | null;
  error: string | null;
  input: { [name: string]: unknown } | null;
  output: { [name: string]: unknown } | null;
  /** What a paused run waits for. */
  requirements: { [name: string]: unknown }[] | null;
  created_at: number | null;
}

/** A page of a list. */
export interface ScheduleRunsPage {
  data: ScheduleRun[];
  meta: PageMeta;
}

/** Whether a schedule is enabled, and when it is executed next. */
export interface ScheduleState {
  id: string;
  name: string;
  enabled: boolean;
  /** The next tick, in seconds since 1970, UTC. */
  next_run_at: number | null;
  updated_at: number | null;
}

/** What to change. Fields that are left out stay as they are. */
export interface ScheduleUpdate {
  /** A name that no other schedule has. */
  name?: string;
  /** When it is executed: five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly, @monthly or @yearly. There are no seconds. */
  cron_expr?: string;
  /** The path of this service that it calls. You need the scope of that route. */
  endpoint?: string;
  /** GET, POST, PUT, PATCH, DELETE, in any case. */
  method?: string;
  /** What it is for. */
  description?: string | null;
  /** The fields of the request: a form for a run, JSON for other routes. */
  payload?: { [name: string]: unknown } | null;
  /** The time zone of the cron expression: a name of the IANA database. */
  timezone?: string;
  /** After so many seconds an attempt is cancelled. */
  timeout_seconds?: number;
  /** How often a failed attempt is repeated. */
  max_retries?: number;
  /** Seconds between attempts. */
  retry_delay_seconds?: number;
  /** What happens at a tick while an earlier one is being executed: skip (leave it out), queue (execute it afterwards) or allow (execute both). */
  overlap?: "skip" | "queue" | "allow";
  /** What happens with ticks while no process was there: skip (none is executed), once (one for all of them) or all. */
  missed?: "skip" | "once" | "all";
  /** Each tick is executed up to so many seconds later. */
  jitter_seconds?: number;
  /** Whether it is executed at its times. */
  enabled?: boolean;
}

/** A page of a list. */
export interface SchedulesPage {
  data: Schedule[];
  meta: PageMeta;
}

/** A scope to grant. */
export interface ScopeItem {
  /** What the account may do: resource:action, or resource:id:action for one agent, team or workflow. */
  scope: string;
  /** allow; deny is rejected. */
  effect?: "allow" | "deny";
}

/** Statistics of scores; null where there are none. */
export interface ScoreStatistics {
  count: number;
  mean: number | null;
  min: number | null;
  max: number | null;
  std_dev: number | null;
  median: number | null;
  p95: number | null;
}

export interface SendEvent {
  /** The name that the workflow waits for. */
  name: string;
  /** The data of the event; null if omitted. */
  data?: JsonValue;
  /** The same event sent again with this id counts once. */
  event_id?: string;
}

/** The identity of a program. */
export interface ServiceAccount {
  id: string;
  name: string;
  /** The user id that the account acts under: sa:<name>. */
  principal: string;
  /** The user who is responsible for the account. */
  user_id: string | null;
  /** The first characters of the token, to recognise it. */
  token_prefix: string;
  scopes: ServiceAccountScope[];
  /** Seconds since 1970, UTC. */
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  created_by: string | null;
}

/** A service account to create. */
export interface ServiceAccountCreate {
  /** Lowercase letters, digits, _ and -. Revoking the account frees the name. */
  name: string;
  /** Default: agents:run, teams:run, workflows:run, sessions:read, config:read. */
  scopes?: ScopeItem[] | null;
  /** Default: 90. */
  expires_in_days?: number | null;
  /** true: the token is valid until it is revoked, and expires_in_days is ignored. */
  never_expires?: boolean;
  /** Required for scopes that change or delete data, for scopes of service accounts, and for the admin scope. */
  allow_privileged_scopes?: boolean;
}

/** A parsed scope. */
export interface ServiceAccountScope {
  id: string | null;
  /** The scope as granted. */
  raw: string;
  /** The resource. */
  namespace: string;
  /** The id of the one component that the scope covers; * for any; null for the whole resource. */
  sub_namespace: string | null;
  /** The action. */
  permission: string;
  /** allow. */
  value: string;
}

/** A page of a list. */
export interface ServiceAccountsPage {
  data: ServiceAccount[];
  meta: PageMeta;
}

/** A session. It has the fields of its kind: agent_*, team_* or workflow_*. session_summary, metrics, total_tokens and chat_history of a workflow session are additions. */
export interface SessionDetail {
  session_id: string;
  session_name: string;
  user_id?: string | null;
  session_state?: { [name: string]: unknown } | null;
  metadata?: { [name: string]: unknown } | null;
  agent_session_id?: string;
  agent_id?: string | null;
  agent_data?: { [name: string]: unknown } | null;
  team_id?: string | null;
  team_data?: { [name: string]: unknown } | null;
  workflow_id?: string | null;
  workflow_name?: string | null;
  workflow_data?: { [name: string]: unknown };
  session_data?: { [name: string]: unknown };
  session_summary?: {
    summary: string;
    topics?: string[];
    updated_at?: string;
  } | null;
  metrics?: SessionUsage | null;
  total_tokens?: number | null;
  /** The messages of the last 200 runs, without system and tool messages. */
  chat_history?: {
    id: string;
    role: string;
    created_at: number;
  }[];
  created_at: string;
  updated_at: string;
}

/** A run of a session: of an agent, a team or a workflow. */
export type SessionRun = ListedRun | ListedTeamRun | ListedWorkflowRun;

/** The total usage of all runs. Zero values are left out. */
export interface SessionUsage {
  total_tokens?: number;
  cost?: number;
}

/** A page of a list. */
export interface SessionsPage {
  data: ListedSession[];
  meta: PageMeta;
}

/** Files and folders of a source. */
export interface SourceFiles {
  source_id: string;
  source_name: string;
  prefix: string;
  folders: {
    prefix: string;
    name: string;
    is_empty: boolean;
  }[];
  files: {
    key: string;
    name: string;
    size: number | null;
    last_modified: string | null;
    content_type: string | null;
  }[];
  meta: PageMeta;
}

/** A run that continues in the background. */
export interface StartedRun {
  run_id: string;
  session_id: string;
  status: string;
}

/** A team that can be run. */
export interface Team {
  id: string;
  name: string;
  /** The database that holds its sessions. */
  db_id?: string;
  description?: string;
  role?: string;
  model?: {
    name?: string;
    model?: string;
    provider?: string;
  };
  tools?: { [name: string]: unknown };
  sessions?: { [name: string]: unknown };
  knowledge?: { [name: string]: unknown };
  memory?: { [name: string]: unknown };
  reasoning?: { [name: string]: unknown };
  default_tools?: { [name: string]: unknown };
  system_message?: { [name: string]: unknown };
  response_settings?: { [name: string]: unknown };
  introduction?: string;
  streaming?: { [name: string]: unknown };
  /** The limits that the definition sets for a run; null: no limit. */
  limits?: {
    turns?: number | null;
    steps?: number | null;
    tool_calls?: number | null;
    tokens?: number | null;
    cost?: number | null;
    time_ms?: number | null;
    bytes?: number | null;
  };
  metadata?: { [name: string]: unknown };
  input_schema?: { [name: string]: unknown };
  /** Whether it is built anew for each request. */
  is_factory: boolean;
  factory_input_schema?: { [name: string]: unknown };
  /** Whether it comes from the component store. */
  is_component: boolean;
  /** The published version that runs when a request names none. Only in lists. */
  current_version?: number;
  /** Whether this version is a draft or published. */
  stage?: string;
  /** The version of the stored component that is shown. */
  version?: number;
  /** Why a stored component cannot run. Only in lists: other requests are refused with the reason. */
  degraded?: string;
  /** How its leader works with its members. A factory shows none. */
  mode?: "coordinate" | "route" | "broadcast" | "tasks";
  /** Agents, and teams with their own members. A factory shows none. */
  members?: (Agent | Team)[];
}

/** A run of a team as it was at a checkpoint. */
export interface TeamCheckpointSnapshot {
  checkpoint: Checkpoint;
  snapshot: TeamRun;
}

/** A run of a team. */
export interface TeamRun {
  run_id: string;
  session_id: string;
  user_id: string | null;
  /** The identifier of the agent, team or workflow. */
  agent_id: string;
  /** The version of the stored component that ran. */
  version?: number;
  /** How urgent the run is while it waits for a free slot, if it or its component says so. */
  priority?: "low" | "normal" | "high";
  /** Lower case; upper case with `agentos` compatibility. */
  status: "pending" | "running" | "completed" | "error" | "cancelled" | "paused" | "regenerated" | (string & {});
  /** The answer: text, or an object if the request has a schema. Empty until the run has an answer. */
  content: unknown;
  content_type?: string;
  /** Why the model that wrote the content stopped; tool_calls if a tool ended the run. */
  finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "other" | null;
  /** The explanation of the provider. */
  finish_message?: string | null;
  /** The sources that the content cites, in the same format for all providers. */
  citations?: {
    urls?: {
      url: string;
      title?: string;
    }[];
    documents?: {
      document_title?: string;
      cited_text?: string;
      file_name?: string;
    }[];
    search_queries?: string[];
    sources?: {
      url?: string;
      title?: string;
      cited_text?: string;
      file_id?: string;
      file_name?: string;
      document_index?: number;
      start_index?: number;
      end_index?: number;
    }[];
  } | null;
  created_at: string | number;
  /** The kind of failure, for status error. */
  error_type?: string;
  error_id?: string;
  additional_data?: unknown;
  metrics?: { [name: string]: unknown };
  session_state?: { [name: string]: unknown };
  metadata?: { [name: string]: unknown };
  events?: {
    event: string;
  }[];
  team_id: string;
  team_name?: string;
  model?: string;
  model_provider?: string;
  input: {
    input_content: string;
  };
  messages?: {
    id: string;
    role: string;
  }[];
  tools?: ToolCallBody[];
  /** What the run waits for or has waited for. */
  requirements?: RequirementBody[];
  forked_from_run_id?: string;
  forked_from_message_index?: number;
  forked_from_session_id?: string;
  regenerated_from?: string;
  last_checkpoint_at_message_index?: number;
  /** The runs of the members, in the order of delegation. */
  member_responses: {
    run_id: string;
    status: string;
    created_at: number;
  }[];
}

/** The tokens that all runs of a day used. */
export interface TokenMetrics {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  audio_total_tokens: number;
  audio_input_tokens: number;
  audio_output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
}

/** What one run did, step by step. */
export interface TraceDetail {
  trace_id: string;
  name: string;
  /** ERROR: the run failed; UNSET: it is in progress. */
  status: "OK" | "ERROR" | "UNSET";
  /** For example 27ms or 1.39s. */
  duration: string;
  /** ISO 8601, UTC. */
  start_time: string;
  /** ISO 8601, UTC. */
  end_time: string;
  total_spans: number;
  /** The number of failed spans, including those that the run recovered from. */
  error_count: number;
  input?: string;
  run_id?: string;
  session_id?: string;
  user_id?: string;
  agent_id?: string;
  team_id?: string;
  workflow_id?: string;
  /** ISO 8601, UTC. */
  created_at: string;
  /** The scores of live evals, if there are any. */
  scores?: TraceScore[];
  output?: string;
  error?: string;
  tree: TraceSpan[];
}

/** The filter fields that a user interface can offer. */
export interface TraceFilterSchema {
  fields: {
    key: string;
    label: string;
    type: "enum" | "string" | "number" | "datetime";
    operators: string[];
    values: string[] | null;
  }[];
  logical_operators: string[];
}

/** What a live eval found out about the run. */
export interface TraceScore {
  run_id: string;
  eval: string;
  scorer: string;
  score: number | null;
  /** null: the scorer has no threshold. */
  passed: boolean | null;
  /** Only in the response for one trace. */
  reason?: string;
  judge_model?: {
    id: string;
    provider: string;
  };
  /** ISO 8601, UTC. */
  created_at: string;
}

/** The traces to search for. */
export interface TraceSearch {
  /** An expression in the filter language. If omitted: all traces. */
  filter?: { [name: string]: unknown } | null;
  /** run: each run with its span tree; session: totals per session. */
  group_by?: "run" | "session";
  page?: number;
  limit?: number;
}

/** A page of a list. */
export interface TraceSearchPage {
  data: (TraceDetail | TraceSessionStats)[];
  meta: PageMeta;
}

/** The trace totals of one session. */
export interface TraceSessionStats {
  session_id: string;
  user_id?: string;
  agent_id?: string;
  team_id?: string;
  workflow_id?: string;
  total_traces: number;
  /** ISO 8601, UTC. */
  first_trace_at: string;
  /** ISO 8601, UTC. */
  last_trace_at: string;
}

/** A page of a list. */
export interface TraceSessionStatsPage {
  data: TraceSessionStats[];
  meta: PageMeta;
}

/** A unit of work in a trace. Fields without a value are left out. */
export interface TraceSpan {
  id: string;
  name: string;
  /** AGENT, TEAM, WORKFLOW, LLM, TOOL or another kind of work. */
  type: string;
  /** For example 27ms or 1.39s. */
  duration: string;
  /** ISO 8601, UTC. */
  start_time: string;
  /** ISO 8601, UTC. */
  end_time: string;
  status: "OK" | "ERROR" | "UNSET";
  input?: string;
  output?: string;
  error?: string;
  /** The type of the workflow step. */
  step_type?: string;
  metadata?: { [name: string]: unknown };
  /** Not used. */
  extra_data?: { [name: string]: unknown };
  spans?: TraceSpan[];
}

/** A summary of what one run did. Fields without a value are left out. */
export interface TraceSummary {
  trace_id: string;
  name: string;
  /** ERROR: the run failed; UNSET: it is in progress. */
  status: "OK" | "ERROR" | "UNSET";
  /** For example 27ms or 1.39s. */
  duration: string;
  /** ISO 8601, UTC. */
  start_time: string;
  /** ISO 8601, UTC. */
  end_time: string;
  total_spans: number;
  /** The number of failed spans, including those that the run recovered from. */
  error_count: number;
  input?: string;
  run_id?: string;
  session_id?: string;
  user_id?: string;
  agent_id?: string;
  team_id?: string;
  workflow_id?: string;
  /** ISO 8601, UTC. */
  created_at: string;
  /** The scores of live evals, if there are any. */
  scores?: TraceScore[];
}

/** A page of a list. */
export interface TracesPage {
  data: TraceSummary[];
  meta: PageMeta;
}

/** Omitted and null fields keep their values. */
export interface UpdateSession {
  session_name?: string | null;
  /** Replaces the whole state. */
  session_state?: { [name: string]: unknown } | null;
  /** Replaces the whole metadata. */
  metadata?: { [name: string]: unknown } | null;
  summary?: {
    summary: string;
    topics?: string[] | null;
    updated_at?: string | null;
  } | null;
}

/** The memory count of a user. */
export interface UserMemoryStatistics {
  user_id: string;
  total_memories: number;
  /** ISO 8601, UTC, whole seconds. */
  last_memory_updated_at: string;
}

/** A page of a list. */
export interface UserMemoryStatisticsPage {
  data: UserMemoryStatistics[];
  meta: PageMeta;
}

/** One fault of a request. */
export interface ValidationItem {
  /** The kind of fault. */
  type: string;
  /** The location: path, query or body, followed by the path to the field. */
  loc: (string | number)[];
  msg: string;
  /** The value that was sent. */
  input: unknown;
  /** The limits and texts of the fault. */
  ctx?: { [name: string]: unknown };
}

/** All faults of the request with their locations. */
export interface ValidationProblem {
  detail: ValidationItem[] | string;
  /** The stable name of the error, in snake case. */
  error_code: string;
  /** The id of the request, also in the header x-request-id and in the log. */
  request_id: string;
}

/** A workflow with its steps. */
export interface Workflow {
  id: string;
  name: string;
  description?: string;
  /** The database that holds its sessions. */
  db_id?: string;
  /** Whether it is built anew for each request. */
  is_factory: boolean;
  factory_input_schema?: { [name: string]: unknown };
  /** Whether it comes from the component store. */
  is_component: boolean;
  /** The published version that runs when a request names none. Only in lists. */
  current_version?: number;
  /** Whether this version is a draft or published. */
  stage?: string;
  /** The version of the stored component that is shown. */
  version?: number;
  /** Why a stored component cannot run. Only in lists: other requests are refused with the reason. */
  degraded?: string;
  input_schema?: { [name: string]: unknown };
  steps: WorkflowStep[];
  /** The agent in front of the workflow. */
  agent?: Agent;
  team?: Team;
  /** The limits that the definition sets for a run; null: no limit. */
  limits?: {
    turns?: number | null;
    steps?: number | null;
    tool_calls?: number | null;
    tokens?: number | null;
    cost?: number | null;
    time_ms?: number | null;
    bytes?: number | null;
  };
  metadata?: { [name: string]: unknown };
  /** Whether an agent stands in front of the workflow. */
  workflow_agent: boolean;
}

/** A run of a workflow. */
export interface WorkflowRun {
  run_id: string;
  session_id: string;
  user_id: string | null;
  /** The identifier of the agent, team or workflow. */
  agent_id: string;
  /** The version of the stored component that ran. */
  version?: number;
  /** How urgent the run is while it waits for a free slot, if it or its component says so. */
  priority?: "low" | "normal" | "high";
  /** Lower case; upper case with `agentos` compatibility. */
  status: "pending" | "running" | "completed" | "error" | "cancelled" | "paused" | "regenerated" | (string & {});
  /** The answer: text, or an object if the request has a schema. Empty until the run has an answer. */
  content: unknown;
  content_type?: string;
  /** Why the model that wrote the content stopped; tool_calls if a tool ended the run. */
  finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "other" | null;
  /** The explanation of the provider. */
  finish_message?: string | null;
  /** The sources that the content cites, in the same format for all providers. */
  citations?: {
    urls?: {
      url: string;
      title?: string;
    }[];
    documents?: {
      document_title?: string;
      cited_text?: string;
      file_name?: string;
    }[];
    search_queries?: string[];
    sources?: {
      url?: string;
      title?: string;
      cited_text?: string;
      file_id?: string;
      file_name?: string;
      document_index?: number;
      start_index?: number;
      end_index?: number;
    }[];
  } | null;
  created_at: string | number;
  /** The kind of failure, for status error. */
  error_type?: string;
  error_id?: string;
  additional_data?: unknown;
  metrics?: { [name: string]: unknown };
  session_state?: { [name: string]: unknown };
  metadata?: { [name: string]: unknown };
  events?: {
    event: string;
  }[];
  workflow_id: string;
  workflow_name?: string;
  /** Text, or an object if the workflow has an input schema. */
  input: unknown;
  /** The results of the top-level steps, in order. */
  step_results?: {
    content: unknown;
    step_name: string;
    step_id: string;
    success: boolean;
  }[];
  /** The runs of agents, teams and workflows that executed steps, in order. */
  step_executor_runs?: {
    run_id: string;
    status: string;
    created_at: number;
  }[];
  /** The run of the workflow agent. */
  workflow_agent_run?: {
    run_id: string;
    status: string;
    created_at: number;
  };
  /** What steps have waited for, followed by what the run waits for. */
  step_requirements?: StepRequirement[];
  /** Failed steps that wait or have waited for a decision. */
  error_requirements?: ErrorRequirement[];
  paused_step_index?: number;
  paused_step_name?: string;
  pause_kind?: "step" | "executor";
  /** The events and times that functions of a paused workflow wait for. */
  waiting_for?: {
    kind: "event" | "sleep";
    step_name: string;
  }[];
  /** The outcome of each started step, also during the run. */
  step_states?: {
    key: string;
    step_id: string;
    status: string;
  }[];
  images: { [name: string]: unknown }[];
  videos: { [name: string]: unknown }[];
  audio: { [name: string]: unknown }[];
  files: { [name: string]: unknown }[];
}

/** A step of a workflow. Limits and conditions depend on its type. */
export interface WorkflowStep {
  name: string;
  description?: string;
  type: "Step" | "Steps" | "Loop" | "Parallel" | "Foreach" | "Condition" | "Router" | "Workflow";
  /** The agent that executes the step. */
  agent?: Agent;
  /** The team that executes the step. */
  team?: Team;
  /** The workflow that executes the step. */
  workflow_id?: string;
  /** The steps of a group, or the choices of a router. */
  steps?: WorkflowStep[];
  /** The steps that run when the condition is not met. */
  else_steps?: WorkflowStep[];
  /** What a person must review. */
  review?: { [name: string]: unknown };
}

/** A workflow that can be run. */
export interface WorkflowSummary {
  id: string;
  name: string;
  description?: string;
  /** The database that holds its sessions. */
  db_id?: string;
  /** Whether it is built anew for each request. */
  is_factory: boolean;
  factory_input_schema?: { [name: string]: unknown };
  /** Whether it comes from the component store. */
  is_component: boolean;
  /** The published version that runs when a request names none. Only in lists. */
  current_version?: number;
  /** Whether this version is a draft or published. */
  stage?: string;
  /** The version of the stored component that is shown. */
  version?: number;
  /** Why a stored component cannot run. Only in lists: other requests are refused with the reason. */
  degraded?: string;
}

export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue };

export interface CreateAgentRunBody {
  /** The message to the agent or team, or the input of the workflow. */
  message: string | { [name: string]: unknown } | unknown[];
  /** true: the response is a stream of events; false: one JSON body. Default: true, or false with background. */
  stream?: boolean | null;
  /** false: the stream carries only content, and the failure or pause of the run. */
  stream_events?: boolean | null;
  on_disconnect?: "continue" | "cancel" | null;
  /** true: the run is stored and continues in the background; without stream the response is 202 and the caller polls. */
  background?: boolean | null;
  /** The session to continue; an unknown id creates one. If omitted: a new session. */
  session_id?: string | null;
  /** The user that the run belongs to. */
  user_id?: string | null;
  /** Files to work with: images, audio, video, documents. Repeat the field for more than one. */
  files?: Blob[];
  /** A version of a stored component. Components registered in code have none. */
  version?: number | null;
  /** A JSON object for a component that a factory builds for each run; others ignore it. */
  factory_input?: { [name: string]: unknown } | null;
  /** Accepted for older clients; it has no effect. */
  monitor?: boolean | null;
  /** A JSON object merged over the state of the session. */
  session_state?: { [name: string]: unknown } | null;
  /** A JSON object; its values fill {key} in the instructions. */
  dependencies?: { [name: string]: unknown } | null;
  /** A JSON object kept with the run. */
  metadata?: { [name: string]: unknown } | null;
  /** Restricts the knowledge search: a JSON object, a filter expression, or an array of expressions. */
  knowledge_filters?: { [name: string]: unknown } | unknown[] | null;
  /** A JSON schema that the answer must match; content is then an object. */
  output_schema?: { [name: string]: unknown } | null;
  /** true: the output_schema of this request has the form {"type":"json_schema","json_schema":{"name","schema"}} and is passed to the provider unchanged. Without output_schema it has no effect. */
  use_json_schema?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_history_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_dependencies_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_session_state_to_context?: boolean | null;
  /** A JSON array of image objects, each with exactly one of url or content (base64). */
  images?: unknown[] | null;
  /** A JSON array of audio objects, each with exactly one of url or content (base64). */
  audio?: unknown[] | null;
  /** A JSON array of video objects, each with exactly one of url or content (base64). */
  videos?: unknown[] | null;
  /** A JSON array of document objects, each with exactly one of url or content (base64). */
  input_files?: unknown[] | null;
  priority?: "low" | "normal" | "high" | null;
  /** Your own identifier for the run; 409 if it is taken. */
  run_id?: string | null;
  /** Accepted for older clients; the log level is a setting of the service. */
  debug_mode?: boolean | null;
}

export interface ContinueAgentRunBody {
  /** The `tools` of the paused run as a JSON array, with the answers filled in. All other fields are ignored. */
  tools?: unknown[] | null;
  /** The `requirements` of the paused run as a JSON array, with the answers filled in. All other fields are ignored. */
  requirements?: unknown[] | null;
  /** If given, the run must belong to this session. */
  session_id?: string | null;
  /** If given, the run must belong to this user or to none. */
  user_id?: string | null;
  /** true: the response is a stream of events; false: one JSON body. Default: true, or false with background. */
  stream?: boolean | null;
  /** false: the stream carries only content, and the failure or pause of the run. */
  stream_events?: boolean | null;
  on_disconnect?: "continue" | "cancel" | null;
  /** true: the run continues in the background; without stream the response is 202 and the caller polls. */
  background?: boolean | null;
  /** The next message of the user. */
  input?: string | null;
  /** Where to continue the conversation: `end`, `last_user`, or after this number of messages. Every tool call keeps its result. */
  continue_from?: string | number | null;
  /** true: a copy of the run continues under a new id. */
  fork?: boolean | null;
  /** true: a copy of the run answers again. */
  regenerate?: boolean | null;
  /** With regenerate. true (the default): once the new answer is complete, the old run becomes `regenerated` and is left out of the history. */
  replace_original?: boolean | null;
  /** With regenerate: the message of the user for the new answer. */
  additional_instructions?: string | null;
  /** A JSON object; its values fill {key} in the instructions. */
  dependencies?: { [name: string]: unknown } | null;
  /** A JSON object kept with the run. */
  metadata?: { [name: string]: unknown } | null;
  /** Restricts the knowledge search: a JSON object, a filter expression, or an array of expressions. */
  knowledge_filters?: { [name: string]: unknown } | unknown[] | null;
  /** A JSON schema that the answer must match; content is then an object. */
  output_schema?: { [name: string]: unknown } | null;
  /** true: the output_schema of this request has the form {"type":"json_schema","json_schema":{"name","schema"}} and is passed to the provider unchanged. Without output_schema it has no effect. */
  use_json_schema?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_history_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_dependencies_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_session_state_to_context?: boolean | null;
}

export interface ResumeAgentRunStreamBody {
  /** The index of the last event that you received; if omitted or -1, all events are sent. */
  last_event_index?: number | null;
  /** If given, the run must belong to this session. */
  session_id?: string | null;
}

export interface CreateTeamRunBody {
  /** The message to the agent or team, or the input of the workflow. */
  message: string | { [name: string]: unknown } | unknown[];
  /** true: the response is a stream of events; false: one JSON body. Default: true, or false with background. */
  stream?: boolean | null;
  /** false: the stream carries only content, and the failure or pause of the run. */
  stream_events?: boolean | null;
  on_disconnect?: "continue" | "cancel" | null;
  /** true: the run is stored and continues in the background; without stream the response is 202 and the caller polls. */
  background?: boolean | null;
  /** The session to continue; an unknown id creates one. If omitted: a new session. */
  session_id?: string | null;
  /** The user that the run belongs to. */
  user_id?: string | null;
  /** Files to work with: images, audio, video, documents. Repeat the field for more than one. */
  files?: Blob[];
  /** A version of a stored component. Components registered in code have none. */
  version?: number | null;
  /** A JSON object for a component that a factory builds for each run; others ignore it. */
  factory_input?: { [name: string]: unknown } | null;
  /** Accepted for older clients; it has no effect. */
  monitor?: boolean | null;
  /** A JSON object merged over the state of the session. */
  session_state?: { [name: string]: unknown } | null;
  /** A JSON object; its values fill {key} in the instructions. */
  dependencies?: { [name: string]: unknown } | null;
  /** A JSON object kept with the run. */
  metadata?: { [name: string]: unknown } | null;
  /** Restricts the knowledge search: a JSON object, a filter expression, or an array of expressions. */
  knowledge_filters?: { [name: string]: unknown } | unknown[] | null;
  /** A JSON schema that the answer must match; content is then an object. */
  output_schema?: { [name: string]: unknown } | null;
  /** true: the output_schema of this request has the form {"type":"json_schema","json_schema":{"name","schema"}} and is passed to the provider unchanged. Without output_schema it has no effect. */
  use_json_schema?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_history_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_dependencies_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_session_state_to_context?: boolean | null;
  /** A JSON array of image objects, each with exactly one of url or content (base64). */
  images?: unknown[] | null;
  /** A JSON array of audio objects, each with exactly one of url or content (base64). */
  audio?: unknown[] | null;
  /** A JSON array of video objects, each with exactly one of url or content (base64). */
  videos?: unknown[] | null;
  /** A JSON array of document objects, each with exactly one of url or content (base64). */
  input_files?: unknown[] | null;
  priority?: "low" | "normal" | "high" | null;
  /** Your own identifier for the run; 409 if it is taken. */
  run_id?: string | null;
  /** Accepted for older clients; the log level is a setting of the service. */
  debug_mode?: boolean | null;
}

export interface ContinueTeamRunBody {
  /** The `tools` of the paused run as a JSON array, with the answers filled in. All other fields are ignored. */
  tools?: unknown[] | null;
  /** The `requirements` of the paused run as a JSON array, with the answers filled in. All other fields are ignored. */
  requirements?: unknown[] | null;
  /** If given, the run must belong to this session. */
  session_id?: string | null;
  /** If given, the run must belong to this user or to none. */
  user_id?: string | null;
  /** true: the response is a stream of events; false: one JSON body. Default: true, or false with background. */
  stream?: boolean | null;
  /** false: the stream carries only content, and the failure or pause of the run. */
  stream_events?: boolean | null;
  on_disconnect?: "continue" | "cancel" | null;
  /** true: the run continues in the background; without stream the response is 202 and the caller polls. */
  background?: boolean | null;
  /** The next message of the user. */
  input?: string | null;
  /** Where to continue the conversation: `end`, `last_user`, or after this number of messages. Every tool call keeps its result. */
  continue_from?: string | number | null;
  /** true: a copy of the run continues under a new id. */
  fork?: boolean | null;
  /** true: a copy of the run answers again. */
  regenerate?: boolean | null;
  /** With regenerate. true (the default): once the new answer is complete, the old run becomes `regenerated` and is left out of the history. */
  replace_original?: boolean | null;
  /** With regenerate: the message of the user for the new answer. */
  additional_instructions?: string | null;
  /** A JSON object; its values fill {key} in the instructions. */
  dependencies?: { [name: string]: unknown } | null;
  /** A JSON object kept with the run. */
  metadata?: { [name: string]: unknown } | null;
  /** Restricts the knowledge search: a JSON object, a filter expression, or an array of expressions. */
  knowledge_filters?: { [name: string]: unknown } | unknown[] | null;
  /** A JSON schema that the answer must match; content is then an object. */
  output_schema?: { [name: string]: unknown } | null;
  /** true: the output_schema of this request has the form {"type":"json_schema","json_schema":{"name","schema"}} and is passed to the provider unchanged. Without output_schema it has no effect. */
  use_json_schema?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_history_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_dependencies_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_session_state_to_context?: boolean | null;
}

export interface ResumeTeamRunStreamBody {
  /** The index of the last event that you received; if omitted or -1, all events are sent. */
  last_event_index?: number | null;
  /** If given, the run must belong to this session. */
  session_id?: string | null;
}

export interface CreateWorkflowRunBody {
  /** The message to the agent or team, or the input of the workflow. */
  message: string | { [name: string]: unknown } | unknown[];
  /** true: the response is a stream of events; false: one JSON body. Default: true, or false with background. */
  stream?: boolean | null;
  /** false: the stream carries only content, and the failure or pause of the run. */
  stream_events?: boolean | null;
  on_disconnect?: "continue" | "cancel" | null;
  /** true: the run is stored and continues in the background; without stream the response is 202 and the caller polls. */
  background?: boolean | null;
  /** The session to continue; an unknown id creates one. If omitted: a new session. */
  session_id?: string | null;
  /** The user that the run belongs to. */
  user_id?: string | null;
  /** Files to work with: images, audio, video, documents. Repeat the field for more than one. */
  files?: Blob[];
  /** A version of a stored component. Components registered in code have none. */
  version?: number | null;
  /** A JSON object for a component that a factory builds for each run; others ignore it. */
  factory_input?: { [name: string]: unknown } | null;
  /** Accepted for older clients; it has no effect. */
  monitor?: boolean | null;
  /** A JSON object merged over the state of the session. */
  session_state?: { [name: string]: unknown } | null;
  /** A JSON object; its values fill {key} in the instructions. */
  dependencies?: { [name: string]: unknown } | null;
  /** A JSON object kept with the run. */
  metadata?: { [name: string]: unknown } | null;
  /** Overrides the setting of the agent for this run. */
  add_dependencies_to_context?: boolean | null;
  /** Overrides the setting of the agent for this run. */
  add_session_state_to_context?: boolean | null;
  /** A JSON array of image objects, each with exactly one of url or content (base64). */
  images?: unknown[] | null;
  /** A JSON array of audio objects, each with exactly one of url or content (base64). */
  audio?: unknown[] | null;
  /** A JSON array of video objects, each with exactly one of url or content (base64). */
  videos?: unknown[] | null;
  /** A JSON array of document objects, each with exactly one of url or content (base64). */
  input_files?: unknown[] | null;
  priority?: "low" | "normal" | "high" | null;
  /** Your own identifier for the run; 409 if it is taken. */
  run_id?: string | null;
  /** Accepted for older clients; the log level is a setting of the service. */
  debug_mode?: boolean | null;
  /** Text that every step receives in addition to the input. */
  additional_data?: string | null;
}

export interface ContinueWorkflowRunBody {
  /** The `step_requirements` of the paused run as a JSON array, with the answers filled in. All other fields are ignored. */
  step_requirements?: unknown[] | null;
  /** The `error_requirements` of the paused run as a JSON array, with the answers filled in. All other fields are ignored. */
  error_requirements?: unknown[] | null;
  /** The name of a step: a new run starts there, with what the steps before it made in this run. If omitted, the run itself continues: where it paused, or with the step that failed. */
  continue_from?: string | null;
  /** If given, the run must belong to this session. */
  session_id?: string | null;
  /** If given, the run must belong to this user or to none. */
  user_id?: string | null;
  /** true: the response is a stream of events; false: one JSON body. Default: true, or false with background. */
  stream?: boolean | null;
  /** false: the stream carries only content, and the failure or pause of the run. */
  stream_events?: boolean | null;
  on_disconnect?: "continue" | "cancel" | null;
  /** true: the run continues in the background; without stream the response is 202 and the caller polls. */
  background?: boolean | null;
  /** Accepted for older clients; workflows registered in code ignore it. */
  factory_input?: string | null;
}

export interface ResumeWorkflowRunStreamBody {
  /** The index of the last event that you received; if omitted or -1, all events are sent. */
  last_event_index?: number | null;
  /** If given, the run must belong to this session. */
  session_id?: string | null;
}

export interface UploadContentBody {
  /** Default: the file name, the address, or the beginning of the text. */
  name?: string | null;
  description?: string | null;
  /** A JSON object of at most 100 keys that filters can use. A text that is not JSON is stored as {"value": …}. The keys _agno and linked_to are ignored. */
  metadata?: { [name: string]: unknown } | null;
  /** The id of a reader in GET /knowledge/config. Default: the reader for the type of the content. */
  reader_id?: string | null;
  /** The key of a chunker in GET /knowledge/config. Default: that of the knowledge base, or of the reader. */
  chunker?: string | null;
  /** The most characters of a chunk. */
  chunk_size?: number | null;
  /** How many characters a chunk repeats of the one before. Less than chunk_size. */
  chunk_overlap?: number | null;
  /** A file: exactly one of file, text_content and url is required. */
  file?: Blob[];
  /** A text. */
  text_content?: string | null;
  /** An http or https address, or a JSON array of addresses, each of which becomes a content. */
  url?: string | null;
}

export interface UploadRemoteContentBody {
  /** The id of a source in GET /knowledge/config. */
  config_id: string;
  /** The full path in the source. With a slash at its end: a folder. */
  path: string;
  /** A JSON object of parameters that the type of the source accepts, such as {"repo": "owner/repo"}. */
  source_params?: { [name: string]: unknown } | null;
  /** Default: the file name, the address, or the beginning of the text. */
  name?: string | null;
  description?: string | null;
  /** A JSON object of at most 100 keys that filters can use. A text that is not JSON is stored as {"value": …}. The keys _agno and linked_to are ignored. */
  metadata?: { [name: string]: unknown } | null;
  /** The id of a reader in GET /knowledge/config. Default: the reader for the type of the content. */
  reader_id?: string | null;
  /** The key of a chunker in GET /knowledge/config. Default: that of the knowledge base, or of the reader. */
  chunker?: string | null;
  /** The most characters of a chunk. */
  chunk_size?: number | null;
  /** How many characters a chunk repeats of the one before. Less than chunk_size. */
  chunk_overlap?: number | null;
}

export interface UpdateContentBody {
  name?: string | null;
  description?: string | null;
  /** A JSON object that is merged into the stored one. null is stored as a value. */
  metadata?: { [name: string]: unknown } | null;
  /** A JSON array of metadata keys to remove. */
  remove_metadata?: unknown[] | null;
  /** Accepted for older clients; it must exist and has no further effect. */
  reader_id?: string | null;
}

export interface SearchKnowledgeBody {
  /** What to search for. */
  query: string;
  db_id?: string | null;
  knowledge_id?: string | null;
  /** If not empty, it must contain the id of the vector store of the knowledge base. */
  vector_db_ids?: string[] | null;
  /** Default: that of the knowledge base. */
  search_type?: "vector" | "keyword" | "hybrid" | null;
  /** The most chunks. Default: that of the knowledge base, or as many as the page needs. */
  max_results?: number | null;
  /** Metadata that chunks must have: an object, a filter expression, or an array of expressions. */
  filters?: { [name: string]: unknown } | unknown[] | null;
  /** The page of the results. */
  meta?: {
    limit?: number;
    page?: number;
  } | null;
}

export interface ImportDatasetCasesBody {
  /** A file that ends in .json (an array of cases), .jsonl, .ndjson, .csv or .tsv (with a header). The fields of a case are id, input, expected_output, expected_tool_calls, metadata, session_state and dependencies. */
  file?: Blob[];
  /** The cases as JSON Lines, in place of a file. */
  text_content?: string | null;
  /** true: the cases of the file replace all cases. Default: they are added. */
  replace?: boolean | null;
}

/** The operations of a service by resource. */
export interface Resources {
  service: {
    /** Check that the service responds */
    healthCheck(options?: CallOptions): Promise<Health>;
    /** Check that the service is ready. Checks that each database accepts writes and has the right schema, and that the engine keeps its runs. 503 with the same body if a check fails or the service is stopping. */
    readinessCheck(options?: CallOptions): Promise<Ready>;
    /** Identify the service */
    getApiInfo(options?: CallOptions): Promise<Home>;
    /** Get information about the service. Identity, version, number of components, authentication method, number of runs in progress, and number of runs that wait for an unregistered component. */
    getInfo(options?: CallOptions): Promise<Info>;
    /** Get the configuration. The databases and interfaces of this service, and the components that the caller may see or run. */
    getConfig(options?: CallOptions): Promise<Config>;
    /** List the models. The models of the agents and teams that the caller may see or run, stored ones included, without duplicates. */
    getModels(options?: CallOptions): Promise<Model[]>;
  };
  agents: {
    /** List the agents. All agents that the caller may see: those of the code in the order of their registration, then those that are stored in the order of their creation. One that cannot be built is listed with the reason (degraded). */
    list(options?: CallOptions): Promise<Agent[]>;
    /** Get an agent */
    get(agentId: string, query?: {
      /** A version of a stored component. Components registered in code have none. */
      version?: number;
    }, options?: CallOptions): Promise<Agent>;
    /** Get the config of an agent. What POST /components takes to store a copy of it under another id. A component whose settings have no name in the registry is refused with the place of each. */
    getConfig(agentId: string, query?: {
      /** A version of a stored component. Components registered in code have none. */
      version?: number;
    }, options?: CallOptions): Promise<ComponentCopy>;
    /** List the runs of an agent. Runs of a session, oldest first; without session_id, the runs of the agent, newest first. A run in progress has its text and tool calls so far. Streamed runs include their events. */
    listRuns(agentId: string, query?: {
      /** Only runs of this session, oldest first. If omitted: all runs of the component, newest first. */
      session_id?: string;
      /** Only runs with this status, case-insensitive. */
      status?: string;
      /** The maximum number of runs. Default: 1000 with session_id, else 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** false: omits the events of streamed runs. true: each run has its first and last 500 events. */
      include_events?: boolean;
    }, options?: CallOptions): Promise<ListedRun[]>;
    /** Get a run. The stored run. While it is pending or running, its content is empty and it has no messages or tools. */
    getRun(agentId: string, runId: string, query?: {
      /** If given, the run must belong to this session. */
      session_id?: string;
    }, options?: CallOptions): Promise<Run>;
    /** List the checkpoints of a run. Points in the conversation from which the run can continue (continue_from): after each round of tool calls, and at the end. */
    listRunCheckpoints(agentId: string, runId: string, query?: {
      /** If given, the run must belong to this session. */
      session_id?: string;
    }, options?: CallOptions): Promise<Checkpoints>;
    /** Get a run as it was at a checkpoint. The run with at most message_index messages; fewer if a tool call would otherwise lack its result. The stored run does not change. */
    getRunCheckpoint(agentId: string, runId: string, messageIndex: string | number, query?: {
      /** If given, the run must belong to this session. */
      session_id?: string;
    }, options?: CallOptions): Promise<CheckpointSnapshot>;
    /** Copy a session. Copies a session with its state and its finished runs. Later changes to one do not affect the other. */
    forkSession(agentId: string, sessionId: string, query?: {
      /** If given, the session must belong to this user or to none. */
      user_id?: string;
      /** Copies only the runs that started before this run, without the summary. */
      before_run_id?: string;
    }, options?: CallOptions): Promise<ForkedSession>;
  };
  teams: {
    /** List the teams. All teams that the caller may see, with their members: those of the code, then those that are stored. */
    list(options?: CallOptions): Promise<Team[]>;
    /** Get a team */
    get(teamId: string, query?: {
      /** A version of a stored component. Components registered in code have none. */
      version?: number;
    }, options?: CallOptions): Promise<Team>;
    /** Get the config of a team. What POST /components takes to store a copy of it under another id. A component whose settings have no name in the registry is refused with the place of each. */
    getConfig(teamId: string, query?: {
      /** A version of a stored component. Components registered in code have none. */
      version?: number;
    }, options?: CallOptions): Promise<ComponentCopy>;
    /** List the runs of a team. Runs of a session, oldest first; without session_id, the runs of the team, newest first. A run in progress has its text and tool calls so far. Streamed runs include their events. */
    listRuns(teamId: string, query?: {
      /** Only runs of this session, oldest first. If omitted: all runs of the component, newest first. */
      session_id?: string;
      /** Only runs with this status, case-insensitive. */
      status?: string;
      /** The maximum number of runs. Default: 1000 with session_id, else 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** false: omits the events of streamed runs. true: each run has its first and last 500 events. */
      include_events?: boolean;
    }, options?: CallOptions): Promise<ListedTeamRun[]>;
    /** Get a run. The stored run. While it is pending or running, its content is empty and it has no messages or tools. */
    getRun(teamId: string, runId: string, query?: {
      /** If given, the run must belong to this session. */
      session_id?: string;
    }, options?: CallOptions): Promise<TeamRun>;
    /** List the checkpoints of a run. Points in the conversation from which the run can continue (continue_from): after each round of tool calls, and at the end. */
    listRunCheckpoints(teamId: string, runId: string, query?: {
      /** If given, the run must belong to this session. */
      session_id?: string;
    }, options?: CallOptions): Promise<Checkpoints>;
    /** Get a run as it was at a checkpoint. The run with at most message_index messages; fewer if a tool call would otherwise lack its result. The stored run does not change. */
    getRunCheckpoint(teamId: string, runId: string, messageIndex: string | number, query?: {
      /** If given, the run must belong to this session. */
      session_id?: string;
    }, options?: CallOptions): Promise<TeamCheckpointSnapshot>;
    /** Copy a session. Copies a session with its state and its finished runs. Later changes to one do not affect the other. */
    forkSession(teamId: string, sessionId: string, query?: {
      /** If given, the session must belong to this user or to none. */
      user_id?: string;
      /** Copies only the runs that started before this run, without the summary. */
      before_run_id?: string;
    }, options?: CallOptions): Promise<ForkedSession>;
  };
  workflows: {
    /** List the workflows. All workflows that the caller may see, without their steps: those of the code, then those that are stored. */
    list(options?: CallOptions): Promise<WorkflowSummary[]>;
    /** Get a workflow. The workflow with the tree of its steps, their order and their conditions. */
    get(workflowId: string, query?: {
      /** A version of a stored component. Components registered in code have none. */
      version?: number;
    }, options?: CallOptions): Promise<Workflow>;
    /** Get the config of a workflow. What POST /components takes to store a copy of it under another id. A component whose settings have no name in the registry is refused with the place of each. */
    getConfig(workflowId: string, query?: {
      /** A version of a stored component. Components registered in code have none. */
      version?: number;
    }, options?: CallOptions): Promise<ComponentCopy>;
    /** List the runs of a workflow. Runs of a session, oldest first; without session_id, the runs of the workflow, newest first. A run in progress has its text and tool calls so far. Streamed runs include their events. */
    listRuns(workflowId: string, query?: {
      /** Only runs of this session, oldest first. If omitted: all runs of the component, newest first. */
      session_id?: string;
      /** Only runs with this status, case-insensitive. */
      status?: string;
      /** The maximum number of runs. Default: 1000 with session_id, else 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** false: omits the events of streamed runs. true: each run has its first and last 500 events. */
      include_events?: boolean;
      /** Accepted for older clients; workflows registered in code ignore it. */
      factory_input?: string;
    }, options?: CallOptions): Promise<ListedWorkflowRun[]>;
    /** Get a run. The stored run. While it is pending or running, its content is empty and it has no messages or tools. */
    getRun(workflowId: string, runId: string, query?: {
      /** If given, the run must belong to this session. */
      session_id?: string;
      /** Accepted for older clients; workflows registered in code ignore it. */
      factory_input?: string;
    }, options?: CallOptions): Promise<WorkflowRun>;
    /** Send an event to a run. A function of the workflow that waits for an event of this name continues with its data. An event that comes before is kept until a function waits for it. Data that does not fit what the run waits for is refused with 422. */
    sendRunEvent(workflowId: string, runId: string, body: SendEvent, options?: CallOptions<{
      /** If given, the run must belong to this session. */
      session_id?: string;
    }>): Promise<EventReceipt>;
  };
  components: {
    /** List components. Newest first. Components of the code are not listed, nor stored ones that they hide. */
    list(query?: {
      component_type?: ComponentType;
      /** Deleted components as well. */
      include_deleted?: boolean;
      /** The number of entries per page. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
    }, options?: CallOptions): Promise<ComponentsPage>;
    /** Create a component. Stores an agent, a team or a workflow with its first version. Members of a team that are stored components are pinned to their current versions. The id of a deleted component takes it up again: its versions stay. */
    create(body: ComponentCreate, options?: CallOptions): Promise<Component>;
    /** Get a component */
    get(componentId: string, query?: {
      /** Deleted components as well. */
      include_deleted?: boolean;
    }, options?: CallOptions): Promise<Component>;
    /** Change a component. Fields that are left out stay as they are; null removes the description and the metadata. The type cannot change while the component has versions. */
    update(componentId: string, body: ComponentUpdate, options?: CallOptions): Promise<Component>;
    /** Delete a component. The component no longer runs; runs in progress continue. It can be restored. 409 if another component uses it. */
    delete(componentId: string, query?: {
      /** The revision that you have read. 409 if another editor changed it since. */
      expected_revision?: number;
    }, options?: CallOptions): Promise<undefined>;
    /** Restore a deleted component. The component is as it was before it was deleted. One that is not deleted stays as it is. */
    restore(componentId: string, query?: {
      /** The revision that you have read. 409 if another editor changed it since. */
      expected_revision?: number;
    }, options?: CallOptions): Promise<Component>;
    /** List what depends on a component. The versions of other stored components that refer to it, with the version that they pin. Schedules that run or evaluate it are in a list of their own, for callers who may read schedules. */
    listDependents(componentId: string, query?: {
      /** The number of entries per page. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
    }, options?: CallOptions): Promise<ComponentDependentsPage>;
    /** List the changes of a component. Who changed what, newest first. The newest 1,000 changes are kept. */
    listHistory(componentId: string, query?: {
      /** The number of entries per page. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
    }, options?: CallOptions): Promise<ComponentHistoryPage>;
    /** Compare two versions. What differs, field by field. Changed texts of several lines are shown line by line. */
    compareConfigs(componentId: string, query: {
      /** The older version. */
      from: number;
      /** The newer version. */
      to: number;
      /** An earlier save of it. Default: the newest. */
      from_revision?: number;
      /** An earlier save of it. Default: the newest. */
      to_revision?: number;
    }, options?: CallOptions): Promise<ComponentDiff>;
    /** List the versions of a component. Newest first. */
    listConfigs(componentId: string, query?: {
      /** Whether to show what they hold. */
      include_config?: boolean;
      /** The number of entries per page. Default: 1000. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
    }, options?: CallOptions): Promise<ComponentConfig[]>;
    /** Add a version. Adds a draft, or a published version, which becomes the current one. */
    createConfig(componentId: string, body: ConfigCreate, options?: CallOptions): Promise<ComponentConfig>;
    /** Get the version that runs. The current version, or the newest draft if none is current. */
    getCurrentConfig(componentId: string, options?: CallOptions): Promise<ComponentConfig>;
    /** Get a version */
    getConfig(componentId: string, version: string | number, options?: CallOptions): Promise<ComponentConfig>;
    /** Save or publish a draft. Fields that are left out stay as they are; null removes the label and the notes. With the stage published, the version never changes again and becomes the current one. */
    updateConfig(componentId: string, version: string | number, body: ConfigUpdate, options?: CallOptions): Promise<ComponentConfig>;
    /** Delete a draft. Its number is not used again. Published versions stay, and so do versions that others pin (409). */
    deleteConfig(componentId: string, version: string | number, query?: {
      /** The revision that you have read. 409 if another editor changed it since. */
      expected_revision?: number;
    }, options?: CallOptions): Promise<undefined>;
    /** Get the links of a version. The versions of other components that it pins. */
    getConfigLinks(componentId: string, version: string | number, options?: CallOptions): Promise<ComponentConfigLinks>;
    /** Make a version the current one. Rolls back to an earlier published version, or forward to a later one. */
    setCurrentConfig(componentId: string, version: string | number, query?: {
      /** The revision that you have read. 409 if another editor changed it since. */
      expected_revision?: number;
    }, options?: CallOptions): Promise<Component>;
    /** List what configurations can refer to. What the code registers, and what its agents, teams and workflows use: models, tools, schemas, functions and more, by type and name. Agents and teams are those that the caller may see or run. */
    listRegistry(query?: {
      /** Only entries of this type. hook, guardrail and embedder are additions. */
      resource_type?: "tool" | "model" | "db" | "vector_db" | "schema" | "function" | "agent" | "team" | "knowledge" | "memory_manager" | "session_summary_manager" | "hook" | "guardrail" | "embedder";
      /** Only entries with this text in their name, in letters of either case. */
      name?: string;
      /** The number of entries per page. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
    }, options?: CallOptions): Promise<RegistryPage>;
  };
  databases: {
    /** List the databases. The registered databases with the versions of their schemas and tables, and pending migrations. */
    list(options?: CallOptions): Promise<{
      db_id: string;
      /** Whether the database has the schema of this process; unavailable: it does not respond. */
      status: "current" | "older" | "newer" | "unavailable";
      /** The version of the schema; 0 is an empty database. */
      version?: number;
      /** The newest version that this process knows. */
      latest_version: number;
      /** The migrations that are still to run. */
      pending: {
        name: string;
        version: number;
      }[];
      /** The tables, each with the version that changed it last. */
      tables: {
        name: string;
        version: number;
      }[];
    }[]>;
    /** Migrate all databases. Migrates the schemas of all databases, one after the other. A downgrade that deletes data gets 409 with the tables and the number of rows, unless force is true. While the schema does not fit this version, requests for the database get 503. */
    migrateAll(body?: MigrateRequest, options?: CallOptions<{
      /** The version to migrate to, up or down; the latest if omitted. 0 removes all tables. The versions 2.0.0, 2.3.0, 2.5.0 and 2.5.6 of other implementations are accepted and change nothing. */
      target_version?: string;
      /** true: nothing is executed, and the response has the SQL of each step. */
      dry_run?: boolean;
      /** true: also if a downgrade deletes data. */
      force?: boolean;
    }>): Promise<DatabasesMigrated | DatabasesPartlyMigrated>;
    /** Migrate a database. Migrates the schema of a database up or down. A downgrade that deletes data gets 409 with the tables and the number of rows, unless force is true. While the schema does not fit this version, requests for the database get 503. */
    migrate(dbId: string, body?: MigrateRequest, options?: CallOptions<{
      /** The version to migrate to, up or down; the latest if omitted. 0 removes all tables. The versions 2.0.0, 2.3.0, 2.5.0 and 2.5.6 of other implementations are accepted and change nothing. */
      target_version?: string;
      /** true: nothing is executed, and the response has the SQL of each step. */
      dry_run?: boolean;
      /** true: also if a downgrade deletes data. */
      force?: boolean;
    }>): Promise<DatabaseMigrated>;
  };
  sessions: {
    /** List the runs of a session. All runs, by default in the order of their start. A run in progress has its text and tool calls so far. Streamed runs include their events. The runs of team members are listed directly before the run of the team; the steps of a workflow are part of its run. Media are described, not included. With `agentos` compatibility, a session whose only runs are unfinished streamed ones gets 404. */
    getRuns(sessionId: string, query?: {
      /** Validated only; each run has the format of its own kind. */
      type?: "agent" | "team" | "workflow";
      /** The user that the session must belong to. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
      /** Only runs created at this time or later, in Unix seconds. */
      created_after?: number;
      /** Only runs created at this time or earlier, in Unix seconds. */
      created_before?: number;
      /** The maximum number of runs, not counting those of members. Default: all. */
      limit?: number;
      /** With limit: the page number, starting at 1. */
      page?: number;
      /** By the start of the runs: asc for the oldest first, desc for the newest first. */
      sort_order?: "asc" | "desc";
      /** false: omits the events of streamed runs. true: each run has its first and last 500 events. */
      include_events?: boolean;
    }, options?: CallOptions): Promise<SessionRun[]>;
    /** Get a run of a session. Also returns the runs of team members. */
    getRun(sessionId: string, runId: string, query?: {
      /** Validated only; each run has the format of its own kind. */
      type?: "agent" | "team" | "workflow";
      /** The user that the session must belong to. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
      /** false: omits the events of streamed runs. true: each run has its first and last 500 events. */
      include_events?: boolean;
    }, options?: CallOptions): Promise<SessionRun>;
    /** List sessions. A page of sessions without their runs. A session must match all filters. Sessions with equal sort values are in the order of their creation. */
    list(query?: {
      /** Only sessions of this kind of component. */
      type?: "agent" | "team" | "workflow";
      /** Only sessions with this agent, team or workflow. Members and steps do not count. */
      component_id?: string;
      /** Only sessions of this user. */
      user_id?: string;
      /** Part of the name, case-insensitive, whether the name was set or comes from the first message. */
      session_name?: string;
      /** The number of entries per page. More than 1000 count as 1000. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** created_at, updated_at, session_id, user_id, session_type, agent_id, team_id or workflow_id. Other values mean created_at. */
      sort_by?: string;
      sort_order?: "asc" | "desc";
      /** Only sessions created at this time or later, in Unix seconds. */
      created_after?: number;
      /** Only sessions created at this time or earlier, in Unix seconds. */
      created_before?: number;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<SessionsPage>;
    /** Create a session. Creates an empty session. Runs create sessions automatically; use this to set a state or a name first. */
    create(body?: CreateSession, options?: CallOptions<{
      /** The kind of component that the session is with. */
      type?: "agent" | "team" | "workflow";
      /** The id of the database; required if the service has several. */
      db_id?: string;
    }>): Promise<SessionDetail>;
    /** Delete several sessions. Deletes each session as the single deletion does. Ids that the caller cannot see are ignored. */
    deleteMany(body: DeleteSessions, options?: CallOptions<{
      /** The user that the session must belong to. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<undefined>;
    /** Get a session. Includes the chat history of its last 200 runs. Another operation lists its runs. */
    get(sessionId: string, query?: {
      /** A hint. The response has the format of the actual session type. */
      type?: "agent" | "team" | "workflow";
      /** The user that the session must belong to. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<SessionDetail>;
    /** Change a session. Replaces the given fields. Runs in progress do not undo the change. */
    update(sessionId: string, body: UpdateSession, options?: CallOptions<{
      /** A hint. The response has the format of the actual session type. */
      type?: "agent" | "team" | "workflow";
      /** The user that the session must belong to. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<SessionDetail>;
    /** Delete a session. Deletes the session and its runs, and cancels runs in progress. Traces, memories and approvals stay. */
    delete(sessionId: string, query?: {
      /** The user that the session must belong to. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<undefined>;
    /** Rename a session */
    rename(sessionId: string, body: RenameSession, options?: CallOptions<{
      /** A hint. The response has the format of the actual session type. */
      type?: "agent" | "team" | "workflow";
      /** The user that the session must belong to. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<SessionDetail>;
  };
  memories: {
    /** Write a memory */
    create(body: GivenMemory, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<Memory>;
    /** List memories. Memories about users, last changed first. A memory must match all filters. */
    list(query?: {
      /** Only memories of this user. Ignored for callers who see only their own. */
      user_id?: string;
      /** Only memories that this agent wrote. */
      agent_id?: string;
      /** Only memories that this team wrote. */
      team_id?: string;
      /** Only memories with all these topics, case-insensitive. Separate topics with commas or repeat the parameter. */
      topics?: string[];
      /** Only memories whose text contains this, case-insensitive. No character is a wildcard. */
      search_content?: string;
      /** The number of entries per page. More than 1000 count as 1000. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** updated_at, created_at, memory_id or user_id; other values mean updated_at, descending. */
      sort_by?: string;
      /** Ascending or descending. */
      sort_order?: "asc" | "desc";
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<MemoriesPage>;
    /** Delete several memories */
    deleteMany(body: MemoriesToDelete, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<undefined>;
    /** Get a memory */
    get(memoryId: string, query?: {
      /** Only memories of this user. Ignored for callers who see only their own. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<Memory>;
    /** Change a memory. Replaces the text and the topics of a memory of this user. Author and creation time stay the same. 404 if the memory belongs to another user. */
    update(memoryId: string, body: GivenMemory, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<Memory>;
    /** Delete a memory */
    delete(memoryId: string, query?: {
      /** Only memories of this user. Ignored for callers who see only their own. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<undefined>;
    /** List the topics of memories. All topics, without duplicates. */
    getTopics(query?: {
      /** Only memories of this user. Ignored for callers who see only their own. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<string[]>;
    /** Count memories by user. One entry per user with memories, last changed first. */
    getUserStats(query?: {
      /** The number of entries per page. More than 1000 count as 1000. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** Only memories of this user. Ignored for callers who see only their own. */
      user_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<UserMemoryStatisticsPage>;
    /** Merge the memories of a user into one. A model merges all memories of a user into one shorter text, which replaces them in one transaction. Memories that are added meanwhile stay. If the text is longer than the memories together, nothing is replaced. */
    optimize(body: OptimizeMemories, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<OptimizedMemories>;
  };
  learnings: {
    /** List learnings. A learning must match all filters. Callers who see only their own also see learnings without a user. Learnings without a namespace are in the namespace global. */
    list(query?: {
      /** Only learnings of this type. */
      learning_type?: string;
      /** Only learnings of this user. */
      user_id?: string;
      /** Only learnings of this agent. */
      agent_id?: string;
      /** Only learnings of this team. */
      team_id?: string;
      /** Only learnings of this session. */
      session_id?: string;
      /** Only learnings in this namespace; global includes learnings without one. */
      namespace?: string;
      /** Only learnings about this entity. */
      entity_id?: string;
      /** Only learnings about entities of this type. */
      entity_type?: string;
      /** The number of entries per page. Default: 100. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** Any field except content and metadata; other values mean updated_at. */
      sort_by?: string;
      /** asc: smallest or oldest first; desc: largest or newest first. */
      sort_order?: "asc" | "desc";
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<LearningsPage>;
    /** Create a learning. A user has one profile and one memory, a session one context, and an entity one memory: creating a second one gets 409. Other types allow any number. Callers who see only their own can add a context only to their own sessions (otherwise 404) and must use the namespace user:<their id> for their own learnings about entities (otherwise 403). */
    create(body: LearningCreate, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<Learning>;
    /** List users with learnings. Each user with the time of their last learning. Learnings without a user are left out. */
    listUsers(query?: {
      /** Only learnings of this type. */
      learning_type?: string;
      /** Only this user. */
      user_id?: string;
      /** The number of entries per page. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** user_id; other values mean last_learning_updated_at. */
      sort_by?: string;
      /** asc: smallest or oldest first; desc: largest or newest first. */
      sort_order?: "asc" | "desc";
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<LearningUsersPage>;
    /** Delete the learnings of a user. Deletes all learnings of a user, or those of one type. */
    deleteUser(userId: string, query?: {
      /** Only learnings of this type. */
      learning_type?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<undefined>;
    /** Get a learning */
    get(learningId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<Learning>;
    /** Change a learning. Replaces the given fields and keeps the others. The user, type and subject of a learning cannot be changed. */
    update(learningId: string, body: LearningUpdate, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<Learning>;
    /** Delete a learning */
    delete(learningId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<undefined>;
  };
  knowledge: {
    /** Add a file, a text or a URL. Stores the content and indexes it in the background: poll its status, or follow its events. The same content under the same id is not indexed again; changed bytes replace the indexed version in one step. */
    uploadContent(body: UploadContentBody, options?: CallOptions<{
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }>): Promise<Content>;
    /** List contents. The contents of a knowledge base, newest first. A content must match all filters. */
    getContent(query?: {
      /** The number of entries per page. More than 1000 count as 1000. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** What the list is sorted by. */
      sort_by?: "id" | "name" | "description" | "type" | "size" | "metadata" | "status" | "status_message" | "created_at" | "updated_at";
      /** asc: smallest or oldest first; desc: largest or newest first. */
      sort_order?: "asc" | "desc";
      /** Only contents with this status. */
      status?: "processing" | "completed" | "failed";
      /** Only contents of this type. */
      type?: string;
      /** Only contents with this text in their name or description. */
      search?: string;
      /** Only contents with these metadata values, a JSON object. */
      metadata?: string;
      /** true: with what each content was added from, and how. */
      include_definition?: boolean;
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }, options?: CallOptions): Promise<ContentPage>;
    /** Delete all contents. Deletes all contents of a knowledge base with their chunks. */
    deleteAllContent(query?: {
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }, options?: CallOptions): Promise<"success">;
    /** Add content from a source. Adds a file of a source, or all files of a folder. A folder is a content of its own whose status_message counts its files; each file becomes a content with the id of the folder under _agno.parent_id. */
    uploadRemoteContent(body: UploadRemoteContentBody, options?: CallOptions<{
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }>): Promise<Content>;
    /** Get a content */
    getContentById(contentId: string, query?: {
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }, options?: CallOptions): Promise<Content>;
    /** Change a content. Changes name, description and metadata; what is omitted stays. Filters of searches see changed metadata at once. */
    updateContent(contentId: string, body: UpdateContentBody, options?: CallOptions<{
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }>): Promise<Content>;
    /** Delete a content. Deletes a content with all its chunks, also while it is processed, and the contents of a folder. An unknown id is no error. */
    deleteContentById(contentId: string, query?: {
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }, options?: CallOptions): Promise<DeletedContent>;
    /** Get the status of a content. An unknown id has the status failed and the message Content not found. */
    getContentStatus(contentId: string, query?: {
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }, options?: CallOptions): Promise<ContentStatus>;
    /** Follow the processing of a content. For an EventSource: the stored and live events after Last-Event-ID. 204, which closes an EventSource, if the events are no longer stored. */
    followContentEvents(contentId: string, query?: {
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }, options?: CallOptions): EventStream<JobEvent>;
    /** Search a knowledge base. The chunks that fit the query best. total_count is the number of chunks that were fetched. */
    search(body: SearchKnowledgeBody, options?: CallOptions): Promise<FoundChunkPage>;
    /** Get readers, chunkers, filters and sources */
    getConfig(query?: {
      /** The id of the database that has the knowledge base, if it has only one. knowledge_id takes precedence. */
      db_id?: string;
      /** The id of the knowledge base, as in GET /config; required if the service has several. */
      knowledge_id?: string;
    }, options?: CallOptions): Promise<KnowledgeConfig>;
    /** List sources */
    listContentSources(knowledgeId: string, query?: {
      /** Accepted for older clients; it has no effect. */
      db_id?: string;
    }, options?: CallOptions): Promise<ContentSource[]>;
    /** List files of a source. Folders are on the first page and are not counted. */
    listSourceFiles(knowledgeId: string, sourceId: string, query?: {
      /** Accepted for older clients; it has no effect. */
      db_id?: string;
      /** Only files whose path begins with it, in place of the prefix of the source and within it. */
      prefix?: string;
      /** The number of entries per page. Default: 100. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** What separates folders. Empty: all files, without folders. */
      delimiter?: string;
    }, options?: CallOptions): Promise<SourceFiles>;
  };
  datasets: {
    /** List datasets */
    list(query?: {
      /** Only the dataset with this name. */
      name?: string;
      /** The number of entries per page. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** What the list is sorted by. */
      sort_by?: "created_at" | "updated_at" | "name";
      /** asc: smallest or oldest first; desc: largest or newest first. */
      sort_order?: "asc" | "desc";
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<DatasetsPage>;
    /** Create a dataset. The dataset belongs to the caller. 409 if the caller has one with this name. */
    create(body: DatasetCreate, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<Dataset>;
    /** Get a dataset */
    get(datasetId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<Dataset>;
    /** Change a dataset. Replaces the given fields and keeps the others. The cases and the revision stay the same. */
    update(datasetId: string, body: DatasetUpdate, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<Dataset>;
    /** Delete a dataset. Deletes the dataset with its cases. Evals of it stay. */
    delete(datasetId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<undefined>;
    /** List the cases of a dataset. In the order in which they were added. */
    listCases(datasetId: string, query?: {
      /** The number of entries per page. Default: 100. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<DatasetCasesPage>;
    /** Add cases to a dataset. Adds one case, several, or one made of a stored run. A case with the id of a stored one replaces it. All cases of a request are stored, or none. */
    addCases(datasetId: string, body: DatasetCasesAdd, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<DatasetCasesAdded>;
    /** Change a case. Replaces the given fields and keeps the others. The id of a case cannot be changed. */
    updateCase(datasetId: string, caseId: string, body: DatasetCaseUpdate, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<DatasetCase>;
    /** Delete a case */
    deleteCase(datasetId: string, caseId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<undefined>;
    /** Import a file of cases. Adds the cases of a file of JSON, JSON Lines or CSV, or replaces all cases by them. 400 if the file has a fault: the text names the line and the field, and nothing is changed. */
    importCases(datasetId: string, body: ImportDatasetCasesBody, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<DatasetImported>;
    /** Export the cases of a dataset. JSON Lines that an import reads again: one case on each line. */
    exportCases(datasetId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<string>;
  };
  traces: {
    /** List traces. Summaries of what runs did, newest first. A trace must match all filters. */
    list(query?: {
      /** Only the trace of this run. */
      run_id?: string;
      /** Only traces of this session. */
      session_id?: string;
      /** Only traces of this user. Ignored for callers who see only their own. */
      user_id?: string;
      /** Only traces of runs of this agent. */
      agent_id?: string;
      /** Only traces of runs of this team. */
      team_id?: string;
      /** Only traces of runs of this workflow. */
      workflow_id?: string;
      /** Only traces with this status: OK, ERROR or UNSET. */
      status?: string;
      /** Only traces that started at this time or later. ISO 8601 with any offset; UTC if it has none. */
      start_time?: string;
      /** Only traces that ended at this time or earlier. ISO 8601 with any offset; UTC if it has none. */
      end_time?: string;
      /** The number of entries per page. More than 1000 count as 1000. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** The id of the database; required if the service has several. */
      db_id?: string;
    }, options?: CallOptions): Promise<TracesPage>;
    /** Get the filter fields for searches */
    getFilterSchema(options?: CallOptions): Promise<TraceFilterSchema>;
    /** Search traces. Returns the traces that match a filter expression with their span trees, or totals per session. */
    search(body: TraceSearch, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
    }>): Promise<TraceSearchPage>;
    /** Get a trace. Returns the trace with its span tree; with span_id, one span in full detail. */
    get(traceId: string, query?: {
      /** Only this span, with its input and output. */
      span_id?: string;
      /** Has no effect. */
      run_id?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
    }, options?: CallOptions): Promise<TraceDetail | TraceSpan>;
    /** Get trace totals per session. The session with the newest trace first. Filters apply before counting. */
    getSessionStats(query?: {
      /** Only traces of this user. Ignored for callers who see only their own. */
      user_id?: string;
      /** Only traces of runs of this agent. */
      agent_id?: string;
      /** Only traces of runs of this team. */
      team_id?: string;
      /** Only traces of runs of this workflow. */
      workflow_id?: string;
      /** Only traces that were created at this time or later. ISO 8601 with any offset; UTC if it has none. */
      start_time?: string;
      /** Only traces that were created at this time or earlier. ISO 8601 with any offset; UTC if it has none. */
      end_time?: string;
      /** The number of entries per page. More than 1000 count as 1000. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** The id of the database; required if the service has several. */
      db_id?: string;
    }, options?: CallOptions): Promise<TraceSessionStatsPage>;
  };
  metrics: {
    /** Daily metrics. Runs, sessions, users and tokens of the whole service, per day in UTC. Changed days are counted again first. Days without activity are left out. */
    list(query?: {
      /** The first day to show, YYYY-MM-DD in UTC. */
      starting_date?: string;
      /** The last day to show, YYYY-MM-DD in UTC. */
      ending_date?: string;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<MetricsList>;
    /** Refresh the metrics. Counts all days that have changed or are not over. Returns them, or returns 202 immediately if background is true. */
    refresh(query?: {
      /** true: the response is immediate, and the refresh runs in the background. */
      background?: boolean;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<DayMetrics[] | MetricsRefreshStarted | MetricsRefreshStarted>;
    /** Get the status of the last refresh. All processes of the service return the same status, also after a restart. */
    getRefreshStatus(query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<MetricsRefreshStatus>;
  };
  evals: {
    /** Run an eval. Executes a component and judges what it does. Besides evals:write, the caller needs the right to run the component; to grade stored runs, the right to read them. The runs belong to the caller. A run that fails or pauses is listed in errors and not judged. */
    run(body: EvalRequest, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<EvalRun>;
    /** List evals. Evals, newest first. An eval must match all filters. */
    list(query?: {
      /** Only evals of this agent. */
      agent_id?: string;
      /** Only evals of this team. */
      team_id?: string;
      /** Only evals of this workflow. */
      workflow_id?: string;
      /** Only evals with this model. */
      model_id?: string;
      /** Only evals of components of this kind. */
      type?: "agent" | "team" | "workflow";
      /** Only these types, separated by commas: accuracy, agent_as_judge, performance, reliability, custom. Empty: all. */
      eval_types?: string;
      /** Only evals of this stored dataset. */
      dataset_id?: string;
      /** Only evals with this status. */
      status?: "pending" | "running" | "completed" | "error" | "cancelled";
      /** The number of entries per page. More than 1000 count as 1000. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** A field of the eval, such as created_at, updated_at, name or eval_type. Others mean created_at. */
      sort_by?: string;
      /** Ascending or descending. */
      sort_order?: "asc" | "desc";
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<EvalRunsPage>;
    /** Delete several evals. Deletes evals with their results and with the sessions that they created. Evals in progress are cancelled. */
    deleteMany(body: EvalsToDelete, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<undefined>;
    /** Get an eval */
    get(evalRunId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<EvalRun>;
    /** Rename an eval */
    update(evalRunId: string, body: RenameEval, options?: CallOptions<{
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }>): Promise<EvalRun>;
    /** Cancel an eval. Ends an eval and its runs in progress. Its results so far stay. One that has ended stays as it is. */
    cancel(evalRunId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<EvalRun>;
    /** Follow an eval. For an EventSource: the stored and live events after Last-Event-ID. 204, which closes an EventSource, if the events are no longer stored. */
    followEvents(evalRunId: string, query?: {
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): EventStream<JobEvent>;
    /** List the results of an eval. One entry for each execution of a case, in the order of the cases, with all scores. */
    getResults(evalRunId: string, query?: {
      /** The number of entries per page. Default: 100. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<EvalResultsPage>;
    /** Compare two evals. Compares an eval with another one case by case: what got better and worse by each scorer, and whether the difference is more than chance. Cases are matched by their ids. */
    compare(evalRunId: string, query: {
      /** The id of the eval to compare with: the one before. */
      with: string;
      /** How often, at the most, chance may be called significant. Default: 0.05. */
      level?: number;
      /** Only cases that changed like this. */
      change?: "better" | "worse" | "same" | "added" | "removed" | "unscored";
      /** The number of entries per page. Default: 100. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** The id of the database; required if the service has several. */
      db_id?: string;
      /** The name of a table in that database. Requires db_id. */
      table?: string;
    }, options?: CallOptions): Promise<EvalComparison>;
  };
  approvals: {
    /** List approvals. Tool calls that wait for a decision or have one, newest first. A call must match all filters. */
    list(query?: {
      /** Only approvals in this state. */
      status?: "pending" | "approved" | "rejected" | "expired" | "cancelled";
      /** Only approvals of runs of this kind: agent, team or workflow. */
      source_type?: string;
      /** required: a person must decide; audit: the decision is only recorded. */
      approval_type?: "required" | "audit";
      /** What the call waits for: confirmation, user_input or external_execution. */
      pause_type?: string;
      /** Only approvals of this agent. */
      agent_id?: string;
      /** Only approvals of this team. */
      team_id?: string;
      /** Only approvals of this workflow. */
      workflow_id?: string;
      /** Only approvals that this user requested. Ignored for callers who see only their own. */
      user_id?: string;
      /** Only approvals of runs of this schedule. */
      schedule_id?: string;
      /** Only approvals of this run. */
      run_id?: string;
      /** The number of entries per page. Default: 100. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
    }, options?: CallOptions): Promise<ApprovalsPage>;
    /** Count pending approvals */
    getCount(query?: {
      /** Only approvals that this user requested. Ignored for callers who see only their own. */
      user_id?: string;
    }, options?: CallOptions): Promise<ApprovalCount>;
    /** Get an approval */
    get(approvalId: string, options?: CallOptions): Promise<Approval>;
    /** Delete an approval. Deletes the approval in any state. After that, the call can no longer be approved. */
    delete(approvalId: string, options?: CallOptions): Promise<undefined>;
    /** Get the status of an approval. A small response for clients that poll. */
    getStatus(approvalId: string, options?: CallOptions): Promise<ApprovalStatus>;
    /** Approve or reject a call. The first decision is final; later ones get 409. The run uses it when it is continued; deciding does not continue the run. */
    resolve(approvalId: string, body: ApprovalResolve, options?: CallOptions): Promise<Approval>;
  };
  serviceAccounts: {
    /** Create a service account. An identity for a program. The response shows its token once. Its scopes cannot exceed those of the caller. The name of an active account is taken: to rotate a token, revoke the account first. */
    create(body: ServiceAccountCreate, options?: CallOptions): Promise<NewServiceAccount>;
    /** List service accounts. Includes revoked accounts unless include_revoked is false. Tokens are not shown. */
    list(query?: {
      /** Whether the list includes revoked accounts. */
      include_revoked?: boolean;
      /** The number of entries per page. Default: 20. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
      /** created_at, name, last_used_at or expires_at; other values mean created_at. */
      sort_by?: string;
      /** asc: smallest or oldest first; other values: largest or newest first. */
      sort_order?: string;
    }, options?: CallOptions): Promise<ServiceAccountsPage>;
    /** Revoke a service account. Revocation is permanent. The account stays in the list, and its name can be used again at once. */
    revoke(serviceAccountId: string, options?: CallOptions): Promise<undefined>;
  };
  schedules: {
    /** List schedules. Newest first. */
    list(query?: {
      /** Only schedules that are enabled, or that are not. */
      enabled?: boolean;
      /** The number of entries per page. Default: 100. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
    }, options?: CallOptions): Promise<SchedulesPage>;
    /** Create a schedule. The schedule calls the endpoint with the rights of the caller, who must be allowed to call it now. The rights are checked again at each tick. */
    create(body: ScheduleCreate, options?: CallOptions): Promise<Schedule>;
    /** Get a schedule */
    get(scheduleId: string, options?: CallOptions): Promise<Schedule>;
    /** Change a schedule. Fields that are left out stay as they are. A caller who changes method, endpoint or payload becomes the one with whose rights the schedule calls. */
    update(scheduleId: string, body: ScheduleUpdate, options?: CallOptions): Promise<Schedule>;
    /** Delete a schedule. Deletes the schedule and the history of its attempts. Runs that it started stay. */
    delete(scheduleId: string, options?: CallOptions): Promise<undefined>;
    /** Enable a schedule. Its next tick is the first one after now. */
    enable(scheduleId: string, options?: CallOptions): Promise<ScheduleState>;
    /** Disable a schedule. It is not executed until it is enabled. An execution in progress continues. */
    disable(scheduleId: string, options?: CallOptions): Promise<ScheduleState>;
    /** Execute a schedule now. Answers with the record of the last attempt when the execution ends. One that takes longer is answered with its record as it is, with the status running, and continues. The next tick stays as it is. */
    trigger(scheduleId: string, options?: CallOptions): Promise<ScheduleRun>;
    /** List the attempts of a schedule. Newest first. Each retry is an attempt of its own. */
    listRuns(scheduleId: string, query?: {
      /** The number of entries per page. Default: 100. */
      limit?: number;
      /** The page number, starting at 1. */
      page?: number;
    }, options?: CallOptions): Promise<ScheduleRunsPage>;
    /** Get an attempt of a schedule */
    getRun(scheduleId: string, runId: string, options?: CallOptions): Promise<ScheduleRun>;
  };
}
