import type { Tool } from '../../../tools/tool.js';
import type { AgentSettings } from '../../definition.js';
import { knowledgeTools } from '../../knowledge/knowledge-tools.js';
import { learningTools } from '../../learning/learning-tools.js';
import { workingMemoryTools } from '../../working-memory/working-memory-tool.js';
import { getChatHistory, getToolCallHistory } from './history-tools.js';
import { memoryTools } from './memory-tools.js';
import { readPastSession, searchPastSessions } from './past-session-tools.js';
import { updateSessionState } from './state-tool.js';

/** The tools that an agent has because of its settings. */
export function builtInTools(settings: AgentSettings): readonly Tool[] {
  const tools: Tool[] = [];
  if (settings.readChatHistory) tools.push(getChatHistory());
  if (settings.readToolCallHistory) tools.push(getToolCallHistory());
  if (settings.searchPastSessions) tools.push(searchPastSessions(), readPastSession());
  if (settings.agenticState) tools.push(updateSessionState());
  if (settings.agenticMemory) tools.push(...memoryTools(settings.allowClearMemories ?? false));
  tools.push(...workingMemoryTools(settings), ...learningTools(settings), ...knowledgeTools(settings));
  return tools;
}
