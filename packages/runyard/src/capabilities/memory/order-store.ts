/** By what a list is sorted. What is equal there comes in the order of what follows it. */
export const sortColumns = {
  updated_at: ['updated_at', 'memory_id'],
  created_at: ['created_at', 'memory_id'],
  memory_id: ['memory_id'],
  user_id: ['user_id', 'updated_at', 'memory_id'],
} as const;

export type MemorySort = keyof typeof sortColumns;

export function isMemorySort(name: string): name is MemorySort {
  return Object.hasOwn(sortColumns, name);
}

export interface MemoryOrder {
  readonly by: MemorySort;
  readonly direction: 'asc' | 'desc';
}

export interface Range {
  readonly offset: number;
  readonly limit: number;
}

/** What a list can be sorted by. */
export interface MemoryPlace {
  readonly memory_id: string;
  readonly user_id: string;
  readonly created_at: number;
  readonly updated_at: number;
}
