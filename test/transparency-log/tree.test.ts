// The tree: the reference vectors of Certificate Transparency (google/certificate-transparency, merkletree; used by
// RFC 6962 and RFC 9162 implementations), the example of RFC 9162 section 2.1.5, and properties of proofs.
import {
  growTree,
  isConsistent,
  isRangeOf,
  leafHash,
  nodeHash,
  type Part,
  proveConsistency,
  proveInclusion,
  rootOfInclusion,
} from '@ledger/transparency-log/tree.ts';
import test from 'ava';
import fc from 'fast-check';

const inputs = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const bytes = (hex: string) => Buffer.from(hex, 'hex');
const hex = (hashes: readonly Buffer[]) => hashes.map((each) => each.toString('hex'));

function treeOf(leaves: readonly Buffer[]) {
  const tree = growTree();
  for (const leaf of leaves) tree.add(leaf);
  return tree;
}
/** The leaves of which the first `size` are known only by the roots of their subtrees. */
const partOf = (leaves: readonly Buffer[], size = 0): Part => ({
  range: treeOf(leaves.slice(0, size)).range(),
  leaves: leaves.slice(size),
});
const vectors = inputs.map((input) => leafHash(bytes(input)));

test('roots of the reference vectors', (t) => {
  for (const [size, root] of roots.entries())
    t.is(
      treeOf(inputs.slice(0, size).map((input) => leafHash(bytes(input))))
        .root()
        .toString('hex'),
      root,
    );
});

test('inclusion proofs of the reference vectors', (t) => {
  for (const [index, size, proof] of [
    [0, 1, []],
    [
      0,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      5,
      8,
      [
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
    [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
    [
      1,
      5,
      [
        '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
  ] as const) {
    for (const known of [0, index])
      t.deepEqual(hex(proveInclusion(partOf(vectors.slice(0, size), known), index)), [...proof]);
    const leaf = leafHash(bytes(inputs[index] ?? ''));
    t.is(rootOfInclusion(leaf, { index, size, proof: proof.map(bytes) })?.toString('hex'), roots[size]);
  }
});

test('consistency proofs of the reference vectors', (t) => {
  for (const [first, second, proof] of [
    [1, 1, []],
    [
      1,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      6,
      8,
      [
        '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
    [
      2,
      5,
      [
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
  ] as const) {
    t.deepEqual(hex(proveConsistency(partOf(vectors.slice(0, second), first))), [...proof]);
    const head = (size: number) => ({ size, root: bytes(roots[size] ?? '') });
    t.true(isConsistent(head(first), head(second), proof.map(bytes)));
    t.is(isConsistent(head(first + 1), head(second), proof.map(bytes)), false);
  }
});

test('the proofs of RFC 9162, section 2.1.5: which nodes they hold', (t) => {
  const leaves = Array.from({ length: 7 }, (_, at) => leafHash(Buffer.from(`d${at}`)));
  const [a, b, c, d, e, f, j] = leaves as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
  const [g, h, i] = [nodeHash(a, b), nodeHash(c, d), nodeHash(e, f)];
  const [k, l] = [nodeHash(g, h), nodeHash(i, j)];
  t.deepEqual(proveInclusion(partOf(leaves), 0), [b, h, l]);
  t.deepEqual(proveInclusion(partOf(leaves, 2), 3), [c, g, l]);
  t.deepEqual(proveInclusion(partOf(leaves, 3), 4), [f, j, k]);
  t.deepEqual(proveInclusion(partOf(leaves, 6), 6), [i, k]);
  t.deepEqual(proveConsistency(partOf(leaves, 3)), [c, d, g, l]);
  t.deepEqual(proveConsistency(partOf(leaves, 4)), [l]);
  t.deepEqual(proveConsistency(partOf(leaves, 6)), [i, j, k]);
});

test('every proof leads to the root, and no changed one does', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), fc.nat(), fc.nat(), (size, one, other, at) => {
      const leaves = Array.from({ length: size }, (_, index) => leafHash(Buffer.from(`${index}`)));
      const root = treeOf(leaves).root();
      const index = one % size;
      const proof = proveInclusion(partOf(leaves, other % (index + 1)), index);
      const leaf = leaves[index] as Buffer;
      const lead = (path: readonly Buffer[]) => rootOfInclusion(leaf, { index, size, proof: path });
      t.deepEqual(lead(proof), root);
      const wrong = (hashes: readonly Buffer[]) => hashes.with(at % hashes.length, Buffer.alloc(32));
      if (proof.length > 0) {
        t.notDeepEqual(lead(wrong(proof)), root);
        t.notDeepEqual(lead(proof.slice(1)), root);
      }
      t.notDeepEqual(lead([...proof, root]), root);
      const first = other % (size + 1);
      const before = { size: first, root: treeOf(leaves.slice(0, first)).root() };
      const steps = proveConsistency(partOf(leaves, first));
      t.true(isConsistent(before, { size, root }, steps));
      t.false(isConsistent(before, { size, root }, [...steps, root]));
      if (first === 0 || first === size) return;
      t.false(isConsistent(before, { size, root }, wrong(steps)));
      t.false(isConsistent({ size: first, root: Buffer.alloc(32) }, { size, root }, steps));
      t.false(isConsistent(before, { size, root: Buffer.alloc(32) }, steps));
    }),
    { numRuns: 100 },
  );
});

test('what no proof can show: another tree of the same size, a tree that shrank, a leaf beyond the end', (t) => {
  const head = (size: number) => ({ size, root: bytes(roots[size] ?? '') });
  t.false(isConsistent(head(3), { size: 3, root: bytes(roots[4] ?? '') }, []), 'two trees of the same size');
  t.false(isConsistent(head(3), head(5), []), 'a proof is missing');
  for (let first = 1; first <= 8; first += 1)
    for (let second = 0; second < first; second += 1)
      for (const proof of [[], proveConsistency(partOf(vectors.slice(0, first), second))])
        t.false(isConsistent(head(first), head(second), proof), `${first} to ${second}`);
  const [leaf = Buffer.alloc(32), other = leaf] = vectors;
  t.is(rootOfInclusion(leaf, { index: 1, size: 1, proof: [] }), null);
  t.is(rootOfInclusion(leaf, { index: 0, size: 1, proof: [other] }), null);
});

test('a log that signs whatever it likes as a root makes no proof of another length count', (t) => {
  const [a, b, c, d] = vectors as [Buffer, Buffer, Buffer, Buffer];
  const [left, right] = [nodeHash(a, b), nodeHash(a, nodeHash(b, c))];
  t.is(rootOfInclusion(left, { index: 0, size: 2, proof: [] }), null, 'too short');
  t.false(isConsistent({ size: 3, root: a }, { size: 2, root: left }, [a, b]), 'to a smaller tree');
  const [before, after] = [nodeHash(d, left), nodeHash(d, right)];
  t.true(isConsistent({ size: 3, root: left }, { size: 4, root: right }, [b, c, a]));
  t.false(isConsistent({ size: 3, root: before }, { size: 4, root: after }, [b, c, a, d]), 'too long');
});

test('subtrees are those of a tree only if they are as many as its size has, and lead to its root', (t) => {
  for (const [size, root] of roots.entries()) {
    const range = treeOf(vectors.slice(0, size)).range();
    t.true(isRangeOf(range, bytes(root)));
    t.false(isRangeOf(range, bytes(roots[(size + 1) % roots.length] ?? '')));
  }
  t.false(isRangeOf({ size: 3, roots: [bytes(roots[3] ?? '')] }, bytes(roots[3] ?? '')));
});
