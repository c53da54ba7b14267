/** Why a page of the console is not shown. The message is for staff, and holds nothing that was sent. */
export class ConsoleProblem extends Error {
  override name = 'ConsoleProblem';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
