/** Labels of containers. */
export const labels = {
  owner: 'berth.owner',
  run: 'berth.run',
  job: 'berth.job',
  name: 'berth.name',
  /** Seconds after which the container ends its run. */
  limit: 'berth.limit',
  /** Name of the container of the job's X11 display. */
  display: 'berth.display',
  /** On a container whose first program compares its mounts (mount-check.ts). */
  mountsChecked: 'berth.mounts-checked',
} as const
