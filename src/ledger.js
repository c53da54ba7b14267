#!/usr/bin/env node
/**
 * Starts the command line with the code that Node compiled before, which saves a third of the CPU time until
 * `ledger serve` answers; its children use it too. JavaScript, because one file of TypeScript that is not kept yet
 * makes Node load its compiler (0.1 s of CPU, 7 MB).
 */
// A named import of what an older Node.js lacks would fail before the message below is printed.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const found = process.versions.node;
if (Number.parseInt(found, 10) < 24) {
  const ours = '`npm ci` without --omit=dev installs it here, for `npm start` and `npx ledger`';
  process.stderr.write(`The ledger needs Node.js 24 or newer, and this is ${found}: ${ours}.\n`);
  process.exit(78);
}

// The kernel passes to the first process of a container only signals that it handles: otherwise nothing would stop it
// while it starts, nor most commands.
if (process.pid === 1)
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
    process.on(signal, () => process.listenerCount(signal) > 1 || process.exit(code));

// A library of the documentation asks for it, and fails for an account without one, such as a container's bare user id.
process.env.HOME ||= '/';

// In Node's own folder in /tmp, another account could have left code. A folder that cannot be written is read: the image's.
process.env.NODE_COMPILE_CACHE ||= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import('./main.ts');
