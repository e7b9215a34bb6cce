/** Messages that make the models of the fuzzed yard do something. */
export const words = [
  'pay',
  'ask',
  'choose',
  'outside',
  'approve',
  'audit',
  'fail',
  'slowly',
  'delegate',
  'remember',
] as const;
export type Word = (typeof words)[number];
