import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JobSpec } from '../../../src/domain/spec.ts'
import { makeDirectory } from '../../support/directory.ts'
import { makeRun, observe, read, untilEnded } from '../runs.ts'
import { openLocalPerTest } from './runs.ts'

/** A server that runs as root enters no directory that the account of a job cannot enter, and reveals nothing about it. */
const local = openLocalPerTest()
const isRoot = process.getuid?.() === 0

describe.skipIf(!isRoot)('a working directory that only another account may enter', () => {
  let folder: string
  let secret: string

  beforeEach(async () => {
    folder = makeDirectory()
    await chmod(folder, 0o755)
    secret = join(folder, 'secret')
    await mkdir(join(secret, 'in'), { recursive: true })
    await writeFile(join(secret, 'mpirun'), '#!/bin/sh\n', { mode: 0o755 })
    for (const path of [secret, join(secret, 'in')]) await chown(path, 4321, 4321)
    await chmod(join(secret, 'in'), 0o777)
    await chmod(secret, 0o700)
  })

  const start = (spec: Partial<JobSpec>, unixUser: string | null = 'nobody') =>
    local.executor.start(makeRun({ command: ['/bin/sh', '-c', 'echo x >written'], ...spec }, { unixUser }))
  const refusal = (spec: Partial<JobSpec>) =>
    start(spec).then(
      () => null,
      ({ reason, message }) => ({ reason, message }),
    )

  it('is rejected like a missing one', async () => {
    for (const name of ['secret', 'secret/in', 'secret/none', 'none'])
      expect(await refusal({ workdir: join(folder, name) })).toEqual({
        reason: 'WORKDIR_NOT_FOUND',
        message: `workdir: the account of the job cannot enter ${join(folder, name)}`,
      })
    expect(existsSync(join(secret, 'in/written'))).toBe(false)
  })

  it('is not used for stream files, and is not searched for mpirun', async () => {
    for (const name of ['in', 'none'])
      expect(await refusal({ workdir: '/', stdoutPath: join(secret, name) })).toEqual({
        reason: 'BAD_SPEC',
        message: `Cannot write stdoutPath ${join(secret, name)}: Permission denied`,
      })
    const missing = { reason: 'BAD_SPEC', message: 'launcher: mpirun is not in the PATH of the job' }
    for (const path of [secret, join(secret, 'none')])
      expect(
        await refusal({ workdir: '/', launcher: 'mpirun', environment: [{ name: 'PATH', value: `/none:${path}` }] }),
      ).toEqual(missing)
  })

  it('is not entered if it was replaced after the check', async () => {
    const workdir = join(folder, 'own')
    await mkdir(workdir)
    await chown(workdir, 65_534, 65_534)
    const go = join(folder, 'go')
    const command = ['/bin/sh', '-c', 'until [ -e "$0" ]; do sleep 0.02; done; pwd; cat ../secret/mpirun', go]
    const handle = await start({ workdir, command })
    await writeFile(go, '')
    const { out, err } = await read(local.executor, handle)
    expect(out).toBe(`${workdir}\n`)
    expect(err).toContain('Permission denied')
    expect(await untilEnded(local.executor, handle)).not.toMatchObject({ exitCode: 0 })
  })

  it('can be used by its own account', async () => {
    await chown(secret, 65_534, 65_534)
    await chown(join(secret, 'mpirun'), 65_534, 65_534)
    const command = ['/bin/sh', '-c', 'pwd; id -u']
    const handle = await start({ workdir: secret, command, stdoutPath: 'out' })
    expect((await read(local.executor, handle)).out).toBe(`${secret}\n65534\n`)
    expect(existsSync(join(secret, 'out'))).toBe(true)
    const environment = [{ name: 'PATH', value: `${secret}:/usr/bin:/bin` }]
    const ranks = await start({ workdir: secret, command: ['true'], launcher: 'mpirun', environment })
    expect(await untilEnded(local.executor, ranks)).toMatchObject({ exitCode: 0 })
  })
})

it.skipIf(isRoot)('a directory that the account of the server may not enter is rejected as missing', async () => {
  const folder = makeDirectory()
  await chmod(folder, 0o600)
  const run = makeRun({ command: ['true'], workdir: folder })
  await expect(local.executor.start(run)).rejects.toMatchObject({ reason: 'WORKDIR_NOT_FOUND' })
  expect(await observe(local.executor, run.runId)).toEqual({ state: 'gone' })
})
