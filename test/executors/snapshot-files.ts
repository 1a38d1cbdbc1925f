import { packTar } from 'modern-tar'
import type { RunSpec } from '../../src/executors/executor.ts'

export interface SnapshotFile {
  mode?: number
  text?: string
  link?: string
}

export const makeOpener = (files: Readonly<Record<string, SnapshotFile>>): NonNullable<RunSpec['openSnapshot']> =>
  async function* ({ folder = '', ...owner } = { folder: '', uid: 0, gid: 0 }) {
    const inside = Object.entries(files).map(([path, file]) => ({ name: folder ? `${folder}/${path}` : path, ...file }))
    const folders = new Set(inside.flatMap(({ name }) => foldersOf(name)))
    yield await packTar([
      ...Array.from(folders, (name) => ({
        header: { ...owner, name: `${name}/`, size: 0, type: 'directory' as const },
      })),
      ...inside.map(({ name, mode = 0o644, text = '', link }) => ({
        header: link
          ? { ...owner, name, size: 0, type: 'symlink' as const, linkname: link }
          : { ...owner, name, mode, size: text.length },
        body: text,
      })),
    ])
  }

/** `a/b/c`: a and a/b */
const foldersOf = (path: string) =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, at, names) => names.slice(0, at + 1).join('/'))
