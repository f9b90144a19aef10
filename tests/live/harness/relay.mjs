/// The program under test, by its own command line, in a home of its own.
import { execFile } from 'node:child_process';

export class Relay {
  constructor(program, home, project) {
    this.program = program;
    this.home = home;
    this.project = project;
    this.environment = { ...process.env, AGENT_RELAY_HOME: home, RELAY_HOME: `${home}/capture` };
    for (const name of ['AGENT_RELAY_NAME', 'AGENT_RELAY_HOST_SOCKET', 'TMUX', 'TMUX_PANE']) delete this.environment[name];
  }

  /// Never throws: the exit code is part of the answer.
  run(words, { input = '', timeout = 30_000 } = {}) {
    return new Promise((resolve) => {
      const child = execFile(this.program, words,
        { cwd: this.project, env: this.environment, timeout, maxBuffer: 1 << 26 },
        (error, stdout, stderr) => resolve({ code: error ? error.code ?? 1 : 0, stdout, stderr: stderr.trim() }));
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
  }

  async json(...words) {
    const answer = await this.run([...words, '--json']);
    try { return JSON.parse(answer.stdout); } catch { return undefined; }
  }

  up() { return this.run(['up']); }
  down() { return this.run(['down', '--all']); }

  /// {id}, or {error}
  async send(to, body, from, mode) {
    const words = ['send', to, '-', '--from', from, '--json', ...(mode ? ['--mode', mode] : [])];
    const answer = await this.run(words, { input: `${body}\n` });
    try {
      const id = JSON.parse(answer.stdout).id;
      if (id) return { id };
    } catch { /* said below */ }
    return { error: answer.stderr || answer.stdout || `exit code ${answer.code}` };
  }

  explain(name) { return this.json('explain', name); }

  /// The last line of the ledger with its time, and all of them: {state, proof, reason, at, history}
  async ledger(id) {
    const history = (await this.json('trace', id))?.deliveries?.[0]?.history ?? [];
    return { ...history.at(-1), history };
  }

  async hasMode() { return /--mode/.test((await this.run(['send', '--help'])).stdout); }
}
