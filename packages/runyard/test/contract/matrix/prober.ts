import type { Answer, TestService } from '../../support/service.js';
import { type Case, isOutermost } from './cases.js';
import { type Exception, emptyAnswers, exceptions, shownToAll } from './exceptions.js';
import { isSafe, type Request, requestOf, sent } from './requests.js';
import { absentThings, type Things } from './things.js';
import { listsSeenBy } from './views.js';
import type { Kind, Person } from './world.js';

/** A caller who tries everything possible with what belongs to others. */
export interface Intruder {
  readonly name: string;
  readonly headers: Record<string, string>;
  /** Something of their own that a request may change; left out for one who has nothing. */
  fresh?(kind: Kind): Promise<Things>;
  /** What they have, for requests that only read. */
  readonly own?: readonly (Things & { readonly kind: Kind })[];
}

/** Requests what belongs to a user, and what does not exist, and compares the answers. */
export class Prober {
  readonly problems: string[] = [];

  constructor(
    private readonly service: TestService,
    private readonly intruder: Intruder,
    private readonly victims: readonly Person[],
  ) {}

  /** The two answers have to be the same, and neither may hold anything that was not in the question. */
  async compare(probe: Case): Promise<void> {
    try {
      await this.tryBoth(probe);
    } catch (error) {
      const { message, cause } = error as Error;
      this.problems.push(`${this.intruder.name}: ${message} is not answered: ${cause}`);
    }
  }

  private async tryBoth(probe: Case): Promise<void> {
    // one who has nothing is asked for the outermost cases alone
    if (this.intruder.fresh === undefined && (probe.needsOwn || !isOutermost(probe))) return;
    const absent = absentThings();
    const foreign = await this.ask(probe, probe.place);
    const nothing = await this.ask(probe, absent);
    const exception = exceptionFor(probe);
    if (exception !== undefined) return this.expectException(foreign, nothing, exception);
    const [seen, expected] = [shapeOf(foreign, probe.place), shapeOf(nothing, absent)];
    if (seen !== expected) this.report(foreign.request, `distinguishes them:\n    ${seen}\n    ${expected}`);
    const { status, text, body } = nothing.answer;
    if ((status === 400 || status === 422) && !emptyAnswers.has(body.detail))
      this.report(nothing.request, `asks nothing: ${status} ${text}`);
  }

  /** Looks at every list for something that others have. */
  async lookAround(isSecret: (text: string) => boolean = () => true): Promise<void> {
    const secrets = this.victims.flatMap((victim) => victim.secrets).filter(isSecret);
    for (const [asked, { text }] of await listsSeenBy(this.service, this.intruder.headers)) {
      const shown = secrets.filter((secret) => text.includes(secret));
      if (shown.length > 0 && !shownToAll.has(asked.split(' {')[0]!))
        this.problems.push(`${this.intruder.name}: ${asked} gives away ${shown.join(', ')}`);
    }
  }

  private async ask({ operation, named, place, needsOwn }: Case, target: Things): Promise<Asked> {
    const own = needsOwn ? await this.ownFor(operation, place.kind) : target;
    const request = requestOf(operation, { named, target, own, kind: place.kind });
    const answer = await sent(this.service, request, this.intruder.headers);
    this.findSecrets(request, answer);
    return { request, answer };
  }

  private async ownFor(operation: Case['operation'], kind: Kind): Promise<Things> {
    const { fresh, own } = this.intruder;
    return (isSafe(operation) && own?.find((things) => things.kind === kind)) || fresh!(kind);
  }

  private expectException({ request, answer }: Asked, nothing: Asked, exception: Exception): void {
    const { status, body } = answer;
    if (status !== exception.status || !exception.detail.test(String(body?.detail)))
      this.report(request, `is not the exception that was decided: ${status} ${answer.text}`);
    if (nothing.answer.status >= 300)
      this.report(nothing.request, `asks nothing: ${nothing.answer.status} ${nothing.answer.text}`);
  }

  private findSecrets(request: Request, { text }: Answer): void {
    const shown = this.victims
      .flatMap(({ secrets }) => secrets)
      .filter((secret) => text.includes(secret) && !request.text.includes(secret));
    if (shown.length > 0) this.report(request, `gives away ${shown.join(', ')}: ${text.slice(0, 400)}`);
  }

  private report({ operation, path, text }: Request, what: string): void {
    this.problems.push(
      `${this.intruder.name}: ${operation.method} ${path} ${text.slice(path.length)} ${what}`,
    );
  }
}

interface Asked {
  readonly request: Request;
  readonly answer: Answer;
}

function exceptionFor({ operation, named }: Case): Exception | undefined {
  return exceptions.find(({ operation: pattern, field }) => pattern.test(operation.name) && named.has(field));
}

/** An answer without what differs from one answer to the next, and without the requested values. */
function shapeOf({ answer }: Asked, target: Things): string {
  let { text } = answer;
  const { kind: _kind, state: _state, ...things } = target as Things & { kind?: unknown; state?: unknown };
  for (const [name, value] of Object.entries(things)) text = text.replaceAll(value, `<${name}>`);
  const plain = text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/"(duration|time_to_first_token|search_time_ms)":[\d.]+/g, '"$1":<number>')
    .replace(/\b\d{9,}\b/g, '<time>')
    .replace(/\b[0-9a-f]{16,}\b/g, '<hex>');
  return `${answer.status} ${plain}`;
}
