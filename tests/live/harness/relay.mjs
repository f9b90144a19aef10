/// The program under test, through its command line, in its own home.
import { execFile } from 'node:child_process';

export class Relay {
  constructor(program, home, project) {
    this.program = program;
    this.home = home;
    this.project = project;
    this.environment = { ...process.env, AGENT_RELAY_HOME: home, RELAY_HOME: `${home}/capture` };
    for (const name of ['AGENT_RELAY_NAME', 'AGENT_RELAY_HOST_SOCKET', 'TMUX', 'TMUX_PANE']) delete this.environment[name];
  }

  /// Never throws: the exit code is part of the result.
  run(args, { input = '', timeout = 30_000 } = {}) {
    return new Promise((resolve) => {
      const child = execFile(this.program, args,
        { cwd: this.project, env: this.environment, timeout, maxBuffer: 1 << 26 },
        (error, stdout, stderr) => resolve({ code: error ? error.code ?? 1 : 0, stdout, stderr: stderr.trim() }));
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
  }

  async json(...args) {
    const result = await this.run([...args, '--json']);
    try { return JSON.parse(result.stdout); } catch { return undefined; }
  }

  up() { return this.run(['up']); }
  down() { return this.run(['down', '--all']); }

  /// {id}, or {error}
  async send(to, body, from, mode) {
    const args = ['send', to, '-', '--from', from, '--json', ...(mode ? ['--mode', mode] : [])];
    const result = await this.run(args, { input: `${body}\n` });
    try {
      const id = JSON.parse(result.stdout).id;
      if (id) return { id };
    } catch { /* reported below */ }
    return { error: result.stderr || result.stdout || `exit code ${result.code}` };
  }

  explain(name) { return this.json('explain', name); }

  /// The last entry of the history, and all entries: {state, proof, reason, at, history}
  async trace(id) {
    const history = (await this.json('trace', id))?.deliveries?.[0]?.history ?? [];
    return { ...history.at(-1), history };
  }

  async hasMode() { return /--mode/.test((await this.run(['send', '--help'])).stdout); }
}
