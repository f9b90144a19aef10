// One daemon for all tests of a file.
import { after, before } from 'node:test';
import { Daemon } from './daemon.mjs';

export function sharedDaemon(options) {
  const shared = {};
  before(async () => { Object.assign(shared, { daemon: await Daemon.start(options) }); });
  after(async () => { await shared.daemon?.stop(); });
  return {
    get socket() { return shared.daemon.socket; },
    get project() { return shared.daemon.project; },
    get home() { return shared.daemon.home; },
    crashAndRestart: () => shared.daemon.crashAndRestart(),
  };
}
