/// What the harness must know of each agent to sit at its keyboard. Nothing here says how the relay reaches it.

const kAll = ['immediate', 'next-message', 'next-tool-call', 'on-idle', 'manual'];

export const kModes = kAll;
export const kSituations = ['idle', 'working', 'dialog', 'draft'];

/// arguments: so that its write tool asks and its read tool does not.
/// dialog: what its permission dialog for a write looks like, with the choice that stands marked where that is text.
/// question: what an open question looks like; none where it asks only in a mode of its own. Enter takes the first choice.
/// allow, deny: a person's keys there. message: does its model get the words of a refusal?
/// look: a tool that runs without asking.
/// rewrites: what it does itself to a text on its way to the model.
/// joins: modes whose words become the newest prompt of a turn under way, so that its reply is to them.
/// cannot: modes it is known to have no door for; that the relay says so is then right.
export const kAgents = {
  claude: {
    title: 'Claude Code',
    arguments: ['--permission-mode', 'manual'],
    dialog: /❯ 1\. Yes/,
    question: /Enter to select/,
    allow: ['Enter'],
    deny: ['Escape'],
    absolute: true,
    rewrites: (text) => text.replace(/<(?=\/?system-reminder>)/g, '&lt;'),  // in what a hook adds
    cannot: [],
    look: (project) => ({ tool: 'read', path: `${project}/README.md` }),
  },
  codex: {
    title: 'Codex',
    arguments: ['--no-daemon', '--sandbox', 'read-only', '--ask-for-approval', 'on-request'],
    dialog: /› 1\. Yes/,
    question: null,  // asks only in plan mode
    allow: ['y'],
    deny: ['Escape'],
    absolute: false,
    cannot: [],
    look: () => ({ tool: 'shell', command: 'cat README.md' }),
  },
  gemini: {
    title: 'Gemini CLI',
    arguments: [],
    dialog: /● 1\. Allow once/,
    rewrites: (text) => text.replace(/</g, '&lt;').replace(/>/g, '&gt;'),  // in what a hook adds
    question: /Enter to select/,
    allow: ['Enter'],
    deny: ['Escape'],
    absolute: true,
    cannot: [],
    look: (project) => ({ tool: 'read', path: `${project}/README.md` }),
  },
  opencode: {
    title: 'OpenCode',
    arguments: [],
    dialog: /Permission required/,
    joins: ['next-tool-call'],
    question: /enter (submit|confirm)|select/,
    allow: ['Enter'],
    deny: ['Escape'],
    absolute: true,
    cannot: [],
    look: (project) => ({ tool: 'read', path: `${project}/README.md` }),
  },
};
