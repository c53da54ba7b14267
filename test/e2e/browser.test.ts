// What is tried in a real browser, all on one `npm start` and in one Chromium, which take longest to start.
import './browser/payers.ts';
import './browser/staff.ts';
