import OpenAI from 'openai';

// Only the address differs from a program that uses OpenAI's own models. The example checks no key.
const client = new OpenAI({ baseURL: process.argv[2] ?? 'http://127.0.0.1:7777/v1', apiKey: 'none' });

// The agent executes its own tools: the program sees the answer.
const answer = await client.chat.completions.create({
  model: 'shop',
  messages: [{ role: 'user', content: 'Where is order 1001?' }],
});
console.log(answer.choices[0].message.content);

// A tool of this program: the model calls it, the program executes it, and the run continues with the result.
const tools = [
  {
    type: 'function',
    function: {
      name: 'opening_hours',
      description: 'The opening hours of a shop in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const messages = [{ role: 'user', content: 'What are the opening hours in Lisbon?' }];
const { message } = (await client.chat.completions.create({ model: 'shop', messages, tools })).choices[0];
const results = (message.tool_calls ?? []).map(({ id, function: { arguments: given } }) => ({
  role: 'tool',
  tool_call_id: id,
  content: `The shop in ${JSON.parse(given).city} is open from 9 to 5.`,
}));
const last = await client.chat.completions.create({
  model: 'shop',
  messages: [...messages, message, ...results],
  tools,
});
console.log(last.choices[0].message.content);

// The same agent over the Responses API, as a stream.
const stream = await client.responses.create({ model: 'shop', input: 'Count to 5', stream: true });
for await (const event of stream)
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
process.stdout.write('\n');
