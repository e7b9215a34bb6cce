/** What the `robots.txt` of a site asks of programs (RFC 9309). */
export interface Robots {
  allows(address: string): boolean;
  /** Between two requests. */
  readonly delayMs: number;
}

export const allowsAll: Robots = { allows: () => true, delayMs: 0 };
export const allowsNothing: Robots = { allows: () => false, delayMs: 0 };

interface Rule {
  readonly allow: boolean;
  readonly pattern: string;
}

interface Group {
  readonly agents: string[];
  readonly rules: Rule[];
  delayMs: number;
}

const mostLines = 10_000;
const mostRules = 2_000;
const longestPattern = 1_000;
/** A site that asks for longer pauses gets these. */
const longestDelayMs = 5_000;

export function readRobots(text: string, agent: string): Robots {
  const groups = groupsOf(text.split(/\r\n?|\n/, mostLines));
  const named = groups.filter(({ agents }) => agents.includes(agent));
  const own = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes('*'));
  const rules = own.flatMap((group) => group.rules).slice(0, mostRules);
  return {
    delayMs: Math.max(0, ...own.map(({ delayMs }) => delayMs)),
    allows: (address) => {
      const { pathname, search } = new URL(address);
      return isAllowed(rules, pathname + search);
    },
  };
}

function groupsOf(lines: readonly string[]): readonly Group[] {
  const groups: Group[] = [];
  let isHead = false;
  for (const line of lines) {
    const found = /^\s*([\w-]+)\s*:([^#]*)/.exec(line.slice(0, longestPattern));
    const value = found?.[2]?.trim() ?? '';
    const field = found?.[1]?.toLowerCase();
    if (field === 'user-agent') {
      if (!isHead) groups.push({ agents: [], rules: [], delayMs: 0 });
      groups.at(-1)?.agents.push(value.toLowerCase());
      isHead = true;
      continue;
    }
    const group = groups.at(-1);
    if (group === undefined || field === undefined) continue;
    if (field === 'allow' || field === 'disallow') {
      isHead = false;
      if (value !== '') group.rules.push({ allow: field === 'allow', pattern: value });
    } else if (field === 'crawl-delay') {
      isHead = false;
      const seconds = Number(value);
      if (seconds > 0) group.delayMs = Math.min(seconds * 1000, longestDelayMs);
    }
  }
  return groups;
}

/** The longest rule decides; of two that are equally long, the one that allows. */
function isAllowed(rules: readonly Rule[], path: string): boolean {
  let decisive: Rule | undefined;
  for (const rule of rules) {
    const isLonger =
      decisive === undefined ||
      rule.pattern.length > decisive.pattern.length ||
      (rule.pattern.length === decisive.pattern.length && rule.allow);
    if (isLonger && matches(rule.pattern, path)) decisive = rule;
  }
  return decisive?.allow ?? true;
}

/** `*` stands for any text, `$` for the end. No regular expression: the patterns are a stranger's. */
function matches(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith('$');
  const pieces = (isWhole ? pattern.slice(0, -1) : pattern).split('*');
  const [first = '', ...others] = pieces;
  if (!path.startsWith(first)) return false;
  let position = first.length;
  for (const [index, piece] of others.entries()) {
    if (isWhole && index === others.length - 1)
      return path.length - piece.length >= position && path.endsWith(piece);
    const found = path.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  return !isWhole || position === path.length;
}
