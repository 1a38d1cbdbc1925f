/** Whether tests run with their whole load: as `npm run test:whole` does. `npm test` takes a part of the load. */
export const isWhole = process.env['BERTH_TEST_WHOLE'] === '1'

/** How often a property is tried with random values: all times with the whole load, and a quarter of them otherwise. */
export const tries = (all: number): number => (isWhole ? all : Math.ceil(all / 4))
