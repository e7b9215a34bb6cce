/** What the model says, token by token; the other processes know it too, to check that nothing is lost. */
export const tokens = Array.from({ length: 50 }, (_, position) => `token${position + 1} `);
export const answer = tokens.join('');

export const instructions = 'You are a helpful assistant. Answer briefly and to the point.';
export const question = 'Which of the two proposals would you choose for the new building, and why?';

/** After how many tokens a model that stalls says no more. */
export const stalledAfter = 10;
