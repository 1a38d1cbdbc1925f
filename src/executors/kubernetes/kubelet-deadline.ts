import type { Pod } from './objects.ts'

/**
 * The deadline of the kubelet. It says that a pod is out of time, and ends the container then. Some versions (seen with
 * 1.20) never say that it ended: after its grace it has.
 */

export const isOutOfTime = ({ status }: Pod) => status.reason === 'DeadlineExceeded'

/** More than the kubelet takes beyond the grace, and than the API server takes to tell. */
const slackMs = 10_000

/** Whether the kubelet has ended the container of a pod of which it said that it is out of time. */
export function isEndedByNow(pod: Pod, { toTime, nowMs }: { toTime(iso: string): Date; nowMs: number }): boolean {
  // Its name as a writer differs between distributions. Who writes later makes the wait longer, and no more than that.
  const toldMs = (pod.metadata.managedFields ?? []).flatMap(({ time }) => (time ? [toTime(time).getTime()] : []))
  if (toldMs.length === 0) return false
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 0) * 1_000
  return nowMs > Math.max(...toldMs) + graceMs + slackMs
}
