import { readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openServer } from '../support/api.ts'
import { CommandLine } from '../support/command-line.ts'
import { makeDirectory } from '../support/directory.ts'
import { startProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'

/** Output files, from the process that writes them to the folder of a user. */

const { server, dataDir, api } = await openServer('files: { outputsBytesMax: 5000000 }')

let folder: string
let line: CommandLine

beforeEach(async () => {
  folder = makeDirectory()
  line = new CommandLine(folder, { BERTH_URL: server.url, XDG_STATE_HOME: join(dataDir, 'state') })
})

interface Artifact {
  id: string
  name: string
  kind: string
  mediaType: string
  sizeBytes: number
}

const collectedQuery = `query ($id: ID!) { job(id: $id) { state
  artifacts(first: 100) { nodes { id name kind mediaType sizeBytes } }
  events(first: 100) { nodes { message } } } }`

/** Runs a script, and waits until its files are stored. */
async function run(script: string, ...args: string[]) {
  const submitted = await line.berth('submit', '--mem', '0.1', '--workdir', folder, ...args, '--', 'sh', '-c', script)
  const id = submitted.stdout.trim()
  const job = await until(
    async () => {
      const found = await api.ask<{ job: Job }>(collectedQuery, { id })
      return found.job.events.nodes.some(isCollection) ? found.job : null
    },
    { what: 'the outputs are stored' },
  )
  const told = job.events.nodes.find(isCollection)?.message
  return { id, state: job.state, files: job.artifacts.nodes, told }
}

/** Reads the event of the files that were stored when the run ended. */
const isCollection = ({ message }: { message: string | null }) => /^(Stored|No) /.test(message ?? '')

interface Job {
  state: string
  artifacts: { nodes: Artifact[] }
  events: { nodes: { message: string | null }[] }
}

describe('spec.outputs', () => {
  it('keeps the matching files of a failed run, and only those', async () => {
    const script = 'mkdir -p runs/a; echo 1,2 >m.csv; echo x >runs/a/w.txt; echo y >other; exit 3'
    const { state, files, told } = await run(script, '--out', 'runs/**', '--out', '*.csv')
    expect(state).toBe('FAILED')
    expect(files.map(({ name, kind, mediaType, sizeBytes }) => [name, kind, mediaType, sizeBytes])).toEqual([
      ['m.csv', 'FILE', 'text/csv', 4],
      ['runs/a/w.txt', 'FILE', 'text/plain', 2],
    ])
    expect(told).toBe('Stored 2 output files')
  })

  it('reports links, hostile names and files that do not fit, and keeps the other files', async () => {
    const script = `ln -s /etc/passwd link; ln -s /etc folder; touch "$(printf 'a\\nb')"; mkfifo pipe
      truncate -s 10G sparse; echo good >good; truncate -s 5000001 big`
    const { files, told } = await run(script, '--out', '*')
    expect(files.map(({ name }) => name)).toEqual(['good'])
    for (const named of [
      '"link" is a link',
      '"folder" is a link',
      '"a\\nb" has a control character',
      '"pipe" is not a regular',
    ])
      expect(told).toContain(named)
    expect(told).toContain(
      '"sparse" has 10737418240 bytes and does not fit into files.outputsBytesMax, which is 5000000',
    )
    expect(told).toContain('"big" has 5000001 bytes')
  })

  it('reports that no file matched', async () => {
    const { files, told, state } = await run('true', '--out', 'none/**')
    expect([state, files, told]).toEqual(['SUCCEEDED', [], 'No output files'])
  })
})

describe('berth artifact', () => {
  it('stores a file under the name of an output file, which remains one artifact', async () => {
    const { files, told } = await run('echo 1 >m; berth artifact put m --name m; echo 2 >n', '--out', '*')
    expect(files.map(({ name }) => name)).toEqual(['m', 'n'])
    expect(told).toBe('Stored 2 output files')
  })

  it('stores a file from inside a job, and lists, prints and copies the files of a job', async () => {
    const script =
      'mkdir d; printf "a,b\\n" >d/m.csv; head -c 40000 /dev/urandom >d/big; cp d/big d/same; berth artifact put d/m.csv --name put.csv'
    const { id, files } = await run(script, '--out', 'd/')
    expect(files.map(({ name, sizeBytes }) => [name, sizeBytes])).toEqual([
      ['put.csv', 4],
      ['d/big', 40_000],
      ['d/m.csv', 4],
      ['d/same', 40_000],
    ])
    expect((await line.berth('artifact', 'ls', '@last')).stdout).toMatch(/put.csv +text\/csv +4/)
    expect((await line.berth('artifact', 'cat', '@last', 'd/m.csv')).stdout).toBe('a,b\n')
    const into = join(folder, 'got')
    expect(await line.berth('artifact', 'get', id, '-o', into)).toMatchObject({ code: 0, stderr: '4 files, 80 kB\n' })
    for (const name of ['d/big', 'd/same', 'd/m.csv'])
      expect(await readFile(join(into, name))).toEqual(await readFile(join(folder, name)))
    expect(await readFile(join(into, 'put.csv'), 'utf8')).toBe('a,b\n')
    const again = await line.berth('artifact', 'get', id, 'd/big', '-o', into)
    expect(again.stderr).toContain('"d/big" exists there; --force overwrites')
    expect(await line.berth('artifact', 'get', id, '--force', '-o', into)).toMatchObject({ code: 0 })
    await rm(join(into, 'd'), { recursive: true })
    await symlink(folder, join(into, 'd'))
    const refused = await line.berth('artifact', 'get', id, 'd/big', '-o', into)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('"d/big" is below a link')
    expect((await line.berth('artifact', 'cat', id, 'none')).stderr).toContain('none is not a file of')
    const hooks = await run('echo x >hook; berth artifact put hook --name a/.Git/hooks/pre-commit', '--out', 'none')
    const hook = await line.berth('artifact', 'get', hooks.id, '-o', join(folder, 'hooks'))
    expect(hook.stderr).toContain('is in a folder of git')
  })

  it('waits until a job has ended and its output files are stored', async () => {
    const script = 'berth artifact put /etc/hostname --name early; sleep 1; echo late >late'
    const more = ['--mem', '0.1', '--workdir', folder, '--out', 'late']
    await line.berth('submit', ...more, '--', 'sh', '-c', script)
    expect(await line.berth('artifact', 'cat', '@last', 'late')).toMatchObject({ code: 0, stdout: 'late\n' })
    await line.berth('submit', ...more, '--', 'sh', '-c', script)
    const got = await line.berth('artifact', 'get', '@last', '-o', join(folder, 'got'))
    expect(got.stderr).toMatch(/^waiting for the output files of job_\w+, which are stored when it ends\n2 files, /)
    expect(await readFile(join(folder, 'got/late'), 'utf8')).toBe('late\n')
    await line.berth('submit', ...more, '--workdir', join(folder, 'none'), '--', 'true')
    expect((await line.berth('artifact', 'get', '@last')).stderr).toContain('has no files')
  })

  it('resumes a download at the position where it was cut off', async () => {
    const script = 'mkdir d; for i in 1 2 3; do head -c 1500000 /dev/urandom >d/$i; done; echo x >d/small'
    const { id } = await run(script, '--out', 'd/')
    const proxy = await startProxy(server.url)
    onTestFinished(proxy.close)
    proxy.bytesMax = 1_000_000
    const cut = new CommandLine(folder, { BERTH_URL: proxy.url, XDG_STATE_HOME: join(dataDir, 'state') })
    const into = join(folder, 'got')
    expect(await cut.berth('artifact', 'get', id, '-o', into)).toMatchObject({ code: 0, stderr: '4 files, 4.5 MB\n' })
    expect(await cut.berth('artifact', 'get', id, 'd/1', '-o', join(folder, 'one'))).toMatchObject({ code: 0 })
    const names = ['d/1', 'd/2', 'd/3', 'd/small']
    for (const [got, name] of [
      ...names.map((name) => [join(into, name), name]),
      [join(folder, 'one/d/1'), 'd/1'],
    ] as const)
      expect((await readFile(got)).equals(await readFile(join(folder, name)))).toBe(true)
  })
})
