/** Whether tests run with their whole load: as `npm run test:whole` does. `npm test` takes a part of the load. */
export const isWhole = process.env['BERTH_TEST_WHOLE'] === '1'
