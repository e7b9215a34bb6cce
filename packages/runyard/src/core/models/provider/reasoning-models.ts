/** Which models think by themselves before they answer, recognized by their names. */
export function reasonsByDefault(protocol: 'responses' | 'anthropic' | 'gemini', id: string): boolean {
  return tests[protocol](id);
}

const tests = {
  /** `o3`, `gpt-5-mini`, `gpt-6.1-terra`, fine-tuned ones too; not `gpt-4o` and not the chat variants. */
  responses: (id: string) => {
    const name = id.replace(/^ft:/, '');
    return /^(o\d|gpt-([5-9]|\d\d)(\D|$)|codex)/.test(name) && !/-chat(-|$)/.test(name);
  },
  /** Claude 5 and later. */
  anthropic: (id: string) => /claude-[a-z]+-([5-9]|\d\d)(?!\d)/.test(id),
  /** Gemini 2.5 and later, but for the small and the drawing ones. */
  gemini: (id: string) => {
    const version = /gemini-(\d+(?:\.\d+)?)/.exec(id)?.[1];
    return Number(version) >= 2.5 && !/-lite|-image|-tts/.test(id);
  },
};
