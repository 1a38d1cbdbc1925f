import { StartFailed } from '../executor.ts'
import { isInside, normaliseTarget } from './data-mounts.ts'

/** The folder of a container with the files of its snapshot. It is directly in the root directory. */
export const snapshotFolder = '/berth-work'

/** Refuses mounts in the folder, because files of the snapshot could go into them. */
export function refuseMountsInside(data: readonly string[]): void {
  const entry = data.find((each) => isInside(normaliseTarget(each.split(':')[1] ?? ''), snapshotFolder))
  if (entry === undefined) return
  throw new StartFailed('BAD_SPEC', `data ${entry}: ${snapshotFolder} has the snapshot; choose a target beside it`)
}
