import { describe, expect, it } from 'vitest'
import {
  type Inspected,
  isUnstarted,
  observeContainer,
  parsePhase,
} from '../../../src/executors/container/observation.ts'

/** The state of a container, from the response of the engine. */
describe('the state of a container', () => {
  const inspected = (state: Partial<Inspected['State']>): Inspected => ({
    Id: 'abc',
    Created: '2026-01-01T00:00:00Z',
    State: {
      Status: 'exited',
      Pid: 0,
      ExitCode: 0,
      OOMKilled: false,
      Error: '',
      StartedAt: '2026-01-01T00:00:01Z',
      FinishedAt: '2026-01-01T00:00:02Z',
      ...state,
    },
    Config: { Labels: null },
    NetworkSettings: { Networks: { berth: { IPAddress: '172.18.0.2' } } },
  })
  const seen = (state: Partial<Inspected['State']>, stopped = false) =>
    observeContainer(inspected(state), { stopped, toTime: (ms) => new Date(ms + 1_000), startedAt: null })

  it('is derived from the state that the engine reports', () => {
    expect(seen({ Status: 'created', StartedAt: '0001-01-01T00:00:00Z' })).toEqual({ state: 'starting' })
    expect(seen({ Status: 'running' })).toMatchObject({ state: 'running', nativeId: 'abc', ip: '172.18.0.2' })
    expect(seen({ Status: 'paused' }).state).toBe('running')
    expect(seen({ ExitCode: 3 })).toMatchObject({ state: 'ended', exitCode: 3, signal: null, stopped: false })
    expect(seen({ ExitCode: 143 }, true)).toMatchObject({ exitCode: 143, signal: 15, stopped: true })
    expect(seen({ ExitCode: 137, OOMKilled: true })).toMatchObject({ cause: 'OOM_KILLED' })
    expect(seen({ Status: 'created', ExitCode: 127, Error: 'exec: not found' })).toMatchObject({
      state: 'ended',
      exitCode: 127,
      info: 'exec: not found',
    })
  })

  it('has an end that is not before its start, even if the end was read from another clock', () => {
    const startedAt = new Date('2026-01-01T00:00:02.004Z')
    const known = { stopped: false, toTime: (ms: number) => new Date(ms), startedAt }
    expect(observeContainer(inspected({ ExitCode: 0 }), known)).toMatchObject({ startedAt, finishedAt: startedAt })
  })

  it('has the reason MAX_RUN_TIME even if the engine recorded the start late', () => {
    const ended = inspected({ ExitCode: 143, StartedAt: '2026-01-01T00:00:03Z', FinishedAt: '2026-01-01T00:00:13Z' })
    const limited = { ...ended, Config: { Labels: { 'berth.limit': '13' } } }
    const known = { stopped: false, toTime: (ms: number) => new Date(ms), startedAt: null }
    expect(observeContainer(limited, known)).toMatchObject({ cause: 'MAX_RUN_TIME' })
    expect(observeContainer(ended, known)).not.toHaveProperty('cause')
  })

  it('has the digest of the image while the container runs and after its end', () => {
    const Config = { Labels: { 'berth.image-digest': 'sha256:1' } }
    const known = { stopped: false, toTime: (ms: number) => new Date(ms), startedAt: null }
    for (const state of [{ Status: 'running' }, { ExitCode: 0 }])
      expect(observeContainer({ ...inspected(state), Config }, known)).toMatchObject({ imageDigest: 'sha256:1' })
    expect(seen({ Status: 'running' })).not.toHaveProperty('imageDigest')
  })

  it('has times of the database', () => {
    expect(seen({})).toMatchObject({
      startedAt: new Date('2026-01-01T00:00:02Z'),
      finishedAt: new Date('2026-01-01T00:00:03Z'),
    })
  })

  it('is unstarted if the engine could not start the container', () => {
    const failed = { Status: 'created', Error: 'could not select device driver "" with capabilities: [[gpu]]' }
    expect(isUnstarted(inspected({ ...failed, ExitCode: 128 }))).toBe(true)
    expect(isUnstarted(inspected({ ...failed, ExitCode: 127 }))).toBe(false)
  })

  it('is gone if the container is removed while it runs', () => {
    const removed = { Status: 'removing', ExitCode: 137 }
    expect(seen(removed)).toMatchObject({ state: 'gone' })
    expect(seen(removed, true)).toMatchObject({ state: 'ended', stopped: true })
    expect(seen({ ...removed, OOMKilled: true })).toMatchObject({ state: 'ended', cause: 'OOM_KILLED' })
    expect(seen({ ...removed, ExitCode: 3 })).toMatchObject({ state: 'ended', exitCode: 3 })
    expect(seen({ ...removed, Status: 'exited' })).toMatchObject({ state: 'ended', exitCode: 137 })
  })

  it.each([
    ['Podman 4', 'created'],
    ['Podman 5', 'exited'],
  ])('is gone if the machine of %s was restarted', (_, status) => {
    const cut = { Status: status, FinishedAt: '0001-01-01T00:00:00Z' }
    expect(seen(cut)).toMatchObject({ state: 'gone', info: expect.stringContaining('was stopped') })
    expect(isUnstarted(inspected(cut))).toBe(false)
  })

  it('is an error if the engine reports an unknown state', () => {
    expect(() => parsePhase('melted')).toThrow('The container engine has an unknown state: melted')
  })
})
