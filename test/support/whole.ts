/** Whether tests run with the full load, as in `npm run test:whole`. */
export const isWhole = process.env['BERTH_TEST_WHOLE'] === '1'

/** Number of random values for a property: all with the full load, otherwise a quarter. */
export const tries = (all: number): number => (isWhole ? all : Math.ceil(all / 4))
