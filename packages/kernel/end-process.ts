/** The end of a process while a disk does not answer: Node's own end waits for what was asked of it, for ever. */

export const isDiskAwaited = () => process.getActiveResourcesInfo().some((each) => each.startsWith('FSReq'));

/** `process.exit`, or SIGKILL if a disk has not answered yet. */
export function endNow(exitCode: number): never {
  if (isDiskAwaited()) process.kill(process.pid, 'SIGKILL');
  process.exit(exitCode);
}
