import type { Destination } from '../../src/domain/submission/destinations.ts'

/** The default submission queue, over a pool with only this executor and no nodes. */
export const makeDestination = (executor: string, more: Partial<Destination> = {}): Destination => ({
  queue: 'default',
  isDefault: true,
  pool: 'pool',
  policy: 'PRIORITY',
  executors: [executor],
  relaxReplicas: false,
  reports: {},
  rates: null,
  weights: {},
  unixUserRequired: false,
  reservedUnixUsers: [],
  refuses: false,
  part: 1,
  nodes: [],
  deviceIds: [],
  ...more,
})
