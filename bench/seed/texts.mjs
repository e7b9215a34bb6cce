const subjects = [
  ...['the order', 'my invoice', 'the contract', 'a refund', 'the delivery', 'our budget', 'the report'],
  ...['a flight to Lisbon', 'the new office', 'a table for four', 'the release', 'my password', 'the survey'],
  ...[
    'the roadmap',
    'a birthday present',
    'the translation',
    'the meeting',
    'our newsletter',
    'the warranty',
  ],
];
const requests = [
  ...['Where is', 'Can you check', 'Please summarise', 'What do you think of', 'Who wrote', 'Compare'],
  ...['Remind me of', 'How much is', 'When do we need', 'Explain', 'Find something about', 'Cancel'],
];
const endings = [
  ...[
    'before Friday',
    'for the customer in Vienna',
    'as soon as you can',
    'in two sentences',
    'from last year',
  ],
  ...['and tell my colleague', 'without the details', 'for the second time', 'with all prices', 'in French'],
];
const sentences = [
  'It was sent on Tuesday and should arrive within two days.',
  'The second version is shorter and easier to read than the first one.',
  'Nobody has confirmed the date so far, so I have asked again.',
  'The price includes everything except the insurance.',
  'There are three documents that mention it, and the newest one is from March.',
  'I would choose the first offer because the support is better.',
  'All numbers are in the table below, rounded to whole units.',
  'The customer has agreed to wait until the end of the month.',
];
/** In about one text of ten thousand. */
export const rareWord = 'quokka';

/** Only letters, digits, spaces and points: JSON, and JSON within JSON, holds them unescaped. */
export function question(random) {
  const rare = random.chance(1 / 10_000) ? ` ${rareWord}` : '';
  return `${random.pick(requests)} ${random.pick(subjects)} ${random.pick(endings)}${rare} ${random.below(100_000)}`;
}

/** Now and then a long one. */
export function paragraph(random) {
  const count = random.chance(1 / 200) ? 200 : 2 + random.below(5);
  return Array.from({ length: count }, () => random.pick(sentences)).join(' ');
}

const facts = [
  'Likes',
  'Dislikes',
  'Owns',
  'Works on',
  'Is responsible for',
  'Asked twice about',
  'Pays for',
];
export const topics = [
  ...['food', 'work', 'travel', 'family', 'health', 'music', 'money', 'sports', 'language', 'home'],
  ...Array.from({ length: 190 }, (_, position) => `project ${position + 1}`),
];

export function fact(random) {
  const rare = random.chance(1 / 10_000) ? ` ${rareWord}` : '';
  return `${random.pick(facts)} ${random.pick(subjects)}, ${random.pick(endings)}${rare}. ${random.pick(sentences)}`;
}
