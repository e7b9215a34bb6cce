import type { Capability } from '../capability.js';
import { schedules as tables } from './migrations/0020-schedules.js';

export const schedules: Capability = {
  name: 'schedules',
  migrations: [tables],
};
