import { type Asks, project } from './actions.ts'

export const makeSpec = (asks: Asks, reservationId: string | null = asks.reservation) => ({
  command: ['x'],
  account: asks.account,
  bid: asks.bid,
  interactive: asks.interactive,
  preemptable: asks.preemptable,
  restartable: asks.restartable,
  maxRunTimeSeconds: asks.maxRunTimeSeconds,
  ...(reservationId !== null && { project, capacityReservationId: reservationId }),
  resources: {
    gpu: asks.gpu,
    cpu: asks.cpu,
    infiniband: asks.infiniband,
    ...(asks.gpuModel !== null && { gpuModel: [asks.gpuModel] }),
    ...(asks.copies > 1 && { nodeCount: asks.copies }),
  },
})
