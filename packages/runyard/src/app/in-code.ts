import { checkOptions } from '../core/options/check-options.js';
import type { NamedCaller } from '../platform/auth/identity.js';
import { callerOptions } from './caller.js';
import { Operations } from './operations.js';
import { type CallSite, ServiceCalls } from './service-calls.js';

/** A service in code: the operations of the API with the rights of the operator, or with those of a caller. */
export abstract class InCode {
  private readonly operator = new Operations(new ServiceCalls(() => this.openInCode()));
  readonly runs = this.operator.runs;
  readonly sessions = this.operator.sessions;
  readonly memories = this.operator.memories;
  readonly approvals = this.operator.approvals;
  readonly traces = this.operator.traces;
  readonly metrics = this.operator.metrics;

  /** The same operations with the rights of this caller, whom the application has authenticated. */
  as(caller: NamedCaller): Operations {
    checkOptions('as()', caller, callerOptions);
    return new Operations(new ServiceCalls(() => this.openInCode(), { ...caller }));
  }

  /** Opens the service, unless it is open. */
  protected abstract openInCode(): Promise<CallSite>;
}
