/// The user's terminal: a private tmux server with one window.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export class Pane {
  constructor(socket) { this.socket = socket; }

  tmux(...args) { return run('tmux', ['-L', this.socket, '-f', '/dev/null', ...args], { maxBuffer: 1 << 24 }); }

  async open(directory, shellLine) {
    await this.tmux('new-session', '-d', '-s', 'agent', '-x', '120', '-y', '40', '-c', directory, shellLine);
  }

  /// Types the characters without Enter.
  async type(text) { await this.tmux('send-keys', '-t', 'agent', '-l', text); }

  async press(...keys) { await this.tmux('send-keys', '-t', 'agent', ...keys); }

  async screen() {
    const { stdout } = await this.tmux('capture-pane', '-p', '-t', 'agent').catch(() => ({ stdout: '' }));
    return stdout;
  }

  /// The last rows of the screen, for error messages.
  async lastRows() { return (await this.screen()).split('\n').filter((row) => row.trim()).slice(-14).join('\n'); }

  async close() { await this.tmux('kill-server').catch(() => {}); }
}
