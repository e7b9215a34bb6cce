import type { Runyard } from '../runyard.js';

/**
 * What the commands need of a `Runyard`. Recognized by its brand, not its class: the application may bring
 * its own copy of the package.
 */
export type Application = Pick<
  Runyard,
  | 'configure'
  | 'settings'
  | 'listen'
  | 'openapi'
  | 'migrate'
  | 'schemaStatus'
  | 'waitingRuns'
  | 'replay'
  | 'reembed'
  | 'request'
  | 'close'
>;

export type MigrationReports = Awaited<ReturnType<Application['migrate']>>;
export type SchemaReports = Awaited<ReturnType<Application['schemaStatus']>>;

const brand = Symbol.for('runyard.app');

export function isApplication(value: unknown): value is Application {
  return typeof value === 'object' && value !== null && brand in value;
}
