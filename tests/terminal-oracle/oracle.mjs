// Feeds every case to xterm.js and writes the screens. One JSON object per line in, one per line out.
//
// in:  {"name", "columns", "rows", "steps": [["o", base64], ["r", columns, rows], ["s"]]}
// out: {"name", "screens": [{"rows": [text], "wrapped": [bool], "cursor": [row, column]}]}, one screen per "s"
import fs from 'node:fs';
import readline from 'node:readline';
import { createRequire } from 'node:module';

const require = createRequire(process.env.ORACLE_MODULES + '/');
const { Terminal } = require('@xterm/headless');
const { Unicode11Addon } = require('@xterm/addon-unicode11'); // the graphemes addon 0.4.0 makes many emoji narrow

function snapshot(terminal) {
  const buffer = terminal.buffer.active;
  const screen = { rows: [], wrapped: [], cursor: [buffer.cursorY, Math.min(buffer.cursorX, terminal.cols - 1)] };
  for (let row = 0; row < terminal.rows; row++) {
    screen.rows.push(buffer.getLine(buffer.baseY + row).translateToString(true).replace(/ +$/, ''));
    const next = row + 1 < terminal.rows ? buffer.getLine(buffer.baseY + row + 1) : undefined;
    screen.wrapped.push(next !== undefined && next.isWrapped);
  }
  return screen;
}

async function run(test) {
  const terminal = new Terminal({ cols: test.columns, rows: test.rows, scrollback: 1000, allowProposedApi: true });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  const screens = [];
  for (const [kind, ...data] of test.steps) {
    if (kind === 'o') await new Promise((done) => terminal.write(Buffer.from(data[0], 'base64'), done));
    if (kind === 'r') terminal.resize(data[0], data[1]);
    if (kind === 's') screens.push(snapshot(terminal));
  }
  terminal.dispose();
  return { name: test.name, screens };
}

const [input, output] = process.argv.slice(2);
const out = fs.createWriteStream(output);
for await (const line of readline.createInterface({ input: fs.createReadStream(input) })) {
  if (line === '') continue;
  out.write(JSON.stringify(await run(JSON.parse(line))) + '\n');
}
out.end();
