import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { hashFiles } from '../../../src/client/files/contents.ts'
import { listFolder } from '../../../src/client/files/folder.ts'
import { hashList } from '../../../src/client/files/snapshot.ts'
import { makeDirectory } from '../../support/directory.ts'
import { root } from '../../support/sources.ts'

/** The folders of `clients/python/tests/folders.json`, whose lists the Python client also produces. */

interface Folder {
  name: string
  git?: boolean
  files: Record<string, string | { link: string } | { mode: string; content: string }>
  include?: string[]
  exclude?: string[]
  paths: string[]
  hash: string
}

const file = join(root, 'clients/python/tests/folders.json')
const folders = JSON.parse(readFileSync(file, 'utf8')) as Folder[]

async function make(folder: string, { files, git }: Folder): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    if (typeof content === 'object' && 'link' in content) await symlink(content.link, path)
    else {
      await writeFile(path, typeof content === 'string' ? content : content.content)
      await chmod(path, typeof content === 'string' ? 0o644 : Number.parseInt(content.mode, 8))
    }
  }
  if (git) execFileSync('git', ['init', '-q'], { cwd: folder })
}

it.each(folders)('the list of the files of a folder is the same in all clients: $name', async (wanted) => {
  const folder = makeDirectory()
  await make(folder, wanted)
  const entries = await listFolder(folder, wanted)
  const hashed = await hashFiles(folder, entries, { cache: null, onRead: () => undefined })
  const { hash } = hashList(null, hashed)
  expect({ paths: entries.map(({ path }) => path), hash }).toEqual({ paths: wanted.paths, hash: wanted.hash })
})
