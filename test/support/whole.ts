/** Whether tests run with their whole load: as `npm run test:e2e` does. Continuous integration takes a part of it. */
export const isWhole = process.env['BERTH_TEST_WHOLE'] === '1'
