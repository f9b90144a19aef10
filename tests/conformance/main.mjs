// Runs every file in one process, one after another: some measure time, and the machine may have two cores.
// The name of a file as an argument selects it: tests/conformance/run channels
const files = ['handshake', 'messages', 'sessions', 'channels', 'shadows', 'topics', 'blocking', 'consensus',
  'queries', 'presence', 'workers', 'frames', 'discovery', 'timing', 'burst'];
const chosen = process.argv.slice(2);
for (const file of files)
  if (chosen.length === 0 || chosen.includes(file)) await import(`./${file}.test.mjs`);
