import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';

/** As `create-langgraph` begins a project: a graph whose node calls the model. */
const { MODEL_URL: baseURL, INSTRUCTIONS: content } = process.env;
const model = new ChatOpenAI({ model: 'bench', apiKey: 'none', configuration: { baseURL } });

async function callModel({ messages }) {
  return { messages: [await model.invoke([{ role: 'system', content }, ...messages])] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', callModel)
  .addEdge('__start__', 'agent')
  .addEdge('agent', '__end__')
  .compile();
