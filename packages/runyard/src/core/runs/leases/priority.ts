/** How urgent a run is among those that wait for a slot, the least urgent first. The database stores the places. */
export const priorities = ['low', 'normal', 'high'] as const;

export type Priority = (typeof priorities)[number];

/** A larger number is more urgent. Left out: as urgent as usual. */
export function levelOf(priority: Priority = 'normal'): number {
  return priorities.indexOf(priority);
}
