/** What the tests of signing in and of sessions share. */
import { startApp, type TestApp } from '../../support/app.ts';
import { wholeFile } from '../../support/whole-file.ts';

/** The console, with a clock that tests move. */
export async function startSignIn() {
  const clock = { ms: Date.now() };
  const now = () => new Date(clock.ms);
  const app = await startApp({ clock: now });
  wholeFile.teardown(() => app.close());
  const ask = (email: string, headers: Record<string, string> = {}) =>
    fetch(`${app.url}/console/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ email }),
      redirect: 'manual',
      headers,
    });
  return { app, ask, clock, now };
}

/** As a form without fields is sent. */
export const press = ({ url }: Pick<TestApp, 'url'>, path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/html', ...headers },
  });
