import { isJsonObject } from '../../json.js';
import type { Message } from '../message.js';
import { answerFromDocuments, type FoundDocument } from './answer-from-knowledge.js';
import { keywords, overlap, quotedIn, sentences } from './words.js';

/** Everything that an answer may draw on. */
export interface Conversation {
  /** The question, cut to what the rules can look at. */
  readonly question: string;
  readonly system: string;
  /** What was said before, oldest first. */
  readonly earlier: readonly Message[];
  /** The calls of this turn and their results. */
  readonly results: readonly Message[];
  /** The text of attached files and the names of other media. */
  readonly attachments: readonly Attachment[];
  /** What was found in knowledge for the question; undefined when nothing was searched. */
  readonly found: readonly FoundDocument[] | undefined;
}

export interface Attachment {
  readonly label: string;
  readonly text: string;
}

const introduction =
  'I am Runyard’s offline model, a stand-in without knowledge of my own: I call tools, remember this conversation ' +
  'and fit output schemas by plain rules. Set a model such as openai:gpt-5-mini for real answers.';

/** The answer to a conversation, by the first rule that applies, in the manner the instructions ask for. */
export function composeAnswer(conversation: Conversation): string {
  const rules = [
    fromKnowledge,
    fromTools,
    asDictated,
    fromMemory,
    fromAttachments,
    fromContext,
    byCounting,
    asGreeting,
  ];
  for (const rule of rules) {
    const answer = rule(conversation);
    if (answer !== undefined) return inManner(answer, conversation.system);
  }
  return inManner(byDefault(conversation), conversation.system);
}

function fromKnowledge({ question, found }: Conversation): string | undefined {
  return found && answerFromDocuments(question, found);
}

function fromTools({ results }: Conversation): string | undefined {
  if (results.length === 0) return undefined;
  return results.map(describeResult).join('\n');
}

function describeResult(result: Message): string {
  const call = `${result.toolName ?? 'The tool'}${describeArguments(result)}`;
  if (result.toolCallError) return `I called ${call}, but it failed: ${result.content}`;
  return result.content === ''
    ? `I called ${call}. It is done.`
    : `I called ${call} and got: ${result.content}`;
}

function describeArguments({ toolArgs }: Message): string {
  if (!isJsonObject(toolArgs)) return '';
  return `(${Object.entries(toolArgs)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ')})`;
}

/** “Say …”, “repeat after me: …”, and instructions that fix the whole answer. */
function asDictated({ question, system }: Conversation): string | undefined {
  const fixed =
    /\b(?:only|always|exactly)\b[^.\n"“]{0,40}\b(?:with|say|answer|reply)\b[^.\n"“]{0,20}["“]([^"”]+)["”]/i.exec(
      system,
    );
  if (fixed && !/\b(?:start|begin|end|finish)/i.test(fixed[0])) return fixed[1];
  const dictated = /^\s*(?:please\s+)?(?:say|repeat(?: after me)?|echo)\b\s*:?\s*(.+)$/is.exec(question)?.[1];
  return dictated === undefined ? undefined : (quotedIn(dictated)[0] ?? dictated.trim());
}

/** What the person said earlier in this conversation. */
function fromMemory({ question, earlier, system }: Conversation): string | undefined {
  const said = earlier.filter(({ role }) => role === 'user').map(({ content }) => content);
  if (
    /\bwhat\b.*\bI\b.*\b(?:say|said|ask|asked|tell|told|write|wrote)\b|\bmy (?:last|previous|first|earlier) (?:message|question)/i.test(
      question,
    )
  ) {
    if (said.length === 0) return 'You have not said anything before this in our conversation.';
    const first = /\bfirst\b/i.test(question);
    const shown = first ? said.slice(0, 1) : said.slice(-3);
    return `${first ? 'First' : 'Before'}, you said: ${shown.map((text) => `“${shorten(text, 200)}”`).join(', then ')}.`;
  }
  if (/\bwhat\b.*\byou\b.*\b(?:say|said|answer|answered|reply|replied)\b/i.test(question)) {
    const answered = earlier.findLast(({ role, content }) => role === 'assistant' && content !== '');
    return answered ? `I said: “${shorten(answered.content, 500)}”` : 'I have not said anything before this.';
  }
  const wanted = /\b(?:what(?:['’]s| is| was| are)|do you (?:know|remember)|tell me) my ([\p{L} ]+)/iu
    .exec(question)?.[1]
    ?.trim();
  if (wanted === undefined && !/\bwho am I\b/i.test(question)) return undefined;
  return recall(wanted ?? 'name', [...said, system]);
}

function recall(wanted: string, texts: readonly string[]): string {
  const isName = /^(?:full |first )?name\b/i.test(wanted);
  for (const text of [...texts].reverse()) {
    const name = isName ? nameIn(text) : undefined;
    if (name) return `Your name is ${name}.`;
    const escaped = wanted.replace(/[^\p{L} ]/gu, '').replace(/ +/g, '\\s+');
    const fact = new RegExp(`\\bmy ${escaped}\\s+(?:is|are|was)\\s+([^.!?\\n]+)`, 'iu').exec(text);
    if (fact) return `Your ${wanted} is ${fact[1]?.trim()}.`;
    const entry = new RegExp(
      `"?\\b${escaped.replaceAll('\\s+', '[\\s_]+')}"?\\s*[:=]\\s*"?([^"\\n,}]+)`,
      'iu',
    ).exec(text);
    if (entry) return `Your ${wanted} is ${entry[1]?.trim()}.`;
  }
  return `You have not told me your ${wanted} yet.`;
}

function nameIn(text: string): string | undefined {
  const named =
    /\b(?:[Mm]y name is|[Cc]all me|I am called|(?:user['’]s|customer['’]s|user|their) name(?: is|:|=|,)|(?:[Tt]alking|[Ss]peaking|[Cc]hatting) (?:to|with)|[Gg]reet|[Aa]ddress(?: the user)? as|[Uu]ser is(?: called)?|[Nn]ame:|"(?:user_)?name":)\s*["“]?(\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)*)/u;
  return (named.exec(text) ?? /\bI(?: am|['’]m) (\p{Lu}[\p{L}'’-]+)/u.exec(text))?.[1];
}

function fromAttachments({ question, attachments }: Conversation): string | undefined {
  if (attachments.length === 0) return undefined;
  const lines = attachments.map(({ label, text }) => {
    if (text === '') return `You sent ${label}. As a stand-in I cannot look into it.`;
    const passage = bestPassage(question, text) ?? sentences(text)[0] ?? '';
    return `You sent ${label}. It says: ${shorten(passage, 300)}`;
  });
  return lines.join('\n');
}

/** A passage of the system message or of earlier turns that is about the question. */
function fromContext({ question, system }: Conversation): string | undefined {
  if (!/\?\s*$|^\s*(?:what|who|when|where|which|why|how|tell|explain|describe|list)\b/i.test(question))
    return undefined;
  const passage = bestPassage(question, system);
  return passage === undefined ? undefined : `From what I was given: ${shorten(passage, 400)}`;
}

function bestPassage(question: string, text: string): string | undefined {
  const asked = keywords(question);
  let best: string | undefined;
  let most = 1;
  for (const sentence of sentences(text)) {
    if (/^<|^(?:you|always|never|answer|use|be|if|greet|reply|respond)\b/i.test(sentence)) continue;
    const shared = overlap(asked, keywords(sentence));
    if (shared > most || (shared === most && shared >= asked.size && best === undefined && shared > 0)) {
      best = sentence;
      most = shared;
    }
  }
  return best;
}

/** “Count to 20”: a long answer whenever one is wanted to look at a stream. */
function byCounting({ question }: Conversation): string | undefined {
  const limit = /\bcount (?:up )?to (\d{1,5})\b/i.exec(question)?.[1];
  if (limit === undefined) return undefined;
  return Array.from({ length: Math.min(Number(limit), 10_000) }, (_, index) => index + 1).join(' ');
}

export function isGreeting(question: string): boolean {
  return /^\s*(?:hello|hi|hey|good (?:morning|day|evening)|greetings|bonjour|hallo)\b/i.test(question);
}

function asGreeting({ question, system, earlier }: Conversation): string | undefined {
  if (!isGreeting(question)) return undefined;
  const introduced =
    nameIn(question) ?? earlier.findLast(({ role, content }) => role === 'user' && nameIn(content));
  const name = typeof introduced === 'object' ? nameIn(introduced.content) : (introduced ?? nameIn(system));
  return `Hello${name ? ` ${name}` : ''}! ${introduction}`;
}

function byDefault({ question, system, earlier }: Conversation): string {
  const name = nameIn(system);
  const heard =
    question.trim() === '' ? 'You sent an empty message.' : `You said: “${shorten(question.trim(), 300)}”`;
  const introduced = nameIn(question);
  if (introduced) return `Nice to meet you, ${introduced}. I will remember that in this conversation.`;
  const hello = name && /\b(?:greet|address|name)/i.test(system) ? `Hello ${name}! ` : '';
  return earlier.length > 0 ? `${hello}${heard} (offline model)` : `${hello}${heard}\n${introduction}`;
}

/** Instructions about form that a rule can follow to the letter. */
function inManner(answer: string, system: string): string {
  let text = answer;
  const ending = /\b(?:end|finish|close|sign off)\b[^.\n"“]{0,60}["“]([^"”]+)["”]/i.exec(system)?.[1];
  const beginning = /\b(?:start|begin|open)\b[^.\n"“]{0,60}["“]([^"”]+)["”]/i.exec(system)?.[1];
  if (beginning && !text.startsWith(beginning)) text = `${beginning} ${text}`;
  if (ending && !text.endsWith(ending)) text = `${text} ${ending}`;
  if (/\b(?:in|use|all) (?:upper ?case|capitals?|capital letters|all caps)\b/i.test(system))
    text = text.toUpperCase();
  if (/\b(?:in|use|all) lower ?case\b/i.test(system)) text = text.toLowerCase();
  return text;
}

function shorten(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
