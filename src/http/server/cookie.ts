/** Cookies that scripts cannot read. */
import type { Context } from './context.ts';

/** `path` is where a browser sends it; over TLS it goes to all paths. Values must not contain `;` and the like. */
export function createCookie(baseUrl: string, plainName: string, path: string) {
  const isSecure = baseUrl.startsWith('https:');
  // With this prefix browsers accept it only over TLS, for this host alone and for all of its paths.
  const name = isSecure ? `__Host-${plainName}` : plainName;
  const attributes = isSecure ? 'Path=/; Secure' : `Path=${path}`;
  return {
    read: (ctx: Context): string => ctx.cookies.get(name) ?? '',

    // Lax: links and redirects of other sites may lead here, and no other site can post with it.
    set: (ctx: Context, value: string, maxAgeSeconds: number): void =>
      ctx.append(
        'Set-Cookie',
        `${name}=${value}; ${attributes}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`,
      ),
  };
}
