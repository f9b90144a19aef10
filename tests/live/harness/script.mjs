/// The model's replies to the user's prompts. Each number is used once; the last words of a reply show that it is complete.
import { join } from 'node:path';

export const kPrompts = {
  say: (n) => `please say ${n}.`,
  count: (n) => `please count ${n}.`,
  countAndLook: (n) => `please count and look ${n}.`,
  look: (n) => `please look ${n}.`,
  write: (n) => `please write ${n}.`,
  ask: (n) => `please ask ${n}.`,
};
export const ending = (n) => `that was ${n} to the end`;
export const kChoices = ['Red', 'Blue'];
export const noteFile = (project, n) => join(project, `note-${n}.txt`);

const kSlow = { delay_ms: 50, chunk: 16 };
const kCounting = Array.from({ length: 42 }, (_, i) => `Line ${i + 1} of a long answer, slowly.\n`).join('\n');
/// Small numbers, so that the agent does not compact the conversation.
const usage = { input: 1_000, output: 10 };

const question = { question: 'Which colour?', header: 'Colour', multiSelect: false,
  options: kChoices.map((label) => ({ label, description: `the colour ${label}` })) };

export function script(...wanted) {
  return (agent, project) => {
    const look = agent.look(project);
    const rules = [];
    const add = (prompt, ...turns) => rules.push({
      match: `${prompt.replaceAll('.', '\\.')}`,
      turns: turns.map((turn) => ({ usage, ...turn })),
    });
    for (const n of [0, ...wanted]) {
      const end = { text: `All right, ${ending(n)}.` };
      const path = agent.absolute ? noteFile(project, n) : `note-${n}.txt`;
      add(kPrompts.say(n), end);
      add(kPrompts.count(n), { text: `${kCounting}\nAll right, ${ending(n)}.`, ...kSlow });
      add(kPrompts.countAndLook(n), { text: kCounting, tools: [look], ...kSlow }, end);
      add(kPrompts.look(n), { text: 'Looking.', tools: [look] }, end);
      add(kPrompts.ask(n), { text: 'Asking.', tools: [{ tool: 'ask', questions: [question] }] }, end);
      add(kPrompts.write(n), { text: 'Writing.', tools: [{ tool: 'write', path, content: `note ${n}\n` }] }, end);
    }
    rules.push({ match: '', turns: [{ text: 'ok.', usage }] });
    return { delay_ms: 1, first_ms: 5, chunk: 400, rules };
  };
}
