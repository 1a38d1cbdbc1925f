import { defineGauge } from '../platform/metrics.ts'

const buildInfo = defineGauge({
  name: 'berth_build_info',
  help: 'Always 1, with the version of Berth.',
  labelNames: ['version'],
})

export const showVersion = (version: string): void => buildInfo.set({ version }, 1)
