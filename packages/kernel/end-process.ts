/** Ends a process although a disk does not answer: Node itself waits without limit for file operations under way. */

export const isDiskAwaited = () => process.getActiveResourcesInfo().some((each) => each.startsWith('FSReq'));

/** `process.exit`, or SIGKILL if a disk has not answered yet. */
export function endNow(exitCode: number): never {
  if (isDiskAwaited()) process.kill(process.pid, 'SIGKILL');
  process.exit(exitCode);
}
