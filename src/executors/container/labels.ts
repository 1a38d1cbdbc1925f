export const labels = {
  owner: 'berth.owner',
  run: 'berth.run',
  job: 'berth.job',
  name: 'berth.name',
  limit: 'berth.limit',
  display: 'berth.display',
  imageDigest: 'berth.image-digest',
  /** The working directory of a run with outputs. */
  workdir: 'berth.workdir',
  /** The file for a refusal of the mount check. */
  refusal: 'berth.refusal',
} as const
