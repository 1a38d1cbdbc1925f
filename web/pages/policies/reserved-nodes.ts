import type { ListReservationsQuery } from '../../generated/graphql.ts'
import { formatBytes, formatCount, plural } from '../../parts/format.ts'

export type Reservation = ListReservationsQuery['capacityReservations']['nodes'][number]

interface HeldNode {
  capacity: { cpu: number; gpu: number; memoryBytes: number }
}

/** "2 nodes: 8 GPUs, 128 cores, 1 TiB". */
export function describeHeld(nodes: readonly HeldNode[]): string {
  const sum = (choose: (capacity: HeldNode['capacity']) => number) =>
    nodes.reduce((all, { capacity }) => all + choose(capacity), 0)
  const gpus = sum(({ gpu }) => gpu)
  const amounts = [
    gpus > 0 && plural(gpus, 'GPU'),
    `${formatCount(sum(({ cpu }) => cpu))} cores`,
    formatBytes(sum(({ memoryBytes }) => memoryBytes)),
  ]
  return `${plural(nodes.length, 'node')}: ${amounts.filter(Boolean).join(', ')}`
}

/** Formats a time for a `datetime-local` field, in the local time zone. */
export function formatLocalDateTime(ms: number): string {
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - offsetMs).toISOString().slice(0, 16)
}
