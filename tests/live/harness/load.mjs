/// Processes that do nothing but use a processor, while a run is to happen on a busy machine.
import { spawn } from 'node:child_process';

const kForever = 'for (;;) {}';
const kMaxMs = 60 * 60_000;  // they end by themselves, whatever happens to the run

export class Load {
  #burners;

  constructor(count) {
    this.#burners = Array.from({ length: count }, () =>
      spawn('timeout', [`${kMaxMs / 1000}`, process.execPath, '-e', kForever], { stdio: 'ignore' }));
    process.once('exit', () => this.stop());
  }

  stop() { for (const burner of this.#burners.splice(0)) burner.kill(); }
}
