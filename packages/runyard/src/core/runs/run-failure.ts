import { type DriverFault, driverFaultOf } from '../errors/driver-fault.js';
import { RunyardError } from '../errors/errors.js';
import { reasonOf } from '../errors/reason.js';
import { thrownError } from '../errors/thrown-error.js';
import { ModelError } from '../models/model-error.js';
import { RunFailed } from './executable.js';
import type { RunFailure } from './run.js';

/** What a driver says names hosts, ports, paths and statements: that is for the log. */
const hidden: Readonly<Record<DriverFault['kind'], RunFailure>> = {
  unreachable: {
    type: 'service_unavailable',
    message: 'A resource that the run needs could not be reached. Run it again.',
  },
  refused: {
    type: 'internal_error',
    message:
      'A resource that the run needs failed. The log of the service has the details under this run_id.',
  },
};

/**
 * What those who see a run learn about the failure that ended it, or a part of it: decided here alone, whether it is a
 * run, a member, a step or a span of a trace. What the application threw keeps its words, a code keeps its meaning.
 */
export function failureOf(thrown: unknown): RunFailure {
  const error = thrownError(thrown);
  if (error instanceof RunFailed) return error.failure;
  if (error instanceof RunyardError) return { type: error.code, message: error.message };
  if (error instanceof ModelError)
    return { type: error.code, message: error.message, additionalData: error.facts };
  const fault = driverFaultOf(error);
  return fault === undefined ? { type: error.name || 'Error', message: reasonOf(error) } : hidden[fault.kind];
}
