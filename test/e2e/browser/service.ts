/** `npm start` on ports and a folder of its own, and a shell beside it. */
import { freePort } from '../../../packages/embedded/free-port.ts';
import { runLedger } from '../../support/ledger.ts';
import { folderWithCluster } from '../../support/postgres.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { gatewaySecret, startRole } from '../ledger.ts';

const [port, sandboxPort] = [await freePort(), await freePort()];
export const baseUrl = `http://localhost:${port}`;
export const gatewayUrl = `http://localhost:${sandboxPort}`;

const environment = {
  PORT: String(port),
  SANDBOX_PORT: String(sandboxPort),
  DATA_DIR: await folderWithCluster(wholeFile),
  GATEWAY_SECRET: gatewaySecret,
  // Callbacks are tried again every second.
  CALLBACK_RETRY_SCHEDULE: `0s${',1s'.repeat(60)}`,
};
await startRole(wholeFile, ['serve'], environment, (output) => output.includes('is running'));

/** `ledger <args>` on the same data folder; resolves to what it printed. */
export async function ledger(...args: string[]): Promise<string> {
  return (await runLedger(args, environment)).stdout;
}
