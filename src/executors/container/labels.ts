export const labels = {
  owner: 'berth.owner',
  run: 'berth.run',
  job: 'berth.job',
  name: 'berth.name',
  limit: 'berth.limit',
  display: 'berth.display',
  /** The file for a refusal of the mount check. */
  refusal: 'berth.refusal',
} as const
