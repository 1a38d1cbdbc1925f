import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Observation } from '../../../src/executors/executor.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { until } from '../../support/until.ts'
import { makeRun, observe, read, untilEnded, untilState } from '../runs.ts'
import {
  conf,
  onMain,
  openSlurm,
  runSlurmCommand,
  sh,
  small,
  storedJobs,
  tasks,
  useSlurm,
  withoutController,
} from './cluster.ts'

const isEnded = (observation: Observation) => observation.state === 'ended' && observation

/** Failures of a real cluster: lost responses, folders, nodes and records. */
describe.skipIf(conf === undefined)(`with ${conf}, a job of Slurm`, () => {
  const own = useSlurm()

  it('is found if the response to its submission was lost', async () => {
    const marks = join(own.directory, 'lost')
    const losing = await own.openWith({
      sbatch: `/usr/bin/sbatch "$@" >/dev/null; echo 'Unable to contact slurm controller' >&2; exit 1`,
    })
    const handle = await own.start(sh(`echo x >>${marks}; echo done`), {}, losing)
    expect((await read(losing, handle)).out).toBe('done\n')
    expect(await readFile(marks, 'utf8')).toBe('x\n')
    await losing.close()
  })

  it('waits while the shared folder is full, and leaves no files there', async (test) => {
    await using disk = (await mountSmallDisk(1)) ?? test.skip()
    await mkdir(join(disk.path, 'shared'))
    const full = await openSlurm(disk.path)
    await disk.fill()
    const run = makeRun(
      { resources: small, command: ['true'], environment: [{ name: 'A', value: 'a'.repeat(9000) }] },
      onMain,
    )
    await expect(full.start(run)).rejects.toMatchObject({
      reason: 'NODE_TROUBLE',
      message: expect.stringContaining('ENOSPC'),
    })
    // The name of the cluster may have been recorded before the disk was full.
    const left = await readdir(join(disk.path, 'shared', 'cluster', 'server'))
    expect(left.filter((name) => name !== 'cluster')).toEqual([])
    await disk.free()
    expect(await untilEnded(full, await full.start(run))).toMatchObject({ exitCode: 0 })
    await full.close()
  })

  it('waits while the shared folder is read-only, and is submitted afterwards', async (test) => {
    await using disk = (await mountSmallDisk(1)) ?? test.skip()
    await mkdir(join(disk.path, 'shared'))
    const server = await openSlurm(disk.path)
    const remount = (mode: string) => promisify(execFile)('mount', ['-o', `remount,${mode}`, disk.path])
    await remount('ro')
    const run = makeRun({ resources: small, command: ['true'] }, onMain)
    await expect(server.start(run)).rejects.toMatchObject({
      reason: 'NODE_TROUBLE',
      message: expect.stringContaining(`${disk.path}/shared is read-only on this machine: mount it`),
    })
    await remount('rw')
    expect(await untilEnded(server, await server.start(run))).toMatchObject({ exitCode: 0 })
    await server.close()
  })

  it.each(['DRAIN', 'INACTIVE', 'DOWN'])(
    'waits while its partition is %s, and runs when the partition is up again',
    async (state) => {
      const [told, onShort]: [string[], object] = [[], { queueNative: { partition: 'short' } }]
      const change = (to: string) => runSlurmCommand('scontrol', 'update', 'PartitionName=short', `State=${to}`)
      await change(state)
      const starting = own.executor.start(
        makeRun({ resources: small, command: ['true'] }, onShort),
        undefined,
        told.push.bind(told),
      )
      try {
        const isTold = async () => {
          if (told.some((info) => info.includes('in its partition short: ') && info.includes('not available')))
            return true
          const handle = await Promise.race([starting, null])
          const observation = handle === null ? null : await observe(own.executor, handle)
          return observation?.state === 'starting' && observation.info === 'Slurm: PartitionDown'
        }
        await until(isTold, { what: 'the reason is reported' })
      } finally {
        await change('UP')
      }
      expect(await untilEnded(own.executor, await starting)).toMatchObject({ exitCode: 0 })
    },
    120_000,
  )

  it.each([
    ['killed', () => ['scancel', '--full', '--signal=KILL']],
    ['cancelled although it ignores TERM', () => ['scancel']],
  ])('that is %s in Slurm and left no record has the end time of Slurm', async (_, command) => {
    const handle = await own.up(sh("trap '' TERM; echo up; while :; do sleep 1; done"))
    const running = await observe(own.executor, handle)
    const killedMs = Date.now()
    const [file = '', ...args] = command()
    await runSlurmCommand(file, ...args, running.state === 'running' ? (running.nativeId ?? '') : '')
    const ended = async () => {
      const observation = await observe(own.executor, handle)
      return observation.state === 'ended' && observation
    }
    // The executor waits 15 s for the record of the end.
    const { finishedAt } = await until(ended, { what: 'it is over' })
    const lateMs = (finishedAt?.getTime() ?? 0) - killedMs
    // Times of Slurm are whole seconds; KILL comes 2 s after TERM.
    expect(lateMs).toBeGreaterThan(-1_500)
    expect(lateMs).toBeLessThan(30_000)
  })

  it('that was submitted twice runs once', async () => {
    const marks = join(own.directory, 'twice')
    const twice = await own.openWith({
      sbatch: 'cat >$$.tmp; /usr/bin/sbatch "$@" <$$.tmp; exec /usr/bin/sbatch "$@" <$$.tmp'.replaceAll(
        '$$.tmp',
        `${own.directory}/input`,
      ),
    })
    const handle = await own.start(sh(`echo x >>${marks}; sleep 1; echo done`), {}, twice)
    expect((await read(twice, handle)).out).toBe('done\n')
    expect(await untilEnded(twice, handle)).toMatchObject({ exitCode: 0 })
    expect(await readFile(marks, 'utf8')).toBe('x\n')
    await twice.close()
  })

  it('keeps running while Slurm is unreachable, and is over when Slurm confirms that', async () => {
    const silent = await own.openWith({
      squeue: `echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1`,
    })
    const seen = join(own.directory, 'seen')
    const handle = await own.start(sh(`echo up; until [ -e ${seen} ]; do sleep 0.1; done; exit 5`), {}, silent)
    await read(silent, handle, { enough: ({ out }) => out === 'up\n' })
    expect((await observe(silent, handle)).state).toBe('running')
    await writeFile(seen, '')
    const exit = join(own.directory, 'shared', 'cluster', 'runs', handle, 'exit')
    await until(() => lstat(exit).catch(() => null), { what: 'its end is recorded' })
    expect((await observe(silent, handle)).state).toBe('running')
    await silent.close()
    await read(own.executor, handle)
    expect(await untilEnded(own.executor, handle)).toMatchObject({ exitCode: 5 })
  })

  it('runs while the controller is down, and ends, or begins once, when the controller is back', async () => {
    const [seen, marks] = [join(own.directory, 'controller'), join(own.directory, 'began')]
    const handle = await own.up(sh(`echo up; until [ -e ${seen} ]; do sleep 0.1; done; exit 5`))
    let starting: Promise<string> | null = null
    await withoutController(async () => {
      starting = own.start(sh(`echo x >>${marks}`))
      expect(await observe(own.executor, handle)).toMatchObject({ state: 'running' })
      await writeFile(seen, '')
    })
    expect(await untilEnded(own.executor, handle, 60_000)).toMatchObject({ exitCode: 5 })
    expect(await untilEnded(own.executor, (await starting) ?? '')).toMatchObject({ exitCode: 0 })
    expect(await readFile(marks, 'utf8')).toBe('x\n')
  })

  it('ends at the time limit of Slurm, in whole minutes, if no server ends it', async () => {
    const patient = await openSlurm(own.directory, { deadlineSlackSeconds: 0 })
    const handle = await own.start(sh('sleep 600', { maxRunTimeSeconds: 1 }), {}, patient)
    const end = await until(async () => isEnded(await observe(patient, handle)), {
      what: 'it is over',
      timeoutMs: 200_000,
    })
    expect(end).toMatchObject({ cause: 'MAX_RUN_TIME', stopped: false })
    await patient.close()
  }, 240_000)

  it('is preempted if Slurm gives its node to a job of a higher partition', async () => {
    const resources = tasks({ exclusiveNodeUse: true })
    const customAttributes = { 'slurm.nodelist': 'n1' }
    const low = await own.up(sh('echo up; sleep 60', { resources, customAttributes }))
    const high = await own.start(sh('true', { resources, customAttributes }), { queueNative: { partition: 'urgent' } })
    expect(await untilState(own.executor, low, 'gone')).toMatchObject({ cause: 'PREEMPTED' })
    expect(await untilEnded(own.executor, high)).toMatchObject({ exitCode: 0 })
  })

  it('keeps its end after Slurm has forgotten the job', async () => {
    const { handle } = await own.finish(sh('exit 6'))
    const forgetful = await own.openWith({ squeue: 'exit 0' })
    expect(await observe(forgetful, handle)).toMatchObject({ state: 'ended', exitCode: 6 })
    await forgetful.close()
  })

  it('is killed after its grace period if an operator suspended it', async () => {
    const handle = await own.up(sh('echo up; sleep 600'))
    const running = await observe(own.executor, handle)
    await runSlurmCommand('scontrol', 'suspend', running.state === 'running' ? (running.nativeId ?? '') : '')
    await expect(own.executor.stop(handle, 2_000)).rejects.toThrow('suspended')
    expect(await untilEnded(own.executor, handle, 60_000)).toMatchObject({ exitCode: 137, stopped: true })
  })

  it('is gone if an operator requeues it, even if the Slurm job runs again', async () => {
    const handle = await own.up(sh("trap '' TERM; echo up; while :; do sleep 1; done"))
    const running = await observe(own.executor, handle)
    const id = running.state === 'running' ? (running.nativeId ?? '') : ''
    await runSlurmCommand('scontrol', 'update', `JobId=${id}`, 'Requeue=1')
    await runSlurmCommand('scontrol', 'requeuehold', id)
    const gone = async () => {
      const observation = await observe(own.executor, handle)
      return observation.state !== 'running' && observation
    }
    const ended = await until(gone, { what: 'it is over' })
    expect(ended).toMatchObject({ state: 'gone', cause: 'PREEMPTED' })
    await own.executor.forget?.(handle)
  })

  it.each([
    ['its end', `ln -s '0 - - -' exit`],
    ['a failed start', `ln -s 'failed START_FAILED no' exit`],
    ['another job in its claim', `ln -sfn 'job 999999 n1' claim; ln -s '0 - - -' exit`],
    ['that it was given up', `ln -sfn void claim`],
  ])('that forges a record of %s and keeps running is over only when Slurm has ended it', async (_, forge) => {
    const runs = join(own.directory, 'shared', 'cluster', 'runs')
    const handle = await own.up(sh(`cd ${runs}/$BERTH_RUN_ID; ${forge}; echo up; sleep 600`))
    const runsInSlurm = async () =>
      (await runSlurmCommand('squeue', '--noheader', '--states=R', '--format=%k')).stdout.includes(handle)
    expect((await observe(own.executor, handle)).state).toBe('running')
    const isOver = async () => {
      const before = await runsInSlurm()
      const { state } = await observe(own.executor, handle)
      if (state !== 'running') expect(before).toBe(false)
      return state !== 'running'
    }
    await until(isOver, { what: 'it is over' })
  })

  it('that forges the record of its end is killed by a stop', async () => {
    const forge = `ln -sfn 'job 999999 n1' claim; ln -s '0 - - -' exit; trap '' TERM; echo up; while :; do sleep 1; done`
    const handle = await own.up(sh(`cd ${own.directory}/shared/cluster/runs/$BERTH_RUN_ID; ${forge}`))
    await own.executor.stop(handle, 300)
    expect(await untilEnded(own.executor, handle, 60_000)).toMatchObject({ stopped: true })
    expect((await runSlurmCommand('squeue', '--noheader', '--states=R', '--format=%k')).stdout).not.toContain(handle)
  })

  it('that forges another exit code has the exit code that Slurm reports', async () => {
    const runs = join(own.directory, 'shared', 'cluster', 'runs')
    expect(await own.finish(sh(`ln -s '0 - - -' ${runs}/$BERTH_RUN_ID/exit; exit 3`))).toMatchObject({ exitCode: 3 })
  })

  it.each([
    ['waits', false],
    ['begins again', true],
  ])(
    'whose begin a crashed controller has lost is gone when its Slurm job %s',
    async (_, isReleased) => {
      const marks = join(own.directory, `forgotten-${isReleased}`)
      const text = `echo x >>${marks}; echo up; sleep 600`
      const handle = await own.start(sh(text), { queueNative: { ...onMain.queueNative, begin: 'now+1hour' } })
      const stored = async () => {
        const jobs = await readFile(storedJobs())
        return jobs.includes(handle) && jobs
      }
      const waiting = await until(stored, { what: 'the controller has stored the job', timeoutMs: 60_000 })
      const release = (id: string) => runSlurmCommand('scontrol', 'update', `JobId=${id}`, 'StartTime=now')
      const { nativeId = '' } = (await observe(own.executor, handle)) as { nativeId?: string }
      await release(nativeId)
      await read(own.executor, handle, { enough: ({ out }) => out === 'up\n' })
      await withoutController(() => writeFile(storedJobs(), waiting), 'SIGKILL')
      const queued = () => runSlurmCommand('squeue', '--noheader', '--states=all', `--jobs=${nativeId}`, '--format=%T')
      await until(async () => (await queued().catch(() => ({ stdout: '' }))).stdout.startsWith('PENDING'), {
        what: 'the job waits again',
      })
      if (isReleased) await release(nativeId)
      const isOver = async () => !/PENDING|RUNNING|COMPLETING/.test((await queued()).stdout)
      if (isReleased) await until(isOver, { what: 'its second start is over', timeoutMs: 60_000 })
      expect(await untilState(own.executor, handle, 'gone', 60_000)).toMatchObject({ cause: 'PREEMPTED' })
      expect(await readFile(marks, 'utf8')).toBe('x\n')
      await own.executor.forget?.(handle)
      // Slurm drains a node that refused a second start.
      await runSlurmCommand('scontrol', 'update', 'NodeName=n1,n2', 'State=RESUME').catch(() => null)
    },
    200_000,
  )

  it('is not signalled through a job id that now belongs to another job', async () => {
    const called = join(own.directory, 'called')
    const handle = await own.up(sh('echo up; sleep 60'))
    const other = await own.openWith({ squeue: 'exit 0', scancel: `echo "$@" >>${called}` })
    await other.stop(handle, 60_000)
    await other.close()
    expect(existsSync(called)).toBe(false)
    await own.executor.stop(handle, 0)
    expect(await untilEnded(own.executor, handle)).toMatchObject({ exitCode: 137, stopped: true })
  })

  it('is gone after its node was lost, and stays gone', async () => {
    const handle = await own.up(sh('echo up; sleep 60', { customAttributes: { 'slurm.nodelist': 'n2' } }))
    const scontrol = (state: string) =>
      runSlurmCommand('scontrol', 'update', 'nodename=n2', `state=${state}`, 'reason=test')
    const downMs = Date.now()
    await scontrol('down')
    try {
      const gone = await untilState(own.executor, handle, 'gone')
      expect(gone).toMatchObject({ info: expect.stringContaining('n2'), finishedAt: expect.any(Date) })
      const { finishedAt } = gone as { finishedAt?: Date }
      expect(Math.abs((finishedAt?.getTime() ?? 0) - downMs)).toBeLessThan(3_000)
    } finally {
      // Slurm rejects this if the node has returned by itself.
      await scontrol('resume').catch(() => null)
    }
  })
})
