/** SQLITE_FULL, and SQLITE_IOERR_WRITE for a quota or a limit on the size of files. */
const codes: readonly unknown[] = [13, 778];

/** Whether SQLite had no room on the disk for what was to be written. */
export const isDiskFull = (error: unknown): error is Error =>
  error instanceof Error && 'errcode' in error && codes.includes(error.errcode);
