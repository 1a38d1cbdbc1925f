import { randomBytes } from 'node:crypto'

/** The part of a snapshot that is uploaded: the list, or the blobs that its user has not sent before. */
export type UploadPart = 'list' | 'blobs'

export interface UploadTarget {
  snapshotId: string
  part: UploadPart
  /** Random: each ticket has another one, and can be used once. */
  once: string
}

export const uploadPath = '/upload/'

export const newUploadTarget = (snapshotId: string, part: UploadPart): UploadTarget => ({
  snapshotId,
  part,
  once: randomBytes(16).toString('hex'),
})

/** The path without a ticket, for which a ticket is made. */
export const formatUploadTarget = ({ snapshotId, part, once }: UploadTarget): string =>
  `${uploadPath}snapshots/${snapshotId}/${part}/${once}`

/** null: the path is not that of an upload. */
export function parseUploadTarget(path: string): UploadTarget | null {
  const [, snapshotId, part, once] =
    /^\/upload\/snapshots\/(snapshot_[0-9a-z]{26})\/(list|blobs)\/([0-9a-f]{32})$/.exec(path) ?? []
  if (snapshotId === undefined || once === undefined) return null
  return { snapshotId, part: part as UploadPart, once }
}
