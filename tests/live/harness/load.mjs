/// Processes that only use the processor, for runs on a busy machine.
import { spawn } from 'node:child_process';

const kForever = 'for (;;) {}';
const kMaxMs = 60 * 60_000;  // they exit by themselves, also if the run crashes

export class Load {
  #burners;

  constructor(count) {
    this.#burners = Array.from({ length: count }, () =>
      spawn('timeout', [`${kMaxMs / 1000}`, process.execPath, '-e', kForever], { stdio: 'ignore' }));
    process.once('exit', () => this.stop());
  }

  stop() { for (const burner of this.#burners.splice(0)) burner.kill(); }
}
