/** Images that become part of a page, which then loads nothing. */
import { readFileSync } from 'node:fs';
import { orElse } from './or-else.ts';

const signatures = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/svg+xml', /^(?:\xef\xbb\xbf)?\s*(?:<\?xml\s[^>]*\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<svg[\s>]/s],
] as const;

/** In an image, browsers neither run scripts nor load anything. Opened by itself, an SVG could, so it may hold neither. */
const activeSvg =
  /<!(?!--)|<\?(?!xml\s)|encoding=(?!["']utf-8["'])|<(?:[\w-]+:)?(?:script|foreignObject|animate\w*|set|handler|iframe)\b|\son\w+\s*=|(?:href|src)\s*=\s*["'](?!#)|@import|url\(\s*["']?(?!#)|javascript:/i;

/** The image in `file` as a `data:` URL, or what is wrong with it, in words that follow the file's name. */
export function readImage(file: string, maxBytes: number): { url: string } | { fault: string } {
  const bytes = orElse(() => readFileSync(file), null);
  if (!bytes) return { fault: 'must name a file that can be read' };
  if (bytes.length > maxBytes) return { fault: `must have at most ${maxBytes} bytes` };
  const content = bytes.toString('latin1');
  const [type] = signatures.find(([, signature]) => signature.test(content)) ?? [];
  if (!type) return { fault: 'must be an SVG, PNG, JPEG or WebP image' };
  if (type === 'image/svg+xml' && activeSvg.test(content))
    return { fault: 'must be an SVG without scripts, events, animations and references to other files' };
  return { url: `data:${type};base64,${bytes.toString('base64')}` };
}
