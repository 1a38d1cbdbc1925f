import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { packFiles } from '../../src/client/files/contents.ts'
import { submit as submitHere } from '../../src/client/files/index.ts'
import { createClient } from '../../src/client/jobs/client.ts'
import { openServer } from '../support/api.ts'
import { CommandLine } from '../support/command-line.ts'
import { makeDirectory } from '../support/directory.ts'
import { sha256 } from '../support/snapshots.ts'
import { until } from '../support/until.ts'

/** Snapshots of folders, from the command line to the process that runs in their copy. */

const { server, dataDir, api } = await openServer('files: { snapshotBytesMax: 100000, snapshotFilesMax: 20 }')

let folder: string
let line: CommandLine

beforeEach(async () => {
  folder = makeDirectory()
  line = new CommandLine(folder, {
    BERTH_URL: server.url,
    XDG_STATE_HOME: join(dataDir, 'state'),
    XDG_CACHE_HOME: join(dataDir, 'cache'),
  })
})

const write = async (files: Record<string, string>) => {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
const submit = (...args: string[]) => line.berth('submit', '--mem', '0.1', '--here', ...args)

async function outputOf(id: string): Promise<string> {
  await line.berth('wait', id)
  return (await line.berth('logs', id)).stdout
}

const list = ['--', 'sh', '-c', 'find . ! -type d | sort']

describe('berth submit --here', () => {
  it('runs the job in a copy of the tracked files and of those that git does not ignore', async () => {
    git('init', '-q', '-b', 'main')
    await write({ 'train.py': 'one', 'src/a.txt': 'a', '.gitignore': '*.log\n', 'big.bin': 'x', deleted: 'x' })
    git('add', '.')
    git('commit', '-qm', 'first')
    git('remote', 'add', 'origin', 'https://ann:secret@example.org/ann/train.git')
    await rm(join(folder, 'deleted'))
    await write({
      'train.py': 'two',
      'new.txt': 'n',
      'x.log': 'l',
      'y.log': 'l',
      '.berthignore': 'big.*\n',
      'tmp/t': 't',
    })
    await chmod(join(folder, 'src/a.txt'), 0o755)
    await symlink('src/a.txt', join(folder, 'link'))
    const { stdout, stderr } = await submit('--exclude', 'tmp', '--include', 'y.log', ...list)
    const id = stdout.trim()
    expect(await outputOf(id)).toBe(
      ['.berthignore', '.gitignore', 'link', 'new.txt', 'src/a.txt', 'train.py', 'y.log']
        .map((name) => `./${name}\n`)
        .join(''),
    )
    const commit = git('rev-parse', 'HEAD').trim()
    expect(stderr).toMatch(
      new RegExp(
        `^snapshot [0-9a-f]{6}…: 7 files, 18 B \\(6 new, 18 B sent\\), commit ${commit.slice(0, 7)} \\+ \\d changed files`,
      ),
    )
    const { job } = await api.ask<{ job: { snapshot: object } }>(
      'query ($id: ID!) { job(id: $id) { snapshot { files bytes commit branch remote changedFiles diff } } }',
      { id },
    )
    expect(job.snapshot).toMatchObject({
      files: 7,
      bytes: 18,
      commit,
      branch: 'main',
      changedFiles: expect.any(Number),
    })
    expect(job.snapshot).toMatchObject({
      remote: 'https://example.org/ann/train.git',
      diff: expect.stringContaining('-one\n\\ No newline at end of file\n+two'),
    })
  })

  it('takes all files of a folder that is not in git, with their modes', async () => {
    await write({
      'run.sh': '#!/bin/sh\necho "ran in $(basename "$(pwd)")"',
      'deep/er/a': 'a',
      'logs/x': 'x',
      '.berthignore': 'logs/\n',
    })
    await chmod(join(folder, 'run.sh'), 0o755)
    const all = (await submit(...list)).stdout.trim()
    expect(await outputOf(all)).toBe('./.berthignore\n./deep/er/a\n./run.sh\n')
    const below = (await submit('--workdir', 'deep', '--', '../run.sh')).stdout.trim()
    expect(await outputOf(below)).toBe('ran in deep\n')
  })

  it('sends only files that the server does not have', async () => {
    await write({ a: 'first a', b: 'first b' })
    expect((await submit('--', 'true')).stderr).toMatch(/^snapshot \w+…: 2 files, 14 B \(2 new, 14 B sent\)\n/)
    expect((await submit('--', 'true')).stderr).toMatch(/^snapshot \w+…: 2 files, 14 B \(0 new, 0 B sent\)\n/)
    await write({ b: 'second b' })
    expect((await submit('--', 'true')).stderr).toMatch(/^snapshot \w+…: 2 files, 15 B \(1 new, 8 B sent\)\n/)
  })

  it('runs the files as they were at the submission, also in a retry, and without changes by earlier runs', async () => {
    await write({ a: 'as it was', go: 'x' })
    const gate = makeDirectory()
    const command = `until [ -e ${gate}/go ]; do sleep 0.02; done; cat a; echo changed > a; mkdir -p ro; chmod 555 ro`
    const id = (await submit('--', 'sh', '-c', command)).stdout.trim()
    await write({ a: 'edited later' })
    await writeFile(join(gate, 'go'), '')
    expect(await outputOf(id)).toBe('as it was')
    const retried = (await line.berth('retry', '--mem', '0.1', id)).stdout.trim()
    expect(await outputOf(retried)).toBe('as it was')
    await rm(gate, { recursive: true })
    await until(async () => (await readdir(join(dataDir, 'runs/runs')).catch(() => [])).length === 0, {
      what: 'the copies are removed',
    })
  })

  it('rejects files that cannot be part of a snapshot, and names them', async () => {
    await write({ a: 'a' })
    await symlink('/etc/passwd', join(folder, 'absolute'))
    await symlink('../x', join(folder, 'upwards'))
    const socket = createServer()
    await new Promise<void>((resolve) => socket.listen(join(folder, 'socket'), resolve))
    const { code, stdout, stderr } = await submit('--', 'true')
    socket.close()
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain('  absolute: it is a link that leads outside of the folder, to /etc/passwd\n')
    expect(stderr).toContain('  upwards: it is a link that leads outside of the folder, to ../x\n')
    expect(stderr).toContain('  socket: it is a socket\n')
    expect(stderr).toContain(
      'berth: 3 files cannot be part of a snapshot; name them in .berthignore, or pass --exclude',
    )
    expect((await submit('--exclude', 'absolute', '--exclude', 'upwards', '--', 'true')).code).toBe(0)
  })

  it('lists the largest files if the folder exceeds the limit', async () => {
    await write({ small: 'a', 'data/l[1].bin': 'x'.repeat(90_000), 'data/m.bin': 'y'.repeat(50_000) })
    const { code, stderr } = await submit('--', 'true')
    expect(code).toBe(3)
    expect(stderr).toContain(
      '        0.1 MB  /data/l\\[1\\].bin\n        0.1 MB  /data/m.bin\n        0.0 MB  /small\n',
    )
    expect(stderr).toContain('berth: the files have 0.1 MB, and a snapshot has at most 0.1 MB')
    await write({ '.berthignore': '/data/l\\[1\\].bin\n' })
    expect((await submit('--', 'true')).code).toBe(0)
    await write(Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`many/${n}`, 'x'])))
    expect((await submit('--', 'true')).stderr).toContain('has 24 files, and a snapshot has at most 20')
  })

  it('rejects the options of snapshots without --here', async () => {
    expect((await line.berth('submit', '--include', 'x', '--', 'true')).stderr).toContain(
      '--include and --exclude need --here',
    )
  })
})

describe('the client', () => {
  it('submits a folder as a snapshot', async () => {
    await write({ a: 'by the client' })
    const client = createClient({ url: server.url })
    const answer = await submitHere(client, { here: folder, spec: { command: ['cat', 'a'] } })
    await client.close()
    expect(answer).toMatchObject({ __typename: 'SubmitJobSuccess' })
    if (answer.__typename === 'SubmitJobSuccess') expect(await outputOf(answer.job.id)).toBe('by the client')
  })

  it.each([
    ['shorter', 'abc'],
    ['longer', 'abcdefg'],
    ['different', 'ABCDEF'],
  ])('refuses a file that became %s while it was read', async (_, later) => {
    await write({ 'train.py': 'abcdef' })
    const file = { path: 'train.py', mode: 0o644, size: 6, sha256: sha256('abcdef') }
    await write({ 'train.py': later })
    const read = async () => {
      for await (const _piece of packFiles(folder, [file], () => undefined));
    }
    await expect(read()).rejects.toThrow('changed while it was read: train.py')
  })
})
