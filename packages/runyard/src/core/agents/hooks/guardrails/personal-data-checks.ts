const zero = '0'.charCodeAt(0);

/** The card number that a text begins with, up to the end of a group: a check number may follow it. */
export function leadingCard(text: string): string | undefined {
  const digits: number[] = [];
  let card: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) continue;
    digits.push(digit);
    const groupEnds = at + 1 === text.length || !isDigit(text, at + 1);
    if (groupEnds && digits.length >= 13 && isCardNumber(digits)) card = text.slice(0, at + 1);
  }
  return card;
}

function isDigit(text: string, at: number): boolean {
  const digit = text.charCodeAt(at) - zero;
  return digit >= 0 && digit <= 9;
}

/** Every second digit from the right counts double; the whole adds up to tens. */
function isCardNumber(digits: readonly number[]): boolean {
  let sum = 0;
  for (const [at, digit] of digits.toReversed().entries()) {
    const counted = at % 2 === 1 ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  // a row of one digit passes the checksum too, and is no card
  return sum % 10 === 0 && digits.some((digit) => digit !== digits[0]);
}

/** The telephone number that a text begins with: up to 15 digits, 8 at least when it begins with a country. */
export function leadingPhone(text: string): string | undefined {
  let digits = 0;
  let end = 0;
  for (let at = 0; at < text.length && digits < 15; at += 1) {
    if (!/\d/.test(text.charAt(at))) continue;
    digits += 1;
    end = at + 1;
  }
  return text.startsWith('+') && digits < 8 ? undefined : text.slice(0, end);
}

/** How long the account numbers of a country are, its code and check digits included. */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 ' +
    'FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
    'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 ' +
    'SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** The account number that a text begins with, blanks included; what follows it may be words in capitals. */
export function leadingIban(text: string): string | undefined {
  const length = ibanLengths[text.slice(0, 2).toUpperCase()];
  if (length === undefined) return undefined;
  let end = 0;
  let compact = '';
  while (compact.length < length && end < text.length) {
    if (text[end] !== ' ') compact += text[end];
    end += 1;
  }
  if (compact.length < length || /[A-Z0-9]/i.test(text[end] ?? '')) return undefined;
  return remainderOf(compact.slice(4) + compact.slice(0, 4)) === 1 ? text.slice(0, end) : undefined;
}

/** The number that letters and digits spell (A is 10, Z is 35), modulo 97. */
function remainderOf(text: string): number {
  let remainder = 0;
  for (const character of text) {
    for (const digit of String(Number.parseInt(character, 36)))
      remainder = (remainder * 10 + Number(digit)) % 97;
  }
  return remainder;
}
