import { errors } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Resolutions, ResolvedApproval } from '../../core/runs/approval.js';
import type { Run } from '../../core/runs/run.js';
import type { Caller, DataScope } from '../../platform/auth/caller.js';
import { isServiceAccount } from '../../platform/auth/named-user.js';
import { personsBehind } from '../../platform/auth/persons.js';
import { type ListPage, offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';
import type { WireFormat } from '../../platform/http/response/wire-format.js';
import type { Database } from '../../platform/storage/database.js';
import { approvalBodyOf } from './approval-body.js';
import { mergedPlaces, type ReadPlaces } from './merged-places.js';
import { type Approval, type ApprovalFilter, ApprovalStore } from './store.js';

/** A caller with this scope may decide on calls. */
const decidingScope = 'approvals:write';

/** The approvals of the runs of one database. */
export class DatabaseApprovals {
  readonly store: ApprovalStore;

  constructor(database: Database) {
    this.store = new ApprovalStore(database);
  }

  /** The decisions on the approvals of a run so far, by approval id: what the run needs to know to continue. */
  async resolutionsOf(scope: DataScope, runId: string): Promise<Resolutions> {
    const approvals = await this.store.ofRun(scope, runId);
    return new Map(approvals.map((approval) => [approval.approvalId, resolvedApproval(approval)]));
  }

  /** Refuses a caller who cannot decide on calls while one of the run waits for that. Workflows wait by step. */
  async assertMayContinue({ rights, scope }: Caller, { runId, kind }: Run): Promise<void> {
    if (kind === 'workflow' || rights.may(decidingScope)) return;
    const approvals = await this.store.ofRun(scope, runId);
    const isOpen = approvals.some(
      ({ approvalType, status }) => approvalType === 'required' && status === 'pending',
    );
    if (isOpen) throw errors.approvalPending();
  }
}

function resolvedApproval(approval: Approval): ResolvedApproval {
  const { status, resolutionData, resolvedBy, resolvedAt } = approval;
  return { status, resolutionData, resolvedBy, resolvedAt, record: approvalBodyOf(approval) };
}

/** Where the approvals are: one part for each database. */
export interface ApprovalSpaces {
  all(): Promise<readonly { readonly approvals: DatabaseApprovals }[]>;
}

export interface ApprovalsOptions {
  readonly spaces: ApprovalSpaces;
  /** Whether callers may not decide on their own requests. */
  readonly fourEyes: boolean;
  /** Who is behind a service account. */
  readonly personsBehindAccount: (principal: string) => Promise<readonly string[]>;
}

/** A decision on an approval. */
export interface ApprovalDecision {
  readonly status: 'approved' | 'rejected';
  /** Who decides, in the words of the request. */
  readonly resolvedBy: string | null;
  readonly resolutionData: JsonObject | null;
}

/** Calls of runs that people decide on, of all databases together. */
export class ApprovalsService {
  constructor(private readonly options: ApprovalsOptions) {}

  /** One page of the approvals that the caller may see, the newest first. */
  async list(caller: Caller, filter: ApprovalFilter, page: PageRequest): Promise<ListPage<Approval>> {
    const stores = await this.stores();
    const scope = shownTo(caller);
    const total = await countAll(stores, scope, filter);
    const range = { offset: offsetOf(page), limit: page.limit };
    if (range.offset >= total) return { items: [], total };
    const [only, ...others] = stores;
    const items =
      only !== undefined && others.length === 0
        ? await only.list(scope, filter, range)
        : await listMerged(stores, scope, filter, range);
    return { items, total };
  }

  /** How many approvals wait for a decision. */
  async countPending(caller: Caller, userId?: string): Promise<number> {
    const filter = { status: 'pending', ...(userId !== undefined && { userId }) } as const;
    return countAll(await this.stores(), shownTo(caller), filter);
  }

  /** An approval in the form of the wire. */
  body(approval: Approval, format: WireFormat): JsonObject {
    return approvalBodyOf(approval, format);
  }

  async get(caller: Caller, approvalId: string): Promise<Approval> {
    return (await this.find(shownTo(caller), approvalId)).approval;
  }

  /** Decides on a call, once. The run uses the decision when it continues. */
  async resolve(caller: Caller, approvalId: string, given: ApprovalDecision): Promise<Approval> {
    const { approval, store } = await this.findToDecide(caller, approvalId);
    const resolvedBy = caller.userId ?? nameOf(given.resolvedBy);
    if (this.options.fourEyes) assertAnother(caller, resolvedBy, await this.askersOf(approval));
    const decision = { ...given, approvalId, resolvedBy };
    const decided = await store.resolve(decision);
    const after = await store.find(everything, approvalId);
    if (after === undefined) throw errors.approvalNotFound();
    if (decided) return after;
    if (after.status !== 'pending') throw errors.approvalResolved(after.status);
    throw errors.approvalWithoutRun(after.runId, after.runStatus ?? 'gone');
  }

  /** Of a run from before askers were stored only the user is known, and who made the account if that is one. */
  private async askersOf({ userId, askers }: Approval): Promise<ReadonlySet<string>> {
    if (userId === null) return new Set(askers);
    const isFromBefore = isServiceAccount({ userId }) && !askers.includes(userId);
    const behind = isFromBefore ? await this.options.personsBehindAccount(userId) : [];
    return new Set([...askers, userId, ...behind]);
  }

  async delete(caller: Caller, approvalId: string): Promise<void> {
    const { store } = await this.findToDecide(caller, approvalId);
    if (!(await store.delete(approvalId))) throw errors.approvalNotFound();
  }

  /** A caller who sees only their own has nothing to decide on, least of all their own calls. */
  private findToDecide(caller: Caller, approvalId: string) {
    if (shownTo(caller).kind !== 'all') throw errors.approvalNotFound();
    return this.find(everything, approvalId);
  }

  private async find(
    scope: DataScope,
    approvalId: string,
  ): Promise<{ approval: Approval; store: ApprovalStore }> {
    for (const store of await this.stores()) {
      const approval = await store.find(scope, approvalId);
      if (approval !== undefined) return { approval, store };
    }
    throw errors.approvalNotFound();
  }

  private async stores(): Promise<readonly ApprovalStore[]> {
    return (await this.options.spaces.all()).map(({ approvals }) => approvals.store);
  }
}

/** Refuses the decision of a person who asked for the call, whichever account they asked or decide through. */
function assertAnother(caller: Caller, resolvedBy: string | null, asked: ReadonlySet<string>): void {
  // a token without a subject cannot prove that its holder is another person
  const isUnproven = caller.userId === null && caller.claims !== null;
  if (resolvedBy === null || isUnproven) throw errors.resolverUnknown();
  if ([resolvedBy, ...personsBehind(caller)].some((person) => asked.has(person))) throw errors.ownApproval();
}

const everything: DataScope = { kind: 'all' };

/**
 * Which approvals a caller sees. A service account that decides on calls does so for all users: it has to find what
 * waits. With user isolation, people see their own approvals and decide on none.
 */
function shownTo(caller: Caller): DataScope {
  return isServiceAccount(caller) && caller.rights.may(decidingScope) ? everything : caller.scope;
}

async function countAll(
  stores: readonly ApprovalStore[],
  scope: DataScope,
  filter: ApprovalFilter,
): Promise<number> {
  const counts = await Promise.all(stores.map((store) => store.count(scope, filter)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The order is found with the places alone; then each database gives its part of the page. */
async function listMerged(
  stores: readonly ApprovalStore[],
  scope: DataScope,
  filter: ApprovalFilter,
  range: { readonly offset: number; readonly limit: number },
): Promise<Approval[]> {
  const sources = stores.map(
    (store): ReadPlaces =>
      (limit, after) =>
        store.places(scope, filter, { limit, after }),
  );
  const places = await mergedPlaces(sources, range);
  const found = await Promise.all(
    stores.map((store, source) => {
      const ids = places.filter((place) => place.source === source).map(({ approvalId }) => approvalId);
      return store.findAll(scope, ids);
    }),
  );
  const byId = found.map((part) => new Map(part.map((approval) => [approval.approvalId, approval])));
  return places.flatMap(({ source, approvalId }) => byId[source]?.get(approvalId) ?? []);
}

function nameOf(given: string | null): string | null {
  return given?.trim() || null;
}
