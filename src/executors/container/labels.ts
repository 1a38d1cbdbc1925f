export const labels = {
  owner: 'berth.owner',
  run: 'berth.run',
  job: 'berth.job',
  name: 'berth.name',
  limit: 'berth.limit',
  display: 'berth.display',
  mountsChecked: 'berth.mounts-checked',
} as const
