import type { JobArtifactFragment } from '../../../generated/graphql.ts'

/** A folder of files, or an artifact. */
export interface FolderRow {
  /** The id of the artifact, or the path of the folder with / at its end. */
  key: string
  name: string
  /** The artifact; null: the row is a folder. */
  artifact: JobArtifactFragment | null
  newest: JobArtifactFragment
  files: number
  bytes: number
}

/** Returns the folder of a path, with / at its end; '': the top folder. */
export const findFolder = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

/** Lists a folder: subfolders, then artifacts, by name. Artifacts with the same name share a row, the newest first. */
export function listFolder(artifacts: readonly JobArtifactFragment[], folder: string): FolderRow[] {
  const rows: FolderRow[] = []
  const folders = new Map<string, FolderRow>()
  for (const artifact of artifacts) {
    const { id, name: path, kind } = artifact
    const bytes = artifact.sizeBytes ?? 0
    // Names of links and texts are not paths, so these artifacts are in the top folder.
    const place = kind === 'FILE' ? findFolder(path) : ''
    if (!place.startsWith(folder)) continue
    const [below = ''] = place.slice(folder.length).split('/')
    if (below === '') {
      const name = kind === 'FILE' ? path.slice(folder.length) : path
      rows.push({ key: id, name, artifact, newest: artifact, files: 1, bytes })
      continue
    }
    const key = `${folder}${below}/`
    const row = folders.get(key) ?? { key, name: below, artifact: null, newest: artifact, files: 0, bytes: 0 }
    folders.set(key, { ...row, files: row.files + 1, bytes: row.bytes + bytes })
  }
  const byName = (a: FolderRow, b: FolderRow) => a.name.localeCompare(b.name)
  return [...[...folders.values()].toSorted(byName), ...rows.toSorted(byName)]
}
