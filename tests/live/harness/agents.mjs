/// Each agent as its user sees it. Nothing here describes how the relay reaches it.

const kAll = ['immediate', 'next-message', 'next-tool-call', 'on-idle', 'manual'];

export const kModes = kAll;
export const kSituations = ['idle', 'working', 'dialog', 'draft'];

/// arguments: options with which its write tool needs a permission and its read tool does not.
/// dialog: a pattern of its permission dialog for a write, with the selected choice if that is visible as text.
/// question: a pattern of an open question; null if it asks only in a special mode. Enter selects the first choice.
/// allow, deny: the user's keys in the dialog.
/// look: a tool that runs without a permission.
/// rewrites: how it changes a text before the model gets it.
/// joins: modes whose messages become the newest prompt of the running turn, so that its reply is to them.
/// unsupported: modes without an interface; the relay must report them as unsupported.
export const kAgents = {
  claude: {
    title: 'Claude Code',
    arguments: ['--permission-mode', 'manual'],
    dialog: /❯ 1\. Yes/,
    question: /Enter to select/,
    allow: ['Enter'],
    deny: ['Escape'],
    absolute: true,
    rewrites: (text) => text.replace(/<(?=\/?system-reminder>)/g, '&lt;'),  // in text added by a hook
    unsupported: [],
    look: (project) => ({ tool: 'read', path: `${project}/README.md` }),
  },
  codex: {
    title: 'Codex',
    arguments: ['--no-daemon', '--sandbox', 'read-only', '--ask-for-approval', 'on-request'],
    dialog: /› 1\. Yes/,
    question: null,  // only in plan mode
    allow: ['y'],
    deny: ['Escape'],
    absolute: false,
    unsupported: [],
    look: () => ({ tool: 'shell', command: 'cat README.md' }),
  },
  gemini: {
    title: 'Gemini CLI',
    arguments: [],
    dialog: /● 1\. Allow once/,
    rewrites: (text) => text.replace(/</g, '&lt;').replace(/>/g, '&gt;'),  // in text added by a hook
    question: /Enter to select/,
    allow: ['Enter'],
    deny: ['Escape'],
    absolute: true,
    unsupported: [],
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
    unsupported: [],
    look: (project) => ({ tool: 'read', path: `${project}/README.md` }),
  },
};
