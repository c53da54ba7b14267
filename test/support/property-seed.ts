// Every worker of ava loads this first: property tests draw the same values in every run, so that a change is never
// blamed for a value that was drawn by chance. PROPERTY_SEED takes another number, or `random`; a failure names its seed.
import fc from 'fast-check';

const { PROPERTY_SEED = '1' } = process.env;
if (PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: Number(PROPERTY_SEED) });

// ava switches them on. Types are stripped in place, so every position is right without them, and each costs time.
process.setSourceMapsEnabled(false);
// And what is compiled at its first call costs a child more than it saves, as most end soon.
const notForChildren = ['--enable-source-maps', '--always-sparkplug'];
process.execArgv = process.execArgv.filter((argument) => !notForChildren.includes(argument));
