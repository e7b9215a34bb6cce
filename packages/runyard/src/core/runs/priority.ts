/** How urgent a run is among those that wait for a slot, the least urgent first. The database stores the places. */
export const priorities = ['low', 'normal', 'high'] as const;

export type Priority = (typeof priorities)[number];

export const defaultPriority: Priority = 'normal';

/** A larger number is more urgent. */
export function levelOf(priority: Priority = defaultPriority): number {
  return priorities.indexOf(priority);
}
