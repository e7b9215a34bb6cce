declare module '../../platform/storage/schema.js' {
  interface Schema {
    datasets: DatasetsTable;
    dataset_cases: DatasetCasesTable;
  }
}

export interface DatasetsTable {
  dataset_id: string;
  user_id: string | null;
  name: string;
  description: string | null;
  /** JSON. */
  metadata: string | null;
  /** Counts the changes of its cases. */
  revision: number;
  case_count: number;
  /** Of all its cases together. */
  bytes: number;
  /** That of the case that was added last. Positions are not used again. */
  last_position: number;
  created_at: number;
  updated_at: number;
}

export interface DatasetCasesTable {
  dataset_id: string;
  case_id: string;
  /** The order of the cases. */
  position: number;
  /** JSON: the case without its id. */
  content: string;
  bytes: number;
  created_at: number;
  updated_at: number;
}
