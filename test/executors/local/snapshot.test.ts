import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTarPacker } from 'modern-tar'
import { describe, expect, it } from 'vitest'
import { copySnapshot } from '../../../src/executors/local/snapshot-copy.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { makeRun, read, untilEnded } from '../runs.ts'
import { openLocalPerTest } from './runs.ts'

const local = openLocalPerTest()
const isRoot = process.getuid?.() === 0

async function* archiveOf(files: Readonly<Record<string, Buffer>>) {
  const { readable, controller } = createTarPacker()
  const filled = (async () => {
    for (const [name, content] of Object.entries(files)) {
      const file = controller.add({ name, size: content.length }).getWriter()
      await file.write(content)
      await file.close()
    }
    controller.finalize()
  })()
  yield* readable as unknown as AsyncIterable<Uint8Array>
  await filled
}

/** A snapshot with a program, a link to it, and a folder. */
async function* openSnapshot() {
  const { readable, controller } = createTarPacker()
  const add = async (header: Parameters<typeof controller.add>[0], text = '') => {
    const file = controller.add({ ...header, size: text.length }).getWriter()
    if (text !== '') await file.write(Buffer.from(text))
    await file.close()
  }
  const filled = (async () => {
    await add({ name: 'src/run', size: 0, mode: 0o755 }, '#!/bin/sh\nid -u; pwd; ls -A; touch new\n')
    await add({ name: 'run', size: 0, type: 'symlink', linkname: 'src/run' })
    controller.finalize()
  })()
  yield* readable as unknown as AsyncIterable<Uint8Array>
  await filled
}

const start = (unixUser: string | null, workdir: string | null = null) =>
  local.executor.start(makeRun({ command: ['./run'], workdir }, { unixUser, openSnapshot }))
const copies = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('berth-') && name.length === 42)

describe('the copy of a snapshot', () => {
  it.skipIf(!isRoot)('belongs to the account of the job, and is deleted with the run', async () => {
    const before = await copies()
    const handle = await start('nobody')
    const [uid, folder, ...files] = (await read(local.executor, handle)).out.trim().split('\n')
    expect([uid, files]).toEqual(['65534', ['run', 'src']])
    expect(folder).toMatch(/\/berth-[0-9a-f-]{36}\/files$/)
    expect(await untilEnded(local.executor, handle)).toMatchObject({ exitCode: 0 })
    await local.executor.forget?.(handle)
    expect(await copies()).toEqual(before)
  })

  it.skipIf(!isRoot)('is deleted under the account of the job, which cannot delete files of others', async () => {
    const handle = await start('nobody')
    const folder = (await read(local.executor, handle)).out.trim().split('\n')[1] ?? ''
    await untilEnded(local.executor, handle)
    await mkdir(join(folder, 'closed/inner'), { recursive: true })
    await Promise.all([chown(join(folder, 'closed/inner'), 65534, 65534), chown(join(folder, 'closed'), 65534, 65534)])
    await chmod(join(folder, 'closed'), 0)
    await mkdir(join(folder, 'of-root/inner'), { recursive: true })
    await expect(local.executor.forget?.(handle)).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    expect(await readdir(folder)).toEqual(['of-root'])
    await rm(join(folder, 'of-root'), { recursive: true })
    await local.executor.forget?.(handle)
    expect(existsSync(join(folder, '..'))).toBe(false)
  })

  it('is created again for each run', async () => {
    const folders = []
    for (const _ of ['first', 'second']) {
      const [, folder = '', ...files] = (await read(local.executor, await start(null))).out.trim().split('\n')
      expect(files).toEqual(['run', 'src'])
      folders.push(folder)
    }
    expect(new Set(folders).size).toBe(2)
  })

  it('is the folder to which the working directory is relative', async () => {
    const handle = await start(null, 'src')
    expect((await read(local.executor, handle)).out).toMatch(/\/src\nrun\n$/)
    await expect(start(null, 'other')).rejects.toThrow('workdir: the account of the job cannot enter')
  })

  it('is deleted if the snapshot cannot be unpacked, and the start fails with the reason', async () => {
    const run = makeRun(
      { command: ['true'] },
      {
        openSnapshot: async function* () {
          yield Buffer.alloc(1_024, 'x')
        },
      },
    )
    await expect(local.executor.start(run)).rejects.toThrow(
      'The snapshot could not be unpacked: tar: This does not look',
    )
    expect(await local.executor.find(run.runId)).toBeNull()
    const broken = makeRun(
      { command: ['true'] },
      {
        openSnapshot: () => {
          throw new Error('the database is away')
        },
      },
    )
    await expect(local.executor.start(broken)).rejects.toThrow('the database is away')
  })

  it('reports a full disk as a fault of the machine, but not if only a path contains that message', async () => {
    const copy = (directory: string, files: Readonly<Record<string, Buffer>>) =>
      copySnapshot(() => archiveOf(files), {
        directory,
        account: null,
        environment: process.env,
        signal: undefined,
      })
    const name = 'a: Cannot write: No space left on device'
    const twice = copy(local.spoolDir, { [name]: Buffer.from('file'), [`${name}/below`]: Buffer.from('not a folder') })
    await expect(twice).rejects.toMatchObject({
      reason: 'START_FAILED',
      message: expect.stringContaining('No space left on device'),
    })
    await using disk = await mountSmallDisk(1)
    if (!disk) return
    const large = copy(disk.path, { large: Buffer.alloc(2 * 1024 * 1024, 'x') })
    await expect(large).rejects.toMatchObject({ reason: 'NODE_TROUBLE' })
  })

  it('is not created if the machine has no tar', async () => {
    const options = { directory: local.spoolDir, account: null, environment: { PATH: '/nowhere' }, signal: undefined }
    await expect(copySnapshot(() => archiveOf({}), options)).rejects.toThrow('the machine has no tar')
  })
})
