/// A tmux control client: keys without a process per key, and output without polling.
import { spawn } from 'node:child_process';

const kMaxOutput = 20_000;  // characters of output

export class Control {
  #child;
  #output = '';

  constructor(socket) {
    this.#child = spawn('tmux', ['-L', socket, '-C', 'attach', '-t', 'agent'], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdout.on('data', (bytes) => { this.#output = (this.#output + bytes).slice(-kMaxOutput); });
  }

  /// One key per character.
  key(character) { this.#child.stdin.write(`send-keys -t agent -H ${character.codePointAt(0).toString(16)}\n`); }
  /// Whether the text was drawn since the last `forget`.
  drew(text) { return this.#output.includes(text); }
  forget() { this.#output = ''; }
  close() { this.#child.kill(); }
}
