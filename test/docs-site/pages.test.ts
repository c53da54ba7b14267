// The documentation as readers meet it, all in one process: what takes longest is rendering its pages, and a block of code
// is drawn once in a process.
import './site.ts';
import './reference.ts';
import './browser.ts';
