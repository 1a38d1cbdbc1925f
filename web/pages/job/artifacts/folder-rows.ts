import type { ArtifactRowFragment } from '../../../generated/graphql.ts'

/** A folder of files, or an artifact. */
export interface FolderRow {
  /** The id of the artifact, or the path of the folder with / at its end. */
  key: string
  name: string
  /** null: a folder. */
  artifact: ArtifactRowFragment | null
  newest: ArtifactRowFragment
  files: number
  bytes: number
}

/** The folder of a path, with / at its end; '': the topmost. */
export const findFolder = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

/** Folders by name, then artifacts by name; a name that was published again has all of its artifacts, the newest first. */
export function listFolder(artifacts: readonly ArtifactRowFragment[], folder: string): FolderRow[] {
  const rows: FolderRow[] = []
  const folders = new Map<string, FolderRow>()
  for (const artifact of artifacts) {
    const { id, name: path, kind } = artifact
    const bytes = artifact.sizeBytes ?? 0
    // Names of links and texts are no paths.
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
