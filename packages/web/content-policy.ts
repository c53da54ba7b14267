/** The Content-Security-Policy of a page. */
import { createHash } from 'node:crypto';

/** A Content-Security-Policy. What `sources` does not name is refused: to load it, to post to it, to be framed by it. */
export function contentPolicy(sources: Readonly<Record<string, string>>): string {
  const { 'form-action': posts = "'none'", 'frame-ancestors': framing = "'none'" } = sources;
  const fixed = { 'base-uri': "'none'", 'form-action': posts, 'frame-ancestors': framing };
  return Object.entries({ 'default-src': "'none'", ...sources, ...fixed })
    .map((directive) => directive.join(' '))
    .join('; ');
}

/** The source by which a policy allows an inline script or style of exactly this text. */
export const sourceHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
