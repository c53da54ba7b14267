/** Runs the gateway in a process that a test can kill: `node gateway-process.ts <file> <port>`; prints its address. */
import { pino } from 'pino';
import { startSandboxGateway } from '../../packages/sandbox/gateway.ts';
import { registryToken, secret } from './helpers.ts';

const [, , file = '', port = '0'] = process.argv;
const log = pino({ level: 'silent' });
const gateway = await startSandboxGateway({
  port: Number(port),
  secret,
  registryToken,
  webhookSecrets: [],
  outboxDir: '/nowhere',
  file,
  log,
});
process.stdout.write(`${gateway.url}\n`);
