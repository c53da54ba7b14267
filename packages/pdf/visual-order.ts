/** Unicode's bidirectional algorithm (UAX 9): the order in which the parts of a line appear from left to right. */
import bidiFactory, { type Bidi } from 'bidi-js';

type DirectedRun = { text: string; isRightToLeft: boolean };

// The types describe what a bundler imports; in Node the import is the factory itself.
const bidi = (bidiFactory as unknown as () => Bidi)();
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

export const hasRightToLeft = (text: string) => rightToLeft.test(text);

/**
 * Makes the function that orders a line of the paragraph, given where the line starts and ends. Directions are those
 * of the whole paragraph. The text of a run stays in reading order, with its brackets mirrored.
 */
export function visualOrderOf(paragraph: string): (start: number, end: number) => DirectedRun[] {
  if (!hasRightToLeft(paragraph)) {
    return (start, end) => [{ text: paragraph.slice(start, end), isRightToLeft: false }];
  }
  const embedding = bidi.getEmbeddingLevels(paragraph);
  const mirrored = bidi.getMirroredCharactersMap(paragraph, embedding.levels);
  const isRightToLeft = (index: number) => (embedding.levels[index] ?? 0) % 2 === 1;

  return (start, end) => {
    const runs: DirectedRun[] = [];
    let previous = Number.NaN;
    // The library orders the line within the whole paragraph.
    const order = bidi.getReorderedIndices(paragraph, embedding, start, end - 1).slice(start, end);
    for (const index of order) {
      const turned = isRightToLeft(index);
      const unit = (turned && mirrored.get(index)) || paragraph.charAt(index);
      const run = runs.at(-1);
      if (run?.isRightToLeft === turned && index === previous + (turned ? -1 : 1)) {
        run.text = turned ? unit + run.text : run.text + unit;
      } else {
        runs.push({ text: unit, isRightToLeft: turned });
      }
      previous = index;
    }
    return runs;
  };
}
