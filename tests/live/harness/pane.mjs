/// A person's terminal: a private tmux server with one window, typed into and looked at.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export class Pane {
  constructor(socket) { this.socket = socket; }

  tmux(...words) { return run('tmux', ['-L', this.socket, '-f', '/dev/null', ...words], { maxBuffer: 1 << 24 }); }

  async open(directory, shellLine) {
    await this.tmux('new-session', '-d', '-s', 'agent', '-x', '120', '-y', '40', '-c', directory, shellLine);
  }

  /// The characters, one key press each, without Enter.
  async type(text) { await this.tmux('send-keys', '-t', 'agent', '-l', text); }

  async press(...keys) { await this.tmux('send-keys', '-t', 'agent', ...keys); }

  async screen() {
    const { stdout } = await this.tmux('capture-pane', '-p', '-t', 'agent').catch(() => ({ stdout: '' }));
    return stdout;
  }

  /// Its last rows, for people.
  async glimpse() { return (await this.screen()).split('\n').filter((row) => row.trim()).slice(-14).join('\n'); }

  async close() { await this.tmux('kill-server').catch(() => {}); }
}
