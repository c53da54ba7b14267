/** How often a property is tried: `npm test` makes a tenth of the runs that each names, PROPERTY_RUNS=1 all of them. */
export const runs = (full: number): number => Math.ceil(full * Number(process.env.PROPERTY_RUNS ?? '0.1'));
