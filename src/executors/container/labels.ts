/** Labels by which the containers of runs are found and read. */
export const labels = {
  owner: 'berth.owner',
  run: 'berth.run',
  job: 'berth.job',
  name: 'berth.name',
  /** Seconds after which the container ends its run by itself. */
  limit: 'berth.limit',
  /** On the container of a job: the name of the container of its X11 display. */
  display: 'berth.display',
  /** On a container whose first program compares its mounts (mount-check.ts). */
  mountsChecked: 'berth.mounts-checked',
} as const
