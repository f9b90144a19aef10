// Every file in one process, one after another: some of them measure time, and the machine may have two cores.
// A file's name as an argument runs only that one: tests/conformance/run channels
const files = ['handshake', 'messages', 'sessions', 'channels', 'shadows', 'topics', 'blocking', 'consensus',
  'queries', 'presence', 'workers', 'frames', 'discovery', 'patience', 'burst'];
const chosen = process.argv.slice(2);
for (const file of files)
  if (chosen.length === 0 || chosen.includes(file)) await import(`./${file}.test.mjs`);
