/// Results as a table for people, and what was missed.
import { kAgents } from './agents.mjs';

const kNotes = 6;  // of a cell, while running; the JSON holds all

const share = ({ of, good }) => (of === 0 ? '' : `${good}/${of}`);

function figures(result) {
  const { messages, mode } = result;
  const count = (wanted) => messages.filter(wanted).length;
  const took = messages.map((message) => message.tookMs).filter(Number.isFinite).sort((a, b) => a - b);
  return {
    sent: count((message) => message.id),
    once: count((message) => message.arrivals === 1),
    shown: count((message) => message.arrivals > 0),
    asSent: count((message) => message.asSent),
    inMoment: count((message) => message.inMoment),
    ledger: count((message) => message.ledgerRight),
    median: took[Math.floor(took.length / 2)],
    max: took.at(-1),
    held: mode === 'manual' || Boolean(result.cannot),
    ways: [...new Set(messages.map((message) => wayOf(message.ledger)))].join(', '),
  };
}

/// As the ledger's reason names it: "by inbox; its transcript shows it". What was typed says what the screen did.
function wayOf({ state, reason = '' }) {
  if (state !== 'delivered') return state ?? 'not sent';
  return /^by ([a-z]+)/.exec(reason)?.[1] ?? 'terminal';
}

/// Every bar this cell misses, in words.
export function failuresOf(result) {
  const { messages, mode, dialogs, drafts, replies, held } = result;
  const it = figures(result);
  const missed = [];
  const bar = (good, words) => { if (!good) missed.push(words); };
  bar(!result.trouble, `trouble: ${result.trouble}`);
  bar(it.sent === messages.length, `${messages.length - it.sent} not accepted`);
  bar(result.cannot || messages.length === result.wanted, `given up after ${messages.length}`);
  bar(held.good === held.of, `the situation held in ${share(held)}`);
  bar(!result.cannot || kAgents[result.cli].cannot.includes(mode), result.cannot);
  if (it.held) {
    bar(it.shown === 0, `${it.shown} shown though held`);
  } else {
    bar(it.once === messages.length, `${it.once} of ${messages.length} exactly once`);
    bar(it.asSent === messages.length, `${it.asSent} of ${messages.length} as sent`);
    bar(it.inMoment === messages.length, `${it.inMoment} of ${messages.length} at their moment`);
  }
  bar(it.ledger === messages.length, `the ledger is right for ${it.ledger} of ${messages.length}`);
  bar(dialogs.good === dialogs.of, `dialogs untouched: ${share(dialogs)}`);
  bar(drafts.good === drafts.of, `drafts untouched: ${share(drafts)}`);
  bar(mode === 'immediate' || replies.good === replies.of, `replies whole: ${share(replies)}`);
  bar(!result.harm, 'a message was run or said again');
  return missed;
}

export function progressLine(result) {
  const { cli, mode, situation, notes } = result;
  const it = figures(result);
  const missed = failuresOf(result);
  const verdict = missed.length ? `MISSED: ${missed.join('; ')}` : 'good';
  const came = `${it.once} of ${it.sent} once, median ${it.median} ms, by ${it.ways}`;
  const what = result.cannot || (it.held ? `${it.sent} held` : came);
  return [`${cli} ${mode} ${situation}: ${what}; ${verdict}`, ...notes.slice(0, kNotes).map((note) => `      ${note}`)].join('\n');
}

export function table(results) {
  const head = ['agent', 'mode', 'situation', 'sent', 'exactly once', 'as sent', 'at its moment', 'dialog untouched',
    'draft untouched', 'replies whole', 'ledger right', 'median ms', 'max ms', 'way', ''];
  const rows = results.map((result) => {
    const it = figures(result);
    const once = result.cannot ? 'cannot' : it.held ? `held ${it.sent - it.shown}` : it.once;
    return [kAgents[result.cli].title, result.mode, result.situation, it.sent, once,
      it.held ? '' : it.asSent, it.held ? '' : it.inMoment, share(result.dialogs), share(result.drafts),
      result.mode === 'immediate' ? '' : share(result.replies), it.ledger, it.median ?? '', it.max ?? '', it.ways,
      failuresOf(result).length ? 'missed' : 'good'];
  });
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
