export const taskStatuses = ['pending', 'in_progress', 'completed', 'failed', 'blocked'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

type TaskFields = {
  title: string;
  status: TaskStatus;
};

/** What a team that works on tasks adds to the events of its leader. */
export interface TaskEvents {
  TaskIterationStarted: { iteration: number; max_iterations: number };
  TaskIterationCompleted: {
    iteration: number;
    max_iterations: number;
    task_summary: string;
  };
  TaskCreated: TaskFields & {
    task_id: string;
    description: string;
    assignee?: string;
    dependencies: readonly string[];
  };
  TaskUpdated: TaskFields & {
    task_id: string;
    previous_status: TaskStatus;
    result?: string;
    assignee?: string;
  };
  TaskStateUpdated: {
    task_summary: string;
    goal_complete: boolean;
    tasks: readonly (TaskFields & {
      id: string;
      description: string;
      assignee: string | null;
      dependencies: readonly string[];
      result: string | null;
    })[];
    completion_summary?: string;
  };
}
