// An export is verified by content/docs/audit.md alone, "The format of a file", with nothing of the program.
import { createHash, createPublicKey, verify } from 'node:crypto';
import test from 'ava';
import { key, tampered } from '../ledger.ts';
import { exported, exportOf, file, relined } from './ledger.ts';

type Fields = Record<string, unknown>;
type Event = { stream: string; revision: number; id: string; type: string; data: Fields; metadata: Fields };
type Leaf = [tag: string, label: string, digest: string];
type Tree = { size: number; roots: string[]; checkpoint: string; seal?: { data: Fields } };

const sha256 = (...parts: (string | Buffer)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

/** RFC 8785, as far as events need it. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, of]) => `${JSON.stringify(name)}:${canonical(of)}`).join(',')}}`;
}

const isSigned = (text: string, signature: Buffer) =>
  verify(
    null,
    Buffer.from(text),
    createPublicKey({ key: Buffer.from(key.publicKey, 'base64'), format: 'der', type: 'spki' }),
    signature,
  );

/** The number and the root of a checkpoint that the log has signed. */
function opened(note: string): { size: number; root: Buffer } {
  const [text = '', signatures = ''] = note.split(/(?<=\n)\n/);
  const [origin = '', size, root = ''] = text.split('\n');
  const [, signature = ''] = signatures.split('\n')[0]?.split(`— ${origin} `) ?? [];
  // Four bytes are the id of the key.
  if (!isSigned(text, Buffer.from(signature, 'base64').subarray(4))) throw new Error('checkpoint');
  return { size: Number(size), root: Buffer.from(root, 'base64') };
}

/** A tree by RFC 9162, continued from the roots of its largest complete subtrees, the largest first. */
function grow(size: number, roots: Buffer[]) {
  const node = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right);
  const subtrees = [...roots];
  let count = size;
  return {
    add(leaf: Buffer): void {
      let hash = leaf;
      for (let rest = count; rest % 2 === 1; rest = (rest - 1) / 2) hash = node(subtrees.pop() ?? hash, hash);
      subtrees.push(hash);
      count += 1;
    },
    count: () => count,
    root: () => subtrees.reduceRight((right, left) => node(left, right)),
  };
}

function leafOf({ stream, revision, id, data, metadata }: Event): Leaf {
  const { code } = (data.merchant ?? {}) as Fields;
  const digest = sha256(JSON.stringify([stream, revision, id, metadata.hash])).toString('hex');
  return [sha256(stream).toString('hex').slice(0, 16), revision === 0 ? `${data.at} ${code}` : '', digest];
}

/** Throws the name of the check that fails. */
function check(content: string): { events: number; size: number } {
  const must = (holds: boolean, name: string) => {
    if (!holds) throw new Error(name);
  };
  const events: Event[] = [];
  const tags = new Set<string>();
  let [checksum, previousHash, from, to] = ['0'.repeat(64), '', '', ''];
  let [tree, grown]: [Tree | null, ReturnType<typeof grow> | null] = [null, null];
  for (const [index, text] of content.trimEnd().split('\n').entries()) {
    const line = JSON.parse(text);
    checksum = sha256(checksum, text.slice(0, text.lastIndexOf(',"checksum":'))).toString('hex');
    must(line.checksum === checksum && line.line === index + 1, 'checksum');
    if (line.export) ({ from, to } = line.export);
    if (line.type) {
      const { hash, ...metadata } = line.metadata;
      const isFirst = line.revision === 0;
      must(metadata.previousHash === (isFirst ? '0'.repeat(64) : previousHash), 'chain');
      must(
        sha256(canonical({ type: line.type, data: line.data, metadata })).toString('hex') === hash,
        'hash',
      );
      previousHash = hash;
      events.push(line);
      tags.add(leafOf(line)[0]);
    }
    if (line.tree) {
      const { size, roots, seal }: Tree = line.tree;
      tree = line.tree;
      grown = grow(
        size,
        roots.map((each) => Buffer.from(each, 'base64')),
      );
      if (size > 0) {
        const { signature, ...signed } = seal?.data ?? {};
        must(isSigned(canonical(signed), Buffer.from(String(signature), 'base64')), 'signature of the seal');
        const sealed = opened(String(signed.checkpoint));
        must(sealed.size === size && sealed.root.equals(grown.root()), 'seal');
        must(Date.parse(String(signed.at)) <= Date.parse(from) - 3_600_000, 'time of the seal');
      }
    }
    const streams = [...new Set(events.map(({ stream }) => stream))];
    for (const entry of line.leaves ?? []) {
      const own = events.find((each) => each.stream === streams[entry[0]] && each.revision === entry[1]);
      const leaf: Leaf = entry.length === 2 ? leafOf(own as Event) : entry;
      const [at = ''] = leaf[1].split(' ');
      if (!own) must(!tags.has(leaf[0]) && !(at >= from && at < to), 'left out');
      grown?.add(sha256(Buffer.of(0), JSON.stringify(leaf)));
    }
  }
  const { size, root } = opened(tree?.checkpoint ?? '');
  must(size === grown?.count() && root.equals(grown.root()), 'root');
  return { events: events.length, size };
}

test.serial('by the documents: an export is whole, also one whose leaves begin at a seal', async (t) => {
  const { events, size } = check(exported);
  t.true(events > 30 && size > events);
  const { eventStore } = await tampered(t, file, () => {});
  const later = await exportOf(eventStore, { from: '2026-11-22', to: '2026-11-22' });
  t.deepEqual(check(later), { events: 0, size });
});

test.serial('by the documents: whatever is changed in an export is found', async (t) => {
  const { eventStore } = await tampered(t, file, () => {});
  const later = await exportOf(eventStore, { from: '2026-11-22', to: '2026-11-22' });
  for (const [name, content, change] of [
    ['hash', exported, ({ data }: Fields) => Object.assign(Object(data), { amountSen: 1 })],
    ['chain', exported, ({ metadata }: Fields) => Object.assign(Object(metadata), { previousHash: 'a' })],
    ['root', exported, (line: Fields) => Object.assign(line, { id: 'another' })],
    [
      'signature of the seal',
      later,
      ({ tree }: Fields) => Object.assign(Object(tree).seal?.data ?? {}, { at: '' }),
    ],
    ['seal', later, ({ tree }: Fields) => Object(tree).roots?.reverse()],
  ] as const) {
    const changed = relined(content, (lines) => {
      for (const line of lines.slice(0, 3)) change(line);
      return lines;
    });
    t.throws(() => check(changed), { message: name }, name);
  }
  t.throws(() => check(exported.replace('"amountSen":12050', '"amountSen":99950')), { message: 'checksum' });
});
