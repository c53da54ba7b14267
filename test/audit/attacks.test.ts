// The table of content/docs/seals.md: each attack is carried out on the files of a ledger, and each is detected.
import './attacks/on-log.ts';
import './attacks/on-export.ts';
import './attacks/by-the-documents.ts';
import './attacks/on-auditors.ts';
