import type { ApprovalWrite } from '../approval.js';
import type { Forgetting } from '../forgetting/forgetting.js';
import type { RunWrite, SessionWrite } from '../journal/ports.js';

/** What a run has to write besides its record and its events. The first change creates it: a waiting run has none. */
export class Unwritten {
  session: SessionWrite | undefined;
  summary: RunWrite['summary'];
  usage: RunWrite['usage'];
  approvals: ApprovalWrite[] | undefined;
  /** The keys of the steps that changed. */
  steps: Set<string> | undefined;
  removedSteps: number[] | undefined;
  forgetting: Forgetting | undefined;
  /** Its size in characters, roughly. */
  size = 0;
}
