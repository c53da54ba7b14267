// Verifies the export named by its argument: a process of its own can be given a small heap.
import { verifyFile } from '../../src/audit/verify/export-file.ts';

process.stdout.write(JSON.stringify(await verifyFile(process.argv[2] ?? '')));
