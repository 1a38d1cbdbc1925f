export const labels = {
  owner: 'berth.owner',
  run: 'berth.run',
  job: 'berth.job',
  name: 'berth.name',
  limit: 'berth.limit',
  display: 'berth.display',
  imageDigest: 'berth.image-digest',
  /** The working directory of the run. */
  workdir: 'berth.workdir',
  /** The file for a refusal of the mount check. */
  refusal: 'berth.refusal',
} as const
