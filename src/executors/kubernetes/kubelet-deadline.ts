import type { Pod } from './objects.ts'

/**
 * The deadline of the kubelet, which reports that a pod is out of time and ends the container. Some versions (seen with 1.20)
 * never report that end, so the container counts as ended after its grace period.
 */

export const isOutOfTime = ({ status }: Pod) => status.reason === 'DeadlineExceeded'

/** Longer than the kubelet exceeds the grace period and the API server delays the report. */
const slackMs = 10_000

export function hasKubeletEndedPod(pod: Pod, { toTime, nowMs }: { toTime(iso: string): Date; nowMs: number }): boolean {
  // The kubelet's name as a writer differs between distributions. Later writes only extend the wait.
  const writtenMs = (pod.metadata.managedFields ?? []).flatMap(({ time }) => (time ? [toTime(time).getTime()] : []))
  if (writtenMs.length === 0) return false
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 0) * 1_000
  return nowMs > Math.max(...writtenMs) + graceMs + slackMs
}
