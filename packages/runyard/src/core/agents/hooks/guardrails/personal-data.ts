import { native } from '../../../native-code.js';
import { keysOf } from '../../../objects.js';
import { checkOptions } from '../../../options/check-options.js';
import { flag, listOf, objectOf, word } from '../../../options/kinds.js';
import { type Guardrail, GuardrailRefusal } from '../hook.js';
import { leadingCard, leadingIban, leadingPhone } from './personal-data-checks.js';
import { mapTexts } from './texts.js';

export type PersonalDataKind = 'email' | 'iban' | 'card' | 'us_ssn' | 'phone' | 'ip_address';

interface Finder {
  readonly pattern: RegExp;
  /** The beginning of a match that is what it looks like; undefined when nothing is. */
  readonly confirm?: (match: string) => string | undefined;
}

/** In this order: a card number in an IBAN is no card, and a telephone number is whatever digits are left. */
const finders: Readonly<Record<PersonalDataKind, Finder>> = {
  email: {
    pattern: /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/gu,
  },
  iban: { pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/gi, confirm: leadingIban },
  card: {
    pattern: /(?<!\d)[2-6](?:[ -]?\d){12,18}(?!\d)/g,
    confirm: leadingCard,
  },
  us_ssn: {
    pattern: /(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])/g,
  },
  phone: {
    pattern:
      /(?<![\w+])(?:\+\d[\d ().-]{6,22}\d|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}([ .-])\d{3}\1\d{4}|0\d{2,4}[ /-]\d{3,4}[ -]?\d{3,6})(?!\d)/g,
    confirm: leadingPhone,
  },
  ip_address: {
    pattern: /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]*\d)/g,
  },
};

const allKinds = keysOf(finders);
const defaultKinds = allKinds.filter((kind) => kind !== 'ip_address');

export interface PersonalDataOptions {
  /** Replaces what is found by its kind in brackets, instead of refusing. */
  readonly mask?: boolean;
  /** What to look for; all but `ip_address` when left out. */
  readonly kinds?: readonly PersonalDataKind[];
}

const personalDataOptions = objectOf<PersonalDataOptions>({
  mask: flag,
  kinds: listOf(word(...allKinds), 1),
});

/** Refuses or masks e-mail addresses, IBANs, card numbers, US social security numbers and telephone numbers. */
export function personalDataGuardrail(options: PersonalDataOptions = {}): Guardrail {
  checkOptions('personalDataGuardrail()', options, personalDataOptions);
  const { mask = false, kinds = defaultKinds } = options;
  const wanted = allKinds.filter((kind) => kinds.includes(kind));
  return native({
    name: 'personal_data_guardrail',
    required: true,
    async run({ content }) {
      const found = new Set<PersonalDataKind>();
      const masked = mapTexts(content, (text) => maskText(text, wanted, found));
      if (found.size === 0) return undefined;
      if (mask) return masked;
      throw new GuardrailRefusal(`The text holds personal data: ${[...found].join(', ')}.`, {
        trigger: 'pii_detected',
        additionalData: { kinds: [...found] },
      });
    },
  });
}

function maskText(text: string, kinds: readonly PersonalDataKind[], found: Set<PersonalDataKind>): string {
  return kinds.reduce((masked, kind) => maskKind(masked, kind, found), text);
}

/** Continues right after what was found, not after the whole match: the next one may begin within it. */
function maskKind(text: string, kind: PersonalDataKind, found: Set<PersonalDataKind>): string {
  const { pattern, confirm = (match: string) => match } = finders[kind];
  let masked = '';
  let done = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const confirmed = confirm(match[0]);
    if (confirmed === undefined) {
      pattern.lastIndex = match.index + 1;
      continue;
    }
    found.add(kind);
    masked += `${text.slice(done, match.index)}[${kind}]`;
    done = match.index + confirmed.length;
    pattern.lastIndex = done;
  }
  return masked + text.slice(done);
}
